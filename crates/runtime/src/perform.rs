//! The commands that take more than a line.

mod ask;
mod attempt;
mod attempt_files;
mod completion;
mod fix_tasks;
mod plan_review;
mod prompt;
mod state_file;

pub(crate) use ask::ask;
pub(crate) use attempt::{Attempted, attempt, interrupted};
pub(crate) use completion::{commit, judge_claims, record};
pub(crate) use fix_tasks::{insert_fix, modify, note_failure, read_budget, tick};
pub(crate) use prompt::LookedUpProject;
pub(crate) use state_file::{ensure_state_file, remove_state_file, save_state};
