//! Repairs that regreen carries out itself.

use regreen_model::{Event, FailureRecord, RepairResult};

use super::turn::Turn;
use super::{asking, attempting, ending, healing, picking, saving};
use crate::command::{Command, RepairOrder, RepairTarget};
use crate::state::{AutomaticFix, TaskState};

/// Inspects whether a repair can remove the task's failure.
pub(super) fn inspect(turn: &mut Turn<'_>) {
    let target = turn.task().and_then(|task| target(turn, task));
    let Some(target) = target else {
        return healing::make_fix(turn, None);
    };
    let task = target.task.clone();
    turn.ask(Command::InspectRepair(Box::new(target)), |seq| {
        Event::InspectionAsked { seq, task }
    });
}

fn target(turn: &Turn<'_>, task: &TaskState) -> Option<RepairTarget> {
    let failure = task
        .failure
        .as_ref()
        .and_then(FailureRecord::confident_diagnosis)?;
    Some(RepairTarget {
        task: task.key().clone(),
        attempt: task.failed_attempt.unwrap_or(task.attempts),
        failure: failure.clone(),
        verify: task.picked.verify.clone(),
        environment: turn.state.environment.clone(),
    })
}

/// Carries out the next fix if it is automatic. Returns whether it is.
pub(super) fn start(turn: &mut Turn<'_>) -> bool {
    ask(turn, false)
}

/// Like [`start`], after an interruption.
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
    let AutomaticFix { repair, agreed, .. } = owner.automatic_fix.clone()?;
    Some(RepairOrder {
        fix: fix.key().clone(),
        attempt: fix.attempts + 1,
        repair,
        agreed,
        again,
        target: target(turn, owner)?,
    })
}

/// Continues after a repair. If it worked, the failed task decides whether it was enough; if not,
/// the fix is left to the agent.
pub(super) fn ended(turn: &mut Turn<'_>, result: &RepairResult) {
    let is_decided = asking::is_decided(turn);
    let Some(task) = turn.task().map(|task| task.key().clone()) else {
        return;
    };
    turn.emit(Event::RepairEnded {
        task,
        result: result.clone(),
    });
    match result {
        _ if is_decided => picking::continue_run(turn),
        RepairResult::Done { .. } => saving::tick(turn),
        RepairResult::Failed { why } if !turn.state.config.agent.reads_prompts() => {
            asking::ask(turn, &format!("the repair failed: {why}"), None);
        }
        RepairResult::Failed { .. } => attempting::start_unless_used_up(turn),
    }
}
