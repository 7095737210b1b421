//! The user's tree: how regreen reads and writes files that other people save as well.
//!
//! Every file operation goes through [`Disk`], so that a test can let any single one of
//! them fail, or let the process end there.

mod files;
mod gate;
mod programs;
mod root;
mod spec;

pub use files::{
    AsideError, CreateFileError, Disk, EditFileError, Edited, FileId, FileKind, FileStat, FileText,
    FolderLock, LeftoverError, LockError, MAX_REFUSALS, NewFileAccess, ReadError, RealDisk,
    Recovered, StepError, WhyInPlace, Written, create_dir_all, create_file, edit_file, move_aside,
    read_text, recover_leftovers,
};
#[cfg(any(test, feature = "faults"))]
pub use files::{Call, FaultyDisk, Operation, Verdict};
pub use gate::propose_gate;
pub use programs::Programs;
pub use root::workspace_root;
pub use spec::{Spec, SpecError, find_spec, specs};
