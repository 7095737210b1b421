//! Starting and resuming a run, and picking the next task.

use regreen_model::{
    AttemptClass, AttemptReport, Event, FailureRecord, NextStep, PersonChoice, PickedTask,
    PlanStatus, RepairResult, RunOutcome, StopSignal, TaskKey, Timestamp,
};

use super::turn::Turn;
use super::{
    Decision, asking, attempting, diagnosing, ending, final_check, healing, modifying, recalling,
    repairing, saving, verifying,
};
use crate::command::Command;
use crate::input::Resumption;
use crate::state::{FinalCheckPhase, Phase, State, TaskState};

const NO_TASKS: &str =
    "the task file has no tasks any more; restore it, or remove the spec if it is no longer needed";
/// The default limit; only a default grows with the plan.
const DEFAULT_GLOBAL_ITERATIONS: u32 = 100;

pub(super) fn start(
    state: &State,
    now: Timestamp,
    started: Event,
    choices: &[PersonChoice],
) -> Decision {
    let mut turn = Turn::about_run(state, now);
    turn.emit(started);
    asking::record_choices(&mut turn, choices);
    turn.read_plan();
    turn.decision()
}

/// Issues the pending command again. An attempt is never silently repeated, but recorded as
/// interrupted; all other commands can be performed twice.
pub(super) fn resume(state: &State, now: Timestamp, resumption: &Resumption) -> Decision {
    let mut turn = match state.pending_task() {
        Some(task) => Turn::about(state, now, task.key()),
        None => Turn::about_run(state, now),
    };
    turn.emit(Event::RunResumed {
        config: resumption.config.clone(),
        at: Some(now),
    });
    // This comes before reading the plan, which depends on the rows agents removed, and before the
    // choices, which are newer.
    if let Some(changes) = &resumption.reviewed {
        let (task, _) = state.pending_guarded().unwrap_or_default();
        attempting::tell_review(&mut turn, task, changes);
    }
    asking::record_choices(&mut turn, &resumption.choices);
    reissue(&mut turn, resumption.interrupted.as_deref());
    turn.decision()
}

fn reissue(turn: &mut Turn<'_>, left: Option<&AttemptReport>) {
    if let FinalCheckPhase::Reopening { .. } = turn.state.final_check.phase {
        return final_check::reopen_again(turn);
    }
    let phase = turn.task().map_or(Phase::Open, |task| task.phase.clone());
    match &phase {
        Phase::Attempting { attempt, .. } => {
            let unknown = interrupted("regreen or the machine stopped during the attempt");
            attempting::ended(turn, *attempt, left.unwrap_or(&unknown));
        }
        Phase::JudgingClaims { .. } => attempting::ask_claims(turn),
        Phase::Verifying { first: true, .. } => verifying::start_first(turn),
        Phase::Verifying { again, .. } => verifying::start(turn, *again),
        Phase::ReviewingTests { first: true, .. } => verifying::start_first(turn),
        Phase::ReviewingTests { .. } => verifying::start(turn, false),
        Phase::AskingOpinion { .. } => diagnosing::start(turn),
        Phase::Recalling { .. } => recalling::start(turn),
        Phase::Inspecting { .. } => repairing::inspect(turn),
        Phase::Repairing { .. } => repair_again(turn),
        Phase::Budgeting { .. } => healing::make_planned_fix(turn),
        Phase::Inserting { .. } => healing::insert_again(turn),
        Phase::Modifying { .. } => modifying::ask_again(turn),
        Phase::Noting { message, .. } => ending::note_failure_again(turn, message),
        Phase::Ticking { done, .. } => saving::set_box(turn, *done),
        Phase::Superseding { .. } | Phase::TickingFixes { .. } => saving::tick(turn),
        Phase::Committing { .. } => saving::save(turn),
        Phase::Recording { .. } => saving::record(turn),
        Phase::Waiting {
            since,
            until,
            repeats,
            ..
        } => wait_on(turn, *since, *until, *repeats),
        // A person may have decided about the task in the file meanwhile.
        Phase::Open | Phase::Asking { .. } | Phase::Closed => turn.read_plan(),
    }
}

/// Returns the report of an attempt that left nothing behind.
pub(super) fn interrupted(why: &str) -> AttemptReport {
    AttemptReport {
        class: AttemptClass::Interrupted,
        failure: FailureRecord::new(why),
        ..AttemptReport::default()
    }
}

/// Repeats an interrupted repair, which inspects the workspace first and says so if nothing is left
/// to do. If a person has decided meanwhile, it isn't repeated.
fn repair_again(turn: &mut Turn<'_>) {
    if asking::is_decided(turn) || !repairing::start_again(turn) {
        let why = "regreen or the machine stopped during the repair".to_owned();
        repairing::ended(turn, &RepairResult::Failed { why });
    }
}

