//! A failed attempt, and the end of a task's attempts.

use regreen_model::{Event, FailureRecord, TaskFailure};

use super::turn::Turn;
use super::{choosing, ending, healing, picking};

/// The attempt did not pass.
pub(super) fn fail(turn: &mut Turn<'_>, failure: FailureRecord) {
    fail_as(turn, failure, false);
}

/// The agent has done its part, but Verify is red.
pub(super) fn fail_verify(turn: &mut Turn<'_>, failure: FailureRecord) {
    let has_signalled = turn
        .task()
        .and_then(|task| task.report.as_ref())
        .is_some_and(|report| report.signalled);
    fail_as(turn, failure, has_signalled);
}

fn fail_as(turn: &mut Turn<'_>, failure: FailureRecord, only_red: bool) {
    let is_decided = choosing::is_decided(turn);
    let Some(task) = turn.task() else { return };
    let failure = FailureRecord {
        error: or(&failure.error, TaskFailure::NO_ERROR),
        attempted_fix: or(&failure.attempted_fix, TaskFailure::NO_ATTEMPTED_FIX),
        ..failure
    };
    turn.emit(Event::TaskFailed {
        task: task.key().clone(),
        attempt: task.attempts,
        failure,
        only_red,
    });
    if is_decided {
        return picking::go_on(turn);
    }
    healing::start(turn);
}

pub(super) fn is_used_up(turn: &Turn<'_>) -> bool {
    let limit = turn.state.config.limits.task_iterations;
    turn.task().is_some_and(|task| task.iterations >= limit)
}

/// The task has used up its attempts: the run ends here.
pub(super) fn give_up(turn: &mut Turn<'_>) {
    let Some(task) = turn.task() else { return };
    let (id, attempts) = (&task.key().id, task.iterations);
    let message = if task.picked.is_group {
        format!("ERROR: Verify of group {id} failed after its tasks were done")
    } else {
        let noun = if attempts == 1 { "attempt" } else { "attempts" };
        format!("ERROR: Max retries reached for task {id} after {attempts} {noun}")
    };
    ending::limit(turn, message);
}

fn or(text: &str, fallback: &str) -> String {
    if text.trim().is_empty() {
        fallback.to_owned()
    } else {
        text.to_owned()
    }
}
