//! A second opinion: where the rules are not sure of a cause, the agent may be asked for it.

use regreen_diagnosis::needs_opinion;
use regreen_model::{Event, Failure, Usage};

use super::turn::Turn;
use super::{attempting, recalling, spending};
use crate::command::{Command, OpinionOrder};

/// How long an agent may take to answer a question about a failure.
pub const OPINION_TIME_MS: u64 = 2 * 60 * 1_000;

/// Responds to the task's failure, after asking the agent for the cause if the rules are not sure.
pub(super) fn start(turn: &mut Turn<'_>) {
    let Some(order) = order(turn) else {
        return recalling::start(turn);
    };
    let task = order.task.clone();
    turn.ask(Command::AskOpinion(Box::new(order)), |seq| {
        Event::OpinionAsked { seq, task }
    });
}

/// Returns the question; `None` if there is none to ask, or no means to ask it.
fn order(turn: &Turn<'_>) -> Option<OpinionOrder> {
    let (config, task) = (&turn.state.config, turn.task()?);
    let found = task.failure.as_ref()?.diagnosis.as_ref()?;
    let may_ask = config.agent.reads_prompts()
        && turn.state.stopping.is_none()
        && attempting::run_limit(turn).is_none();
    let report = task.report.as_ref()?;
    (may_ask && needs_opinion(config.diagnosis_ask, report, Some(found))).then(|| OpinionOrder {
        task: task.key().clone(),
        attempt: task.failed_attempt.unwrap_or(task.attempts),
        failure: found.clone(),
        timeout_ms: OPINION_TIME_MS.min(spending::time_left(turn)),
        environment: turn.state.environment.clone(),
    })
}

/// Responds to the failure, with the cause that the agent names.
pub(super) fn ended(
    turn: &mut Turn<'_>,
    diagnosis: Option<&Failure>,
    usage: Option<&Usage>,
    took_ms: u64,
) {
    let Some(task) = turn.task().map(|task| task.key().clone()) else {
        return;
    };
    turn.emit(Event::OpinionGiven {
        task,
        diagnosis: diagnosis.cloned().map(Box::new),
        usage: usage.copied(),
        took_ms,
    });
    recalling::start(turn);
}
