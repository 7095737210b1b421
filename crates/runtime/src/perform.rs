//! The commands that take more than a line.

mod ask;
mod attempt;
mod attempt_files;
mod completion;
mod final_check;
mod fix_tasks;
mod other_specs;
mod own_modules;
mod plan_guard;
mod plan_review;
mod prompt;
mod reconcile;
mod settings_guard;
mod state_file;
mod tampering;

pub(crate) use ask::ask;
pub(crate) use attempt::{Attempted, attempt, interrupted};
pub(crate) use completion::{ClaimsJob, Recorded, close_commit, commit, judge_claims, record};
pub(crate) use final_check::{final_check, reopen};
pub(crate) use fix_tasks::{insert_fix, modify, note_failure, read_budget, tick};
pub(crate) use other_specs::note_completed;
pub(crate) use own_modules::without_own_modules;
pub use plan_guard::is_plan_unreviewed;
pub(crate) use plan_guard::{GuardedCommand, PlanGuard, forget_saved};
pub use plan_review::PlanOffer;
pub(crate) use prompt::LookedUpProject;
pub(crate) use reconcile::{is_recorded, reconcile};
pub(crate) use settings_guard::{SettingsGuard, refuse_changed_settings};
pub(crate) use state_file::{ensure_state_file, remove_state_file, save_state};
pub(crate) use tampering::{Baseline, review_check};
