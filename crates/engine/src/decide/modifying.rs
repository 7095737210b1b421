//! An agent asks for other rows in the plan.

use regreen_model::{Event, Modification, ModificationRequest};

use super::turn::Turn;
use super::{attempting, picking};
use crate::command::{Command, ModifyOrder};
use crate::input::ModifyResult;

/// What is said where nobody may change the plan.
const NOT_HONOURED: &str =
    "the agent asked for other rows in the plan; that is only done in recovery mode";
/// What is said where nothing else would be run.
const ONLY_ONE: &str = "the agent asked for rows to be done before its task, but only that task is run: they are not added";
/// What is said where the agent wants its task divided and calls it done.
const CALLED_DONE: &str = "the agent asked for rows to be done before its task, but says that it is done: they are not added";

/// Asks for the rows, if the last attempt asked for some; whether it did.
pub(super) fn ask_if_requested(turn: &mut Turn<'_>) -> bool {
    let Some(request) = requested(turn) else {
        return false;
    };
    let refusal = match turn.state.config.recovery {
        false => NOT_HONOURED,
        true if is_called_done(turn) && !is_followup(&request) => CALLED_DONE,
        true if turn.state.config.only.is_some() && !is_followup(&request) => ONLY_ONE,
        true => {
            ask(turn, request);
            return true;
        }
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

/// What follows a task can be asked for by whoever has done it.
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
                picking::go_on(turn);
            }
        }
        ModifyResult::Refused { why } => {
            let why = why.clone();
            turn.emit(Event::ModificationRefused { task, why });
            attempting::judge_work(turn);
        }
    }
}
