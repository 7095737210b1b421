//! The files people and regreen share: `tasks.md`, `.ralph-state.json`, `.progress.md`.
//!
//! Each is read without failing, changed by the smallest edit that does what is meant, and
//! keeps every other byte. Text in, text out: files are touched in
//! `workspace`.

mod markdown;
mod plan_review;
mod progress;
mod state;
mod tasks;

pub use plan_review::{Claim, PlanReview, RevertedEdit, Tampering, review};
pub use progress::{FixHistory, HealingOutcome, ProgressFile};
pub use state::{
    FixRecord, InvalidState, ModificationLineage, StateDocument, StateWarning, TaskResult,
};
pub use tasks::{
    Change, EditError, InsertPosition, Next, Pick, RowId, TaskFile, commit_message, shell_steps,
    verify_commands,
};
