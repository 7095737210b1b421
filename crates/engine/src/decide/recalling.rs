//! What earlier failures with the same cause show, as the user's history remembers them.

use regreen_model::{Event, Experience};

use super::healing;
use super::turn::Turn;
use crate::command::{Command, RecallOrder};

/// Recovers from the task's failure, after looking it up in the user's history.
pub(super) fn start(turn: &mut Turn<'_>) {
    let Some(order) = order(turn) else {
        return healing::recover(turn);
    };
    let task = order.task.clone();
    turn.ask(Command::Recall(Box::new(order)), |seq| Event::RecallAsked {
        seq,
        task,
    });
}

fn order(turn: &Turn<'_>) -> Option<RecallOrder> {
    let task = turn.task().filter(|_| turn.state.config.recall)?;
    Some(RecallOrder {
        task: task.key().clone(),
        failure: task.failure.clone()?,
    })
}

/// Recovers from the failure, knowing what earlier ones show.
pub(super) fn ended(turn: &mut Turn<'_>, experience: Option<&Experience>) {
    let Some(task) = turn.task().map(|task| task.key().clone()) else {
        return;
    };
    turn.emit(Event::Recalled {
        task,
        experience: experience.cloned().map(Box::new),
    });
    healing::recover(turn);
}
