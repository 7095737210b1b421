//! Healing: a failed task gets a fix task, and is then tried again.

use regreen_diagnosis::short_cause;
use regreen_model::{
    AttemptClass, ERROR_CHARS as KEPT_CHARS, Event, FailureRecord, FixBudget, FixOrigin,
    Inspection, PlainLine, PlannedRepair, PromptKind, TaskFailure, TaskId, TaskKey,
};

use super::turn::Turn;
use super::{asking, attempting, diagnosing, ending, picking, repairing, waiting};
use crate::command::{Command, FixOrder};
use crate::recovery::{self, AppliedTemplate, FailureClass, Policy, RecoveryAction, Situation};
use crate::state::{Phase, TaskState};

/// How many characters of an error are compared to tell it from others.
const ERROR_CHARS: usize = 200;
/// The extra step of a fix that follows one from an earlier run.
const EARLIER_FIX: &str =
    "The same error came back after an earlier fix: find another way than that fix took";

/// Records that the attempt failed, and starts recovery.
pub(super) fn fail(turn: &mut Turn<'_>, failure: FailureRecord) {
    fail_as(turn, failure, false);
}

/// Handles a failed Verify after the agent signalled completion.
pub(super) fn fail_verify(turn: &mut Turn<'_>, failure: FailureRecord) {
    let has_signalled = turn
        .task()
        .and_then(|task| task.report.as_ref())
        .is_some_and(|report| report.signalled);
    fail_as(turn, failure, has_signalled);
}

fn fail_as(turn: &mut Turn<'_>, failure: FailureRecord, only_red: bool) {
    let is_decided = asking::is_decided(turn);
    let Some(task) = turn.task() else { return };
    let report = task.report.as_ref();
    let said = report.map_or("", |report| &report.failure.last_words);
    let failure = FailureRecord {
        error: or(&failure.error, TaskFailure::NO_ERROR),
        attempted_fix: or(&failure.attempted_fix, TaskFailure::NO_ATTEMPTED_FIX),
        last_words: or(&failure.last_words, said),
        ..failure
    };
    turn.emit(Event::TaskFailed {
        task: task.key().clone(),
        attempt: task.attempts,
        failure,
        only_red,
    });
    if is_decided {
        return picking::continue_run(turn);
    }
    diagnosing::start(turn);
}

/// Whether the task has used up its attempts.
pub(super) fn is_used_up(turn: &Turn<'_>) -> bool {
    let limit = turn.state.config.limits.task_iterations;
    turn.task().is_some_and(|task| task.iterations >= limit)
}

/// Ends the run because the task has used up its attempts.
pub(super) fn give_up(turn: &mut Turn<'_>) {
    let Some(task) = turn.task() else { return };
    let (id, attempts) = (&task.key().id, task.attempts_made());
    let message = if task.picked.is_group {
        format!("ERROR: Verify of group {id} failed after its tasks were done")
    } else {
        format!("ERROR: Max retries reached for task {id} after {attempts}")
    };
    ending::limit(turn, message);
}

/// Ends the run because the same thing was missing twice with nothing changed, and says what would
/// help.
fn stop_retrying(turn: &mut Turn<'_>, inspection: Option<&Inspection>) {
    let Some(task) = turn.task() else { return };
    let (id, attempts) = (&task.key().id, task.attempts_made());
    let failure = task.failure.clone().unwrap_or_default();
    let blocker = PlainLine::first_of(failure.cause(), ERROR_CHARS);
    let kind = failure.kind().unwrap_or_default();
    let mut message = format!(
        "ERROR: Max retries reached for task {id} after {attempts}\n{kind}, twice, with no file changed in between: {blocker}"
    );
    if let Some(help) = help(turn, &failure, inspection) {
        message.push('\n');
        message.push_str(&help);
    }
    ending::limit(turn, message);
}

/// Returns what would remove a failure that another attempt won't.
fn help(
    turn: &Turn<'_>,
    failure: &FailureRecord,
    inspection: Option<&Inspection>,
) -> Option<String> {
    let spec = turn.state.config.spec_argument.as_ref();
    let spec = spec.map_or_else(String::new, |spec| format!(" {spec}"));
    match inspection {
        Some(Inspection::Allowed(repair)) => Some(format!(
            "`regreen run{spec} --recovery-mode` repairs it: {}",
            repair.does
        )),
        Some(Inspection::Ask { repair, why }) => Some(format!(
            "`regreen run{spec} --recovery-mode` asks about this repair: {}; {why}",
            repair.does
        )),
        Some(Inspection::Refused { why }) => Some(why.clone()),
        Some(Inspection::Nothing) | None => {
            let advice = failure.confident_diagnosis()?.advice();
            Some(PlainLine::first_of(advice.first()?, KEPT_CHARS).to_string())
        }
    }
}

