//! Files that regreen shares with people, editors and agents: read as they are, written
//! durably, without ever losing what somebody else saved.

mod create_dir;
mod create_file;
mod digest;
mod disk;
mod draft;
mod edit_file;
mod exchange;
#[cfg(any(test, feature = "faults"))]
mod faulty_disk;
mod file_text;
mod folder_lock;
mod free_name;
mod in_place;
mod leftovers;
mod move_aside;
mod real_disk;
mod sighting;
mod step;
mod sync_names;
mod target;
mod temp_name;

pub use create_dir::create_dir_all;
pub use create_file::{CreateFileError, create_file};
pub use disk::{Disk, FileId, FileKind, FileStat, NewFileAccess};
pub use edit_file::{EditFileError, Edited, MAX_REFUSALS, Written, edit_file};
#[cfg(any(test, feature = "faults"))]
pub use faulty_disk::{Call, FaultyDisk, Operation, Verdict};
pub use file_text::{FileText, ReadError, read_text};
pub use folder_lock::{FolderLock, LockError};
pub use in_place::WhyInPlace;
pub use leftovers::{LeftoverError, Recovered, recover_leftovers};
pub use move_aside::{AsideError, move_aside};
pub use real_disk::RealDisk;
pub(crate) use step::Doing;
pub use step::StepError;
