//! Starting, and finding out what is next.

use regreen_model::{Event, PersonChoice, RunConfig, RunOutcome, Timestamp};

use super::turn::Turn;
use super::{Decision, asking, attempting, choosing, ending, repairing, verifying};
use crate::input::{NextStep, Plan};
use crate::state::{State, TaskState};

/// A limit that nobody has set grows with the plan.
const DEFAULT_GLOBAL_ITERATIONS: u32 = 100;

pub(super) fn start(
    state: &State,
    now: Timestamp,
    run: &str,
    config: &RunConfig,
    choices: &[PersonChoice],
    after_limit: bool,
) -> Decision {
    let mut turn = Turn::about_run(state, now);
    turn.emit(Event::RunStarted {
        run: run.to_owned(),
        config: config.clone(),
        after_limit,
    });
    choosing::take_note(&mut turn, choices);
    turn.read_plan();
    turn.decision()
}

/// Leaves a task for what is next.
pub(super) fn go_on(turn: &mut Turn<'_>) {
    turn.save_state();
    if !ending::stop_if_asked(turn) {
        turn.read_plan();
    }
}

pub(super) fn read(state: &State, now: Timestamp, plan: &Plan) -> Decision {
    let mut turn = Turn::about_run(state, now);
    if state.max_iterations.is_none() {
        let max_iterations = settled_limit(state.config.limits.global_iterations, plan.total);
        turn.emit(Event::LimitSettled { max_iterations });
    }
    match &plan.next {
        NextStep::Nothing => {
            turn.reach_the_end(plan.total, plan.first_open);
            ending::end(&mut turn, outcome(state, plan));
        }
        NextStep::Task(picked) => {
            turn.turn_to(&picked.task);
            turn.emit(Event::TaskPicked {
                task: picked.clone(),
            });
            if asking::ask_again(&mut turn) || repairing::start(&mut turn) {
                return turn.decision();
            }
            if picked.is_group {
                verifying::start(&mut turn, false);
            } else if turn.task().is_some_and(is_perhaps_healed) {
                verifying::start_first(&mut turn);
            } else {
                attempting::start_unless_used_up(&mut turn);
            }
        }
    }
    turn.decision()
}

/// A fix may have been all that was missing: the agent had done its part.
fn is_perhaps_healed(task: &TaskState) -> bool {
    task.was_fixed && task.only_red
}

/// What it comes to when nothing is left to run.
fn outcome(state: &State, plan: &Plan) -> RunOutcome {
    // What people remove is theirs to remove; what an agent removed is not done by that.
    let is_lost = plan
        .missing
        .iter()
        .any(|task| state.put_back.contains(task));
    match (plan.open, plan.open_besides) {
        (0, 0) if !is_lost => RunOutcome::AllGreen,
        (0, _) if !is_lost => RunOutcome::OnlyDone,
        _ if state.parked.is_empty() => RunOutcome::Skipped,
        _ => waits_for_person(state),
    }
}

fn waits_for_person(state: &State) -> RunOutcome {
    let ids: Vec<String> = state.parked.iter().map(|key| key.id.to_string()).collect();
    RunOutcome::NeedsPerson {
        why: format!("these tasks wait for a person: {}", ids.join(", ")),
    }
}

/// The default is at least twice the tasks there are: a long plan must not end half-way.
fn settled_limit(limit: u32, tasks: u32) -> u32 {
    if limit == DEFAULT_GLOBAL_ITERATIONS {
        limit.max(tasks.saturating_mul(2))
    } else {
        limit
    }
}
