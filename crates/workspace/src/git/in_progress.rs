use std::fmt;
use std::path::Path;

/// Something of the user's that git is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InProgress {
    Merge,
    CherryPick,
    Revert,
    Rebase,
    ApplyingPatches,
}

/// What git leaves in its folder meanwhile. Patches come before the rebase that may be
/// applying them.
const SIGNS: [(&str, InProgress); 6] = [
    ("MERGE_HEAD", InProgress::Merge),
    ("CHERRY_PICK_HEAD", InProgress::CherryPick),
    ("REVERT_HEAD", InProgress::Revert),
    ("rebase-apply/applying", InProgress::ApplyingPatches),
    ("rebase-apply", InProgress::Rebase),
    ("rebase-merge", InProgress::Rebase),
];

impl InProgress {
    pub(super) fn look(git_dir: &Path) -> Option<Self> {
        let mut seen = SIGNS
            .iter()
            .filter(|(sign, _)| git_dir.join(sign).symlink_metadata().is_ok());
        seen.next().map(|(_, what)| *what)
    }
}

impl fmt::Display for InProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Merge => "merge",
            Self::CherryPick => "cherry-pick",
            Self::Revert => "revert",
            Self::Rebase => "rebase",
            Self::ApplyingPatches => "git am",
        })
    }
}
