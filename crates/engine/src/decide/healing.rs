//! Healing: a failed task gets a task that repairs it, and is tried again.

use regreen_model::{
    ERROR_CHARS as KEPT_CHARS, Event, FailureRecord, Inspection, PlainLine, PlannedRepair,
    PromptKind, TaskId,
};

use super::turn::Turn;
use super::{asking, attempting, ending, failing, picking, repairing, waiting};
use crate::command::{Command, FixOrder};
use crate::input::FixBudget;
use crate::recovery::{self, Class, History, Plan, Policy, Situation};
use crate::state::{Phase, TaskState};

/// The agent that runs a task's own commands and cannot repair anything.
const ERROR_CHARS: usize = 200;
/// What is said of a fix that an earlier run made.
const EARLIER_FIX: &str =
    "The same error came back after an earlier fix: find another way than that fix took";

/// What is done about a failed attempt.
pub(super) fn start(turn: &mut Turn<'_>) {
    go_by_plan(turn, None);
}

/// What is done now that the workspace was looked at.
pub(super) fn inspected(turn: &mut Turn<'_>, inspection: &Inspection) {
    let Some(task) = turn.task().map(|task| task.key().clone()) else {
        return;
    };
    turn.emit(Event::RepairInspected {
        task,
        inspection: inspection.clone(),
    });
    go_by_plan(turn, Some(inspection));
}

fn go_by_plan(turn: &mut Turn<'_>, inspection: Option<&Inspection>) {
    let Some(task) = turn.task() else { return };
    match plan_for(turn, task, inspection) {
        Plan::TryAgain => attempting::start(turn),
        Plan::Wait => wait(turn),
        Plan::Repeat { delay_ms } => waiting::repeat(turn, delay_ms),
        Plan::Split => attempting::start_with(turn, PromptKind::Split),
        Plan::Enrich => attempting::start_with(turn, PromptKind::Enriched),
        Plan::AskPerson { why } => asking::ask(turn, &why, None),
        Plan::Inspect => repairing::inspect(turn),
        Plan::Repair(repair) => ask_budget(turn, Some(repair)),
        Plan::AskToRepair { repair, why } => asking::ask(turn, &why, Some(repair)),
        Plan::Fix => ask_budget(turn, None),
        Plan::GiveUp => failing::give_up(turn),
        Plan::StopRun => ending::broken(turn, &cause(turn)),
    }
}

/// Waits for the agent's service, from which alone this failure can come.
fn wait(turn: &mut Turn<'_>) {
    let why = cause(turn);
    waiting::start(turn, &why, None);
}

fn cause(turn: &Turn<'_>) -> String {
    let failure = turn.task().and_then(|task| task.failure.as_ref());
    failure
        .map(|failure| failure.cause().to_owned())
        .unwrap_or_default()
}

fn plan_for(turn: &Turn<'_>, task: &TaskState, inspection: Option<&Inspection>) -> Plan {
    let config = &turn.state.config;
    let failure = task.failure.as_ref().and_then(FailureRecord::told);
    recovery::plan(&Situation {
        class: Class::of(task.report.as_deref(), failure),
        failure,
        history: History {
            iterations: task.iterations,
            lost_sessions: task.lost_sessions,
            repeats: task.repeats,
            was_enriched: task.was_enriched,
            asked_to_split: task.asked_to_split,
            repaired: &task.repaired,
        },
        limits: &config.limits,
        policy: Policy {
            recovery: config.recovery,
            repairs: config.repairs,
            listens: config.agent.reads_prompts(),
            asks: config.asks && !config.keep_going,
            is_group: task.picked.is_group,
        },
        inspection,
    })
}

pub(super) fn ask_budget(turn: &mut Turn<'_>, repair: Option<PlannedRepair>) {
    let Some(task) = turn.task().map(|task| task.key().clone()) else {
        return;
    };
    let command = Command::ReadBudget { task: task.clone() };
    turn.ask(command, |seq| Event::BudgetAsked { seq, task, repair });
}

/// What was asked for when the run was cut off, or what a person has agreed to.
pub(super) fn ask_budget_again(turn: &mut Turn<'_>) {
    let own = turn.task().and_then(|task| task.own_fix.clone());
    ask_budget(turn, own.map(|own| own.repair));
}

