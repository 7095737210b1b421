//! An agent's request to change the plan.

use regreen_model::{Event, Modification, ModificationRequest};

use super::turn::Turn;
use super::{attempting, picking};
use crate::command::{Command, ModifyOrder};
use crate::input::ModifyResult;

/// The warning if recovery is off.
const NOT_HONOURED: &str =
    "the agent asked for other rows in the plan; that is only done in recovery mode";
/// The warning if the run is limited to one task.
const ONLY_ONE: &str = "the agent asked for rows to be done before its task, but only that task is run: they are not added";
/// The warning if the agent asks for its task to be split but signals completion.
const CALLED_DONE: &str = "the agent asked for rows to be done before its task, but says that it is done: they are not added";

/// Asks for the rows that the last attempt requested. Returns whether there are any that may be
/// added.
pub(super) fn ask_if_requested(turn: &mut Turn<'_>) -> bool {
    let Some(request) = requested(turn) else {
        return false;
    };
    let refusal = if !turn.state.config.recovery {
        NOT_HONOURED
    } else if is_called_done(turn) && !is_followup(&request) {
        CALLED_DONE
    } else if turn.state.config.only.is_some() && !is_followup(&request) {
        ONLY_ONE
    } else {
        ask(turn, request);
        return true;
    };
    turn.emit(Event::Warned {
        message: refusal.to_owned(),
    });
    false
}

fn requested(turn: &Turn<'_>) -> Option<ModificationRequest> {
    let report = turn.task()?.report.as_ref()?;
    report.modification.as_deref().cloned()
}

/// Whether the rows come after the task, so that an agent that has finished may request them.
fn is_followup(request: &ModificationRequest) -> bool {
    request.modification == Modification::AddFollowup
}

fn is_called_done(turn: &Turn<'_>) -> bool {
    let report = turn.task().and_then(|task| task.report.as_ref());
    report.is_some_and(|report| report.signalled)
}

pub(super) fn ask_again(turn: &mut Turn<'_>) {
    match requested(turn) {
        Some(request) => ask(turn, request),
        None => turn.read_plan(),
    }
}

fn ask(turn: &mut Turn<'_>, request: ModificationRequest) {
    let Some(task) = turn.task() else { return };
    let order = ModifyOrder {
        task: task.key().clone(),
        attempt: task.attempts,
        request,
    };
    let task = order.task.clone();
    turn.ask(Command::Modify(Box::new(order)), |seq| {
        Event::ModificationAsked { seq, task }
    });
}

pub(super) fn ended(turn: &mut Turn<'_>, result: &ModifyResult) {
    let Some(task) = turn.task().map(|task| task.key().clone()) else {
        return;
    };
    match result {
        ModifyResult::Done { added } => {
            let added = added.clone();
            turn.emit(Event::PlanModified { task, added });
            if is_called_done(turn) {
                attempting::judge_work(turn);
            } else {
                picking::continue_run(turn);
            }
        }
        ModifyResult::Refused { why } => {
            let why = why.clone();
            turn.emit(Event::ModificationRefused { task, why });
            attempting::judge_work(turn);
        }
    }
}
