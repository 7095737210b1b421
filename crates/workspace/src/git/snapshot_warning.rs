use std::fmt;

use crate::RelPath;

/// A path of which the snapshot does not hold what stands in the work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotWarning {
    pub path: RelPath,
    pub why: NotExact,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotExact {
    /// It may not be read; the snapshot holds what git last knew of it.
    Unreadable,
    /// It is longer than the limit for one file; likewise.
    TooLarge { bytes: u64 },
    /// A repository without a commit has nothing that could be recorded.
    RepositoryWithoutCommit,
    /// Git would not take it in, whatever was tried.
    Refused,
}

impl fmt::Display for SnapshotWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.path)?;
        match self.why {
            NotExact::Unreadable => write!(f, "cannot be read and is not in the snapshot"),
            NotExact::TooLarge { bytes } => {
                write!(f, "is too large for the snapshot ({bytes} bytes)")
            }
            NotExact::RepositoryWithoutCommit => write!(
                f,
                "is a repository without a commit and is not in the snapshot"
            ),
            NotExact::Refused => write!(f, "was refused by git and is not in the snapshot"),
        }
    }
}
