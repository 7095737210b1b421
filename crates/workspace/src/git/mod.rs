//! Snapshots of the work tree, their differences, commits with the user's hooks, and undoing a
//! task's changes.
//!
//! The git program does the work, with arguments and never through a shell. Operations that only
//! read or write a file of a known format are done directly, and left to git in unusual cases.

mod attempt_name;
mod branch;
mod commit;
mod commit_record;
mod commit_request;
mod compare;
mod contents;
mod index_file;
mod invocation;
mod locks;
mod loose_object;
mod memory;
mod own_index;
mod own_settings;
mod plain_runner;
mod raw_diff;
mod reference_files;
mod references;
mod remote;
mod repository;
mod restore;
mod runner;
mod scratch_index;
mod settings;
mod snapshots;
mod staged_versions;
mod staging;
mod status;
mod tree_builder;
mod undo;
mod undo_plan;

pub use attempt_name::{AttemptName, SnapshotSide};
pub use branch::{GuardedHead, HeadPosition, MovedHead};
pub use commit::{CommitError, CommitOutcome, CommitReport, NewCommit};
pub use commit_request::{CommitRequest, SkipReason, SkippedPath};
pub use compare::{Diff, LineCount};
pub use plain_runner::PlainRunner;
pub use references::{LostReference, References};
pub use remote::{MergeOutcome, Push, PushOutcome};
pub use repository::{Git, Identity, Oid, linked_work_tree};
pub use runner::{GitCall, GitError, GitReply, GitRunner};
pub use snapshots::{Snapshot, SnapshotError, SnapshotLimits, Snapshots, StoredSnapshot};
pub use staged_versions::StagedVersions;
pub use staging::{OmissionReason, SnapshotWarning};
pub use status::{InProgress, PathStatus, path_status};
pub use undo::{AttemptSpan, UndoError, UndoOutcome};
pub use undo_plan::{ConflictReason, TaskChange, UndoConflict};
