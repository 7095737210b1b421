//! The files people and regreen share: `tasks.md`, `.ralph-state.json`, `.progress.md`.
//!
//! Each is read without failing, changed by the smallest edit that says what is meant, and
//! given back with every other byte as it was. Text in, text out: files are touched in
//! `workspace`.

mod markdown;
mod plan_review;
mod progress;
mod state;
mod tasks;

pub use plan_review::{Claim, PlanReview, TakenBack, Tampering, review};
pub use progress::{FixHistory, Outcome, Progress};
pub use state::{FixRecord, ModificationLineage, NotState, State, StateWarning, TaskResult};
pub use tasks::{
    Change, EditError, Next, Pick, Place, RowId, TaskFile, commit_message, shell_steps,
    verify_commands,
};
