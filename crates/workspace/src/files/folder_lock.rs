use std::fs::File;
use std::io;
use std::path::PathBuf;

use super::disk::Disk;
use super::step::StepError;
use super::target::Target;

/// The turn of one writer among all regreen processes that write in a folder.
///
/// The lock lies on the folder itself, so it leaves no file behind and ends with the
/// process. Editors do not know it and need not: it only keeps two regreens from
/// exchanging the same file at once, and proves that a temporary file found while it is
/// held belongs to nobody alive.
#[derive(Debug)]
#[must_use = "the turn ends when the lock is dropped"]
pub struct FolderLock {
    held: Option<File>,
}

impl FolderLock {
    pub(crate) fn held(folder: File) -> FolderLock {
        FolderLock { held: Some(folder) }
    }

    /// For file systems that cannot lock a folder.
    pub(crate) fn unsupported() -> FolderLock {
        FolderLock { held: None }
    }

    /// Without the proof, leftovers of other processes must be left alone.
    pub fn is_exclusive(&self) -> bool {
        self.held.is_some()
    }
}

/// Why it is not this process's turn.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("another regreen is writing in {}", folder.display())]
    Busy { folder: PathBuf },
    #[error(transparent)]
    Step(#[from] StepError),
}

pub(crate) fn lock(disk: &dyn Disk, target: &Target) -> Result<FolderLock, LockError> {
    disk.lock_folder(&target.folder)
        .map_err(|source| match source.kind() {
            io::ErrorKind::WouldBlock => LockError::Busy {
                folder: target.folder.clone(),
            },
            _ => LockError::Step(StepError {
                doing: "lock",
                path: target.folder.clone(),
                source,
            }),
        })
}