/// Plans the next fix, unless a limit says stop.
pub(super) fn plan(turn: &mut Turn<'_>, budget: &FixBudget) {
    match limit(turn, budget) {
        Some(message) => ending::limit(turn, message),
        None => {
            let again = turn.task().is_some_and(|task| came_back(task, budget));
            insert(turn, &budget.next_id, again);
        }
    }
}

fn limit(turn: &Turn<'_>, budget: &FixBudget) -> Option<String> {
    let limits = &turn.state.config.limits;
    let (per_task, depth, per_root) = (
        limits.fixes_per_task,
        limits.fix_depth,
        limits.fixes_per_root(),
    );
    let id = &turn.task()?.key().id;
    if budget.fixes >= per_task {
        let made: Vec<String> = budget.fix_ids.iter().map(ToString::to_string).collect();
        return Some(format!(
            "ERROR: Max fix attempts ({per_task}) reached for task {id}\nFix attempts: {}",
            made.join(", ")
        ));
    }
    if budget.depth >= depth {
        return Some(format!(
            "ERROR: Max fix depth ({depth}) reached at task {id}"
        ));
    }
    (budget.root_fixes >= per_root).then(|| {
        let root = &budget.root;
        format!("ERROR: Max fix attempts ({per_root}) reached for task {root} and its fixes")
    })
}

/// Whether the error is there again that the last fix was to remove, in this run or before.
fn came_back(task: &TaskState, budget: &FixBudget) -> bool {
    let Some(failure) = &task.failure else {
        return false;
    };
    let (cause, found) = (failure.cause(), failure.diagnosis.as_ref());
    match (task.fixes.last(), found, &task.fixed_blocker) {
        (Some(_), Some(found), Some(fixed)) => found.fingerprint == *fixed,
        (Some((_, error)), ..) => blocker(cause) == blocker(error),
        (None, ..) if budget.last_error.is_empty() => false,
        (None, ..) => PlainLine::flatten(cause, KEPT_CHARS).as_str() == budget.last_error,
    }
}

/// What of an error tells it from others.
fn blocker(error: &str) -> PlainLine {
    PlainLine::first_of(error, ERROR_CHARS)
}

/// Asks for a fix to stand after its task.
pub(super) fn insert(turn: &mut Turn<'_>, fix: &TaskId, again: bool) {
    let Some(task) = turn.task() else { return };
    let failure = task.failure.clone().unwrap_or_default();
    let order = FixOrder {
        task: task.key().clone(),
        id: fix.clone(),
        error: failure.cause().to_owned(),
        error_type: failure.kind().unwrap_or_default().to_owned(),
        attempted_fix: failure.attempted_fix,
        scope: turn.state.config.spec.clone(),
        extra_step: extra_step(task, again),
    };
    let repair = task.own_fix.as_ref().map(|own| own.repair.clone());
    let (task, fix) = (order.task.clone(), order.id.clone());
    turn.ask(Command::InsertFix(Box::new(order)), |seq| {
        Event::FixPlanned {
            seq,
            task,
            fix,
            again,
            repair,
        }
    });
}

fn extra_step(task: &TaskState, again: bool) -> String {
    if let Some(own) = &task.own_fix {
        return format!("regreen does this itself: {}", own.repair.does);
    }
    match task.fixes.last() {
        Some((last, _)) if again => {
            format!("The same error came back after {last}: find another way than that fix took")
        }
        None if again => EARLIER_FIX.to_owned(),
        _ => String::new(),
    }
}

/// The fix stands in the file, and is what is picked next.
pub(super) fn inserted(turn: &mut Turn<'_>, fix: &TaskId) {
    let Some(task) = turn.task().map(|task| task.key().clone()) else {
        return;
    };
    turn.emit(Event::FixInserted {
        task,
        fix: fix.clone(),
    });
    picking::go_on(turn);
}

/// What was asked for when the run was cut off.
pub(super) fn insert_again(turn: &mut Turn<'_>) {
    let phase = turn.task().map(|task| task.phase.clone());
    if let Some(Phase::Inserting { fix, again, .. }) = phase {
        insert(turn, &fix, again);
    }
}
