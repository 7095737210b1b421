//! One file per command that takes more than a line.

mod ask;
mod attempt;
mod attempt_files;
mod claims;
mod commit;
mod fix;
mod modify;
mod plan_changes;
mod prompt;
mod read_plan;
mod record;
mod replaced_plan;
mod save_state;

pub(crate) use ask::ask;
pub(crate) use attempt::{Attempted, attempt, interrupted};
pub(crate) use claims::judge_claims;
pub(crate) use commit::commit;
pub(crate) use fix::{insert_fix, note_failure, read_budget, tick};
pub(crate) use modify::modify;
pub(crate) use prompt::LookedUpProject;
pub(crate) use read_plan::read_plan;
pub(crate) use record::record;
pub(crate) use save_state::{forget_state, save_state, sound_state};
