//! The user's tree: reads and writes files that others save as well, and runs git.
//!
//! Every operation that could lose a user's file goes through [`Disk`], so that tests can make
//! any one of them fail, or end the process there.
//!
//! ```
//! use regreen_workspace::RelPath;
//!
//! let path = RelPath::new("src/main.rs")?;
//! assert!(path.is_within("src"));
//! assert!(RelPath::new("../outside").is_err());
//! # Ok::<(), regreen_workspace::RelPathError>(())
//! ```

mod files;
mod git;
mod hash_snapshot;
mod misspelling;
mod programs;
mod project_files;
mod rel_path;
mod spec;
mod surroundings;
mod survey;
mod walk;

#[cfg(any(test, feature = "faults"))]
pub use files::{Call, CallOutcome, FaultyDisk, Operation};
pub use files::{
    CreateFileError, Digest, Disk, EditFileError, EditReport, FileId, FileKind, FileStat, FileText,
    FolderLock, InPlaceReason, LeftoverError, LockError, MAX_FILE, MAX_REFUSALS, MoveAsideError,
    NewFileAccess, NotAFile, ReadError, RealDisk, RecoveredLeftover, StepError, WriteMethod,
    create_dir_all, create_file, edit_file, move_aside, open_file, read_file, read_tail, read_text,
    read_text_file, recover_leftovers,
};
pub use git::{
    AttemptName, AttemptSpan, CommitError, CommitOutcome, CommitReport, CommitRequest,
    ConflictReason, Diff, Git, GitCall, GitError, GitReply, GitRunner, GuardedHead, HeadPosition,
    Identity, InProgress, LineCount, LostReference, MergeOutcome, MovedHead, NewCommit, Oid,
    OmissionReason, PathStatus, PlainRunner, Push, PushOutcome, References, SkipReason,
    SkippedPath, Snapshot, SnapshotError, SnapshotLimits, SnapshotSide, SnapshotWarning, Snapshots,
    StagedVersions, StoredSnapshot, TaskChange, UndoConflict, UndoError, UndoOutcome,
    linked_work_tree, path_status,
};
pub use hash_snapshot::{ContentNotKept, HashLimits, HashSnapshot};
pub use misspelling::intended_input;
pub use programs::Programs;
pub use project_files::propose_gate;
pub use rel_path::{Change, ChangeKind, RelPath, RelPathError};
pub use spec::{
    Spec, SpecError, current_spec_file, current_spec_folder, find_spec, specs, specs_folders,
    workspace_root,
};
pub use surroundings::{observe_surroundings, stamp_of_surroundings};
pub use survey::{survey, survey_names};
