use crate::RelPath;

/// One path that differs between two snapshots.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    pub path: RelPath,
    pub kind: ChangeKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    Added,
    /// Its content, or whether it may be executed.
    Modified,
    Deleted,
    /// A file became a link or a repository of its own, or the other way round.
    TypeChanged,
}
