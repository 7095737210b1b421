//! Files that regreen shares with users, editors and agents: read as they are, and written durably
//! without losing anyone else's save.

mod bounded;
mod create;
mod disk;
mod edit;
mod exchange;
#[cfg(any(test, feature = "faults"))]
mod faulty_disk;
mod leftovers;
mod real_disk;
mod rename;
mod target;
mod temp_file;

pub use bounded::{MAX_FILE, NotAFile, open_file, read_file, read_tail, read_text_file};
pub use create::{CreateFileError, create_dir_all, create_file};
pub(crate) use disk::IoContext;
pub use disk::{Disk, FileId, FileKind, FileStat, FolderLock, NewFileAccess, StepError};
pub use edit::{EditFileError, EditReport, InPlaceReason, MAX_REFUSALS, WriteMethod, edit_file};
#[cfg(any(test, feature = "faults"))]
pub use faulty_disk::{Call, CallOutcome, FaultyDisk, Operation};
pub use leftovers::{LeftoverError, RecoveredLeftover, recover_leftovers};
pub use real_disk::RealDisk;
pub use rename::{MoveAsideError, move_aside};
pub use target::{FileText, LockError, ReadError, read_text};
pub use temp_file::Digest;