/// Continues a wait to its original end instead of starting it over.
fn wait_on(turn: &mut Turn<'_>, since: Timestamp, until: Timestamp, repeats: bool) {
    let Some(task) = turn.task().map(|task| task.key().clone()) else {
        return;
    };
    turn.ask(Command::Wait { until }, |seq| Event::WaitStarted {
        seq,
        task,
        since,
        until,
        why: "still waiting".to_owned(),
        repeats,
    });
}

/// Leaves the task and picks the next one.
pub(super) fn continue_run(turn: &mut Turn<'_>) {
    turn.save_state();
    if !ending::stop_if_asked(turn) {
        turn.read_plan();
    }
}

pub(super) fn read(state: &State, now: Timestamp, plan: &PlanStatus) -> Decision {
    let mut turn = Turn::about_run(state, now);
    if state.max_iterations.is_none() {
        let max_iterations = settled_limit(state.config.limits.global_iterations, plan.total);
        turn.emit(Event::LimitSettled { max_iterations });
    }
    match &plan.next {
        NextStep::Nothing => {
            turn.reach_the_end(plan.total, plan.first_open);
            let outcome = outcome(state, plan);
            if matches!(outcome, RunOutcome::NeedsPerson { .. })
                && asking::await_answers(&mut turn, state, &waiting_tasks(state, plan))
            {
                return turn.decision();
            }
            // A skip leaves the run red, but says nothing about the tasks that passed before.
            let is_settled = matches!(outcome, RunOutcome::AllGreen | RunOutcome::Skipped);
            if !is_settled || !final_check::start(&mut turn, state) {
                ending::finish(&mut turn, outcome);
            }
        }
        NextStep::Task(picked) if stops_before(state, picked) => {
            let signal = StopSignal::AfterTask;
            ending::end(&mut turn, RunOutcome::Stopped { signal });
        }
        NextStep::Task(picked) => {
            turn.turn_to(&picked.task);
            turn.emit(Event::TaskPicked {
                task: picked.clone(),
            });
            if asking::ask_again(&mut turn)
                || repairing::start(&mut turn)
                || final_check::resume(&mut turn)
            {
                return turn.decision();
            }
            if verifying::fail_unless_checked(&mut turn) {
                return turn.decision();
            }
            if picked.is_group {
                verifying::start(&mut turn, false);
            } else if turn.task().is_some_and(may_pass_without_agent) {
                verifying::start_first(&mut turn);
            } else {
                attempting::start_unless_used_up(&mut turn);
            }
        }
    }
    turn.decision()
}

/// Whether the run should stop after its current task, and this is another one.
fn stops_before(state: &State, picked: &PickedTask) -> bool {
    let current = state.current.as_ref().and_then(|key| state.tasks.get(key));
    let is_another = current.is_none_or(|task| task.picked.root != picked.root);
    state.stops_after_task && is_another
}

/// Whether Verify may pass without another attempt: the agent had done its part and a fix was all
/// that was missing, or a running service is all that the task asks for.
fn may_pass_without_agent(task: &TaskState) -> bool {
    let is_healed = task.was_fixed && task.only_red;
    is_healed || (task.picked.is_only_service() && (task.attempts == 0 || task.was_fixed))
}

/// Returns the outcome when nothing is left to run.
fn outcome(state: &State, plan: &PlanStatus) -> RunOutcome {
    // A run starts with tasks. A file without any proves nothing, whoever emptied it.
    if plan.is_empty {
        return RunOutcome::NeedsPerson {
            why: NO_TASKS.to_owned(),
        };
    }
    // People may remove tasks, but a task that an agent removed is not done.
    let is_lost = plan.missing.iter().any(|task| state.lost.contains(task));
    match (plan.open, plan.open_besides) {
        (0, 0) if !is_lost => RunOutcome::AllGreen,
        (0, _) if !is_lost => RunOutcome::OnlyDone,
        _ => match waiting_tasks(state, plan).as_slice() {
            [] => RunOutcome::Skipped,
            waiting => waits_for_person(waiting),
        },
    }
}

/// Returns the originals that wait for a person, unless someone has ticked or removed them since.
fn waiting_tasks<'s>(state: &'s State, plan: &PlanStatus) -> Vec<&'s TaskKey> {
    let parked = state.parked.iter();
    let is_open = |task: &&TaskKey| !plan.settled.contains(task) && !plan.missing.contains(task);
    parked.filter(is_open).collect()
}

fn waits_for_person(waiting: &[&TaskKey]) -> RunOutcome {
    let ids: Vec<String> = waiting.iter().map(|key| key.id.to_string()).collect();
    RunOutcome::NeedsPerson {
        why: format!("these tasks wait for a person: {}", ids.join(", ")),
    }
}

/// Returns the limit on attempts. The default is at least twice the number of tasks, so that a long
/// plan doesn't end half-way.
fn settled_limit(limit: u32, tasks: u32) -> u32 {
    if limit == DEFAULT_GLOBAL_ITERATIONS {
        limit.max(tasks.saturating_mul(2))
    } else {
        limit
    }
}
