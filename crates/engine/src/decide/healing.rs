//! Healing: a failed task gets a task that repairs it, and is tried again.

use regreen_model::{ERROR_CHARS as KEPT_CHARS, Event, PlainLine, PromptKind, TaskId};

use super::turn::Turn;
use super::{asking, attempting, ending, failing, picking};
use crate::command::{Command, FixOrder};
use crate::input::FixBudget;
use crate::state::{Phase, TaskState};

/// The agent that runs a task's own commands and cannot repair anything.
pub(super) const SHELL: &str = "shell";
const ERROR_CHARS: usize = 200;
/// What is said of a fix that an earlier run made.
const EARLIER_FIX: &str =
    "The same error came back after an earlier fix: find another way than that fix took";

/// Why a task is a person's.
const STUCK: &str = "it gets nowhere in its time, and was not split";
const NOT_SPLIT: &str = "it could not be split";
const SHELL_REPAIRS_NOTHING: &str = "the shell agent runs commands and cannot repair them";

/// What is done about a failed attempt.
pub(super) fn start(turn: &mut Turn<'_>) {
    let Some(task) = turn.task() else { return };
    let is_group = task.picked.is_group;
    match timeout_of(task) {
        // One more attempt would have to follow whatever is done about it.
        _ if !is_group && failing::is_used_up(turn) => failing::give_up(turn),
        Some(Timeout::Progressing) => attempting::start(turn),
        Some(Timeout::Stuck) if !task.asked_to_split => {
            attempting::start_with(turn, PromptKind::Split);
        }
        Some(Timeout::Stuck) => asking::ask(turn, STUCK),
        None if task.asked_to_split => asking::ask(turn, NOT_SPLIT),
        None if turn.state.config.agent == SHELL => asking::ask(turn, SHELL_REPAIRS_NOTHING),
        None => ask_budget(turn),
    }
}

/// How an attempt was getting on when its time was over.
enum Timeout {
    Progressing,
    Stuck,
}

fn timeout_of(task: &TaskState) -> Option<Timeout> {
    let report = task.report.as_ref()?;
    report.ending.timed_out.then_some(match report.progressed {
        true => Timeout::Progressing,
        false => Timeout::Stuck,
    })
}

pub(super) fn ask_budget(turn: &mut Turn<'_>) {
    let Some(task) = turn.task().map(|task| task.key().clone()) else {
        return;
    };
    let command = Command::ReadBudget { task: task.clone() };
    turn.ask(command, |seq| Event::BudgetAsked { seq, task });
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
    match task.fixes.last() {
        Some((_, error)) => blocker(&failure.error) == blocker(error),
        None if budget.last_error.is_empty() => false,
        None => PlainLine::flatten(&failure.error, KEPT_CHARS).as_str() == budget.last_error,
    }
}

/// What of an error tells it from others.
fn blocker(error: &str) -> PlainLine {
    PlainLine::first_of(error, ERROR_CHARS)
}

/// Asks for a fix to stand after its task.
pub(super) fn insert(turn: &mut Turn<'_>, fix: &TaskId, again: bool) {
    let Some(task) = turn.task() else { return };
    let failure = task.failure.clone();
    let failure = failure.as_ref();
    let order = FixOrder {
        task: task.key().clone(),
        id: fix.clone(),
        error: failure
            .map(|failure| failure.error.clone())
            .unwrap_or_default(),
        attempted_fix: failure
            .map(|failure| failure.attempted_fix.clone())
            .unwrap_or_default(),
        scope: turn.state.config.spec.clone(),
        extra_step: extra_step(task, again),
    };
    let (task, fix) = (order.task.clone(), order.id.clone());
    turn.ask(Command::InsertFix(Box::new(order)), |seq| {
        Event::FixPlanned {
            seq,
            task,
            fix,
            again,
        }
    });
}

fn extra_step(task: &TaskState, again: bool) -> String {
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
