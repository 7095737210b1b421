//! Repairs that regreen carries out itself.

use regreen_model::{Event, FailureRecord, RepairResult};

use super::turn::Turn;
use super::{asking, attempting, choosing, ending, healing, picking, saving};
use crate::command::{Command, RepairOrder, RepairScene};
use crate::state::{OwnFix, TaskState};

/// Asks for a look at what a machine may repair of what the task failed of.
pub(super) fn inspect(turn: &mut Turn<'_>) {
    let scene = turn.task().and_then(|task| scene(turn, task));
    let Some(scene) = scene else {
        return healing::ask_budget(turn, None);
    };
    let task = scene.task.clone();
    turn.ask(Command::InspectRepair(Box::new(scene)), |seq| {
        Event::InspectionAsked { seq, task }
    });
}

fn scene(turn: &Turn<'_>, task: &TaskState) -> Option<RepairScene> {
    let failure = task.failure.as_ref().and_then(FailureRecord::told)?;
    Some(RepairScene {
        task: task.key().clone(),
        attempt: task.failed_attempt.unwrap_or(task.attempts),
        failure: failure.clone(),
        verify: task.picked.verify.clone(),
        environment: turn.state.environment.clone(),
    })
}

/// Carries out the fix that is next, if it is one that regreen does itself; whether it is.
pub(super) fn start(turn: &mut Turn<'_>) -> bool {
    ask(turn, false)
}

/// The same, after it was cut off.
pub(super) fn start_again(turn: &mut Turn<'_>) -> bool {
    ask(turn, true)
}

fn ask(turn: &mut Turn<'_>, again: bool) -> bool {
    let Some(order) = turn.task().and_then(|fix| order(turn, fix, again)) else {
        return false;
    };
    if ending::stop_if_asked(turn) {
        return true;
    }
    let (task, attempt, repair) = (order.fix.clone(), order.attempt, order.repair.clone());
    turn.ask(Command::Repair(Box::new(order)), |seq| {
        Event::RepairStarted {
            seq,
            task,
            attempt,
            repair,
        }
    });
    true
}

fn order(turn: &Turn<'_>, fix: &TaskState, again: bool) -> Option<RepairOrder> {
    let owner = turn.owner_of(fix)?;
    let OwnFix { repair, agreed, .. } = owner.own_fix.clone()?;
    Some(RepairOrder {
        fix: fix.key().clone(),
        attempt: fix.attempts + 1,
        repair,
        agreed,
        again,
        scene: scene(turn, owner)?,
    })
}

/// The task that failed is the judge of what was done. What could not be done is the agent's.
pub(super) fn ended(turn: &mut Turn<'_>, result: &RepairResult) {
    let is_decided = choosing::is_decided(turn);
    let Some(task) = turn.task().map(|task| task.key().clone()) else {
        return;
    };
    turn.emit(Event::RepairEnded {
        task,
        result: result.clone(),
    });
    match result {
        _ if is_decided => picking::go_on(turn),
        RepairResult::Done { .. } => saving::tick(turn),
        RepairResult::Failed { why } if !turn.state.config.agent.reads_prompts() => {
            asking::ask(
                turn,
                &format!("what regreen did about it failed: {why}"),
                None,
            );
        }
        RepairResult::Failed { .. } => attempting::start_unless_used_up(turn),
    }
}
