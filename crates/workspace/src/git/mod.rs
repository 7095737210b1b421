//! What regreen needs of git: snapshots of the work tree, what changed between them, commits
//! with the user's hooks, and taking a task's changes back.
//!
//! Everything is done by the git program, called with arguments and never through a shell.

mod attempt_name;
mod commit;
mod commit_index;
mod commit_message;
mod commit_record;
mod commit_request;
mod compare;
mod dirty;
mod filters;
mod git_error;
mod in_progress;
mod index_scan;
mod init;
mod invocation;
mod listed;
mod oid;
mod own_index;
mod plain_runner;
mod raw_diff;
mod repository;
mod restore;
mod runner;
mod scratch_index;
mod snapshot_warning;
mod snapshots;
mod staging;
mod standing;
mod undo;
mod undo_plan;

pub use attempt_name::{AttemptName, Side};
pub use commit::{CommitError, CommitOutcome, Committed, NewCommit};
pub use commit_request::{CommitRequest, LeftAlone, WhyLeft};
pub use compare::{Diff, LineCount};
pub use git_error::GitError;
pub use in_progress::InProgress;
pub use init::Identity;
pub use oid::Oid;
pub use plain_runner::PlainRunner;
pub use repository::Git;
pub use runner::{GitCall, GitReply, GitRunner};
pub use snapshot_warning::{NotExact, SnapshotWarning};
pub use snapshots::{KeptSnapshot, Snapshot, SnapshotError, SnapshotLimits, Snapshots};
pub use standing::{Standing, standing};
pub use undo::{AttemptSpan, UndoError, Undone};
pub use undo_plan::{TaskChange, UndoConflict, WhyKept};
