//! The user's tree: how regreen reads and writes files that other people save as well, and
//! what it needs of git.
//!
//! Every operation that could lose a file of the user's goes through [`Disk`], so that a test
//! can let any single one of them fail, or let the process end there.

mod change;
mod files;
mod gate;
mod git;
mod hashes;
mod programs;
mod rel_path;
mod root;
mod spec;
mod survey;

pub use change::{Change, ChangeKind};
pub use files::{
    AsideError, CreateFileError, Disk, EditFileError, Edited, FileId, FileKind, FileStat, FileText,
    FolderLock, LeftoverError, LockError, MAX_REFUSALS, NewFileAccess, ReadError, RealDisk,
    Recovered, StepError, WhyInPlace, Written, create_dir_all, create_file, edit_file, move_aside,
    read_text, recover_leftovers,
};
#[cfg(any(test, feature = "faults"))]
pub use files::{Call, FaultyDisk, Operation, Verdict};
pub use gate::propose_gate;
pub use git::{
    AttemptName, AttemptSpan, CommitError, CommitOutcome, CommitRequest, Committed, Diff, Git,
    GitCall, GitError, GitReply, GitRunner, Identity, InProgress, KeptSnapshot, LeftAlone,
    LineCount, NewCommit, NotExact, Oid, PlainRunner, Side, Snapshot, SnapshotError,
    SnapshotLimits, SnapshotWarning, Snapshots, Standing, TaskChange, UndoConflict, UndoError,
    Undone, WhyKept, WhyLeft, standing,
};
pub use hashes::{ContentNotKept, HashLimits, HashSnapshot};
pub use programs::Programs;
pub use rel_path::{NoRelPath, RelPath};
pub use root::workspace_root;
pub use spec::{Spec, SpecError, current_spec_folder, find_spec, specs};
pub use survey::survey;