fn or(text: &str, fallback: &str) -> String {
    if text.trim().is_empty() {
        fallback.to_owned()
    } else {
        text.to_owned()
    }
}

/// Recovers from a failure of the task or its agent, by the recovery table.
pub(super) fn recover(turn: &mut Turn<'_>) {
    recover_after(turn, None);
}

/// Continues recovery once the workspace was inspected.
pub(super) fn inspected(turn: &mut Turn<'_>, inspection: &Inspection) {
    let Some(task) = turn.task().map(|task| task.key().clone()) else {
        return;
    };
    turn.emit(Event::RepairInspected {
        task,
        inspection: inspection.clone(),
    });
    recover_after(turn, Some(inspection));
}

fn recover_after(turn: &mut Turn<'_>, inspection: Option<&Inspection>) {
    let Some(task) = turn.task() else { return };
    let warning = task.experience.as_ref().and_then(|known| known.warning());
    let told = |why: String| match &warning {
        Some(warning) => format!("{why}; {warning}"),
        None => why,
    };
    let situation = situation(turn, task, inspection);
    let applied = recovery::applied_template(&situation);
    let action = recovery::action_for(&situation);
    let trouble = agent_trouble(task);
    if let Some(applied) = applied {
        apply_template(turn, applied);
    }
    match action {
        RecoveryAction::TryAgain => attempting::start(turn),
        RecoveryAction::Wait => waiting::start(turn),
        RecoveryAction::Repeat { delay_ms } => waiting::repeat(turn, delay_ms),
        RecoveryAction::Pause { delay_ms } => waiting::pause(turn, delay_ms),
        RecoveryAction::Split => attempting::start_with(turn, PromptKind::Split),
        RecoveryAction::Enrich => attempting::start_with(turn, PromptKind::Enriched),
        RecoveryAction::AskPerson { why } => asking::ask(turn, &told(why), None),
        RecoveryAction::Inspect => repairing::inspect(turn),
        RecoveryAction::Repair(repair) => make_fix(turn, Some(repair)),
        RecoveryAction::AskToRepair { repair, why } => asking::ask(turn, &told(why), Some(repair)),
        RecoveryAction::Fix => make_fix(turn, None),
        RecoveryAction::GiveUp => give_up(turn),
        RecoveryAction::StopRetrying => stop_retrying(turn, inspection),
        RecoveryAction::StopRun => {
            ending::broken(turn, &trouble.unwrap_or_default());
        }
    }
}

fn apply_template(turn: &mut Turn<'_>, applied: AppliedTemplate) {
    let Some(task) = turn.task().map(|task| task.key().clone()) else {
        return;
    };
    turn.emit(Event::TemplateApplied {
        task,
        template: applied.template,
        owner: applied.owner,
        strategy: applied.strategy,
        step: applied.step,
    });
}

/// Returns the agent's own trouble, if that ended the last attempt.
pub(super) fn agent_trouble(task: &TaskState) -> Option<String> {
    match &task.report.as_ref()?.class {
        AttemptClass::Fatal { why }
        | AttemptClass::Transient { why, .. }
        | AttemptClass::Session { why } => Some(why.clone()),
        AttemptClass::Ordinary | AttemptClass::Interrupted => None,
    }
}

fn situation<'a>(
    turn: &'a Turn<'_>,
    task: &'a TaskState,
    inspection: Option<&'a Inspection>,
) -> Situation<'a> {
    let config = &turn.state.config;
    let failure = task
        .failure
        .as_ref()
        .and_then(FailureRecord::confident_diagnosis);
    Situation {
        class: FailureClass::of(task.report.as_deref(), failure),
        failure,
        history: task.history(),
        limits: &config.limits,
        policy: Policy {
            recovery: config.recovery,
            repairs: config.repairs,
            listens: config.agent.reads_prompts(),
            asks: config.asks && !config.keep_going,
            is_group: task.picked.is_group,
        },
        inspection,
        experience: task.experience.as_deref(),
        templates: &config.templates,
    }
}

/// Creates a fix for the task, either automatic or for the agent.
pub(super) fn make_fix(turn: &mut Turn<'_>, repair: Option<PlannedRepair>) {
    match turn.fix_budget.take() {
        Some(Some(budget)) => plan(turn, &budget, repair),
        Some(None) => attempting::gone(turn),
        None => ask_budget(turn, repair),
    }
}

