//! An agent asks for other rows in the plan.

use regreen_model::{Event, ModificationRequest};

use super::turn::Turn;
use super::{attempting, picking};
use crate::command::{Command, ModifyOrder};
use crate::input::ModifyResult;

/// What is said where nobody may change the plan.
const NOT_HONOURED: &str =
    "the agent asked for other rows in the plan; that is only done in recovery mode";

/// Asks for the rows, if the last attempt asked for some; whether it did.
pub(super) fn ask_if_requested(turn: &mut Turn<'_>) -> bool {
    let Some(request) = requested(turn) else {
        return false;
    };
    if !turn.state.config.recovery {
        turn.emit(Event::Warned {
            message: NOT_HONOURED.to_owned(),
        });
        return false;
    }
    ask(turn, request);
    true
}

/// A request beside a signal is none: the agent says that it is done.
fn requested(turn: &Turn<'_>) -> Option<ModificationRequest> {
    let report = turn.task()?.report.as_ref()?;
    let request = report
        .modification
        .as_deref()
        .filter(|_| !report.signalled)?;
    Some(request.clone())
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
            picking::go_on(turn);
        }
        ModifyResult::Refused { why } => {
            let why = why.clone();
            turn.emit(Event::ModificationRefused { task, why });
            attempting::judge_work(turn);
        }
    }
}
