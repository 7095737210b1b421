//! What people said of tasks while the run was not going on.

use regreen_model::{Event, PersonChoice};

use super::turn::Turn;
use crate::state::TaskState;

/// Takes note of what the run does not know yet.
pub(super) fn take_note(turn: &mut Turn<'_>, choices: &[PersonChoice]) {
    for choice in choices {
        if choice.number > turn.state.choices_seen {
            turn.look_at(&choice.task);
            turn.emit(Event::Chosen {
                choice: choice.clone(),
            });
        }
    }
}

/// Whether it is a person who says what becomes of the task when nothing of it is owed any
/// more.
pub(super) fn is_decided(turn: &Turn<'_>) -> bool {
    turn.task().is_some_and(has_a_say)
}

pub(super) fn has_a_say(task: &TaskState) -> bool {
    task.said.is_some()
}