/// Creates the fix that was planned before an interruption, or that a person has agreed to.
pub(super) fn make_planned_fix(turn: &mut Turn<'_>) {
    let planned = turn.task().and_then(|task| task.automatic_fix.clone());
    make_fix(turn, planned.map(|planned| planned.repair));
}

fn ask_budget(turn: &mut Turn<'_>, repair: Option<PlannedRepair>) {
    let Some(task) = turn.task().map(|task| task.key().clone()) else {
        return;
    };
    let command = Command::ReadBudget { task: task.clone() };
    turn.ask(command, |seq| Event::BudgetAsked { seq, task, repair });
}

pub(super) fn budget_read(turn: &mut Turn<'_>, budget: &FixBudget) {
    let planned = turn.task().and_then(|task| task.automatic_fix.clone());
    plan(turn, budget, planned.map(|planned| planned.repair));
}

/// Plans the next fix, unless a limit prevents it. A fix that couldn't run is never written.
fn plan(turn: &mut Turn<'_>, budget: &FixBudget, repair: Option<PlannedRepair>) {
    // A repair is not an attempt by the agent.
    let run_limit = || attempting::run_limit(turn).filter(|_| repair.is_none());
    if let Some(message) = limit(turn, budget).or_else(run_limit) {
        return ending::limit(turn, message);
    }
    // Open fixes from an earlier run come first; a new one would never get its turn.
    let is_next = |fix: &TaskKey| !turn.is_passed_over(fix);
    if turn.state.after_limit && budget.open_fixes.iter().any(is_next) {
        return postpone(turn);
    }
    let again = turn.task().is_some_and(|task| came_back(task, budget));
    insert(turn, &budget.next_id, again, repair);
}

fn postpone(turn: &mut Turn<'_>) {
    if let Some(task) = turn.task().map(|task| task.key().clone()) {
        turn.emit(Event::FixPostponed { task });
    }
    picking::continue_run(turn);
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

/// Whether the error that the last fix should have removed is back, in this run or from before.
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

/// Returns the part of an error that tells it from others.
fn blocker(error: &str) -> PlainLine {
    PlainLine::first_of(error, ERROR_CHARS)
}

/// Inserts a fix after its task.
fn insert(turn: &mut Turn<'_>, fix: &TaskId, again: bool, repair: Option<PlannedRepair>) {
    let Some(task) = turn.task() else { return };
    let failure = task.failure.clone().unwrap_or_default();
    let order = FixOrder {
        task: task.key().clone(),
        id: fix.clone(),
        origin: FixOrigin {
            error: failure.cause().to_owned(),
            summary: summary(task, &failure),
            error_type: failure.kind().unwrap_or_default().to_owned(),
            attempted_fix: failure.attempted_fix,
            scope: turn.state.config.spec.clone(),
            extra_step: extra_step(task, again, repair.as_ref()),
        },
    };
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

/// Returns the cause in brief, unless the agent reported it in the form that is quoted verbatim.
fn summary(task: &TaskState, failure: &FailureRecord) -> String {
    let report = task.report.as_ref();
    if report.is_some_and(|report| report.reports_failure) {
        String::new()
    } else {
        short_cause(failure)
    }
}

fn extra_step(task: &TaskState, again: bool, repair: Option<&PlannedRepair>) -> String {
    if let Some(repair) = repair {
        return format!("regreen does this itself: {}", repair.does);
    }
    match task.fixes.last() {
        Some((last, _)) if again => {
            format!("The same error came back after {last}: find another way than that fix took")
        }
        None if again => EARLIER_FIX.to_owned(),
        _ => String::new(),
    }
}

/// Continues once the fix is in the file; it is picked next.
pub(super) fn inserted(turn: &mut Turn<'_>, fix: &TaskId) {
    let Some(task) = turn.task().map(|task| task.key().clone()) else {
        return;
    };
    turn.emit(Event::FixInserted {
        task,
        fix: fix.clone(),
    });
    picking::continue_run(turn);
}

/// Inserts the fix again, if that was interrupted.
pub(super) fn insert_again(turn: &mut Turn<'_>) {
    let Some(task) = turn.task() else { return };
    let repair = task.automatic_fix.as_ref();
    let repair = repair.map(|planned| planned.repair.clone());
    if let Phase::Inserting { fix, again, .. } = task.phase.clone() {
        insert(turn, &fix, again, repair);
    }
}
