//! Commands that take more than a few lines to perform.

mod ask;
mod attempt;
mod attempt_files;
mod completion;
mod final_check;
mod fix_tasks;
mod ignored_files;
mod opinion;
mod other_plans;
mod other_specs;
mod own_modules;
mod plan_guard;
mod plan_review;
mod project_context;
mod prompt;
mod reconcile;
mod saved_plan;
mod settings_guard;
mod settings_rows;
mod state_file;
mod tampering;
mod test_review;
mod tests_before;
mod verify_attempt;
mod weakened_checks;

pub(crate) use ask::{ask, await_answers, open_questions};
pub(crate) use attempt::{Attempted, attempt, interrupted};
pub(crate) use completion::{ClaimsJob, Recorded, close_commit, commit, judge_claims, record};
pub(crate) use final_check::{final_check, reopen};
pub(crate) use fix_tasks::{insert_fix, modify, note_failure, read_budget, tick};
pub(crate) use ignored_files::IgnoredScripts;
pub(crate) use opinion::{Question, ask_opinion};
pub(crate) use other_plans::{OtherPlansGuard, review_left_plans};
pub(crate) use other_specs::note_completed;
pub(crate) use plan_guard::{GuardedCommand, PlanGuard, code_of, forget_copy, last_copy};
pub use plan_review::PlanOffer;
pub(crate) use project_context::items_for_text;
pub(crate) use prompt::LookedUpProject;
pub(crate) use reconcile::{RecordedTasks, reconcile};
pub(crate) use saved_plan::SavedPlan;
pub use saved_plan::is_plan_unreviewed;
pub(crate) use settings_guard::{SettingsGuard, refuse_changed_settings};
pub(crate) use state_file::{
    KnownState, ensure_state_file, remember_limits, remove_state_file, save_state,
};
pub(crate) use tampering::Baseline;
pub(crate) use test_review::review_tests;
pub(crate) use tests_before::TestsBefore;
pub(crate) use verify_attempt::{JudgedAttempt, verify_attempt};
