//! Attempts: starting them, and what their end decides before anything is verified.

use std::collections::BTreeSet;

use regreen_diagnosis::CONTRADICTION;
use regreen_model::{
    AttemptClass, AttemptReport, CommandSeq, Event, Failure, FailureRecord, Limits, Mark,
    PlanChanges, PromptKind, TaskId, TaskKey, Timestamp,
};

use super::turn::Turn;
use super::{Decision, asking, ending, healing, modifying, picking, services, spending, verifying};
use crate::command::{AttemptOrder, Command};
use crate::recovery::{Charge, FailureClass, RecoveryRule};
use crate::state::{Phase, State, TaskState};

/// Starts the next attempt at the task, unless a limit or the user prevents it.
pub(super) fn start(turn: &mut Turn<'_>) {
    let prompt = turn
        .task()
        .map_or(PromptKind::First, TaskState::next_prompt);
    start_with(turn, prompt);
}

/// Starts the next attempt with this kind of prompt.
pub(super) fn start_with(turn: &mut Turn<'_>, prompt: PromptKind) {
    if turn.state.stopping.is_some() {
        postpone(turn, prompt);
        return;
    }
    // A reminder belongs to the previous attempt.
    let limit = match prompt {
        PromptKind::Reminder => spending::used_up(turn),
        _ => run_limit(turn),
    };
    if let Some(message) = limit {
        return ending::limit(turn, message);
    }
    turn.save_state_during(prompt);
    services::keep(turn);
    let Some(order) = turn.task().map(|task| order(turn, task, prompt)) else {
        return;
    };
    let (task, attempt, timeout_ms) = (order.task.task.clone(), order.attempt, order.timeout_ms);
    turn.ask(Command::Attempt(Box::new(order)), |seq| {
        Event::AttemptStarted {
            seq,
            task,
            attempt,
            prompt,
            timeout_ms,
        }
    });
}

/// Returns the message about the run limit that rules out another attempt, if there is one.
pub(super) fn run_limit(turn: &Turn<'_>) -> Option<String> {
    if !turn.is_used_up() {
        return spending::used_up(turn);
    }
    let progress = turn.state.config.progress_file.as_deref();
    let progress = progress.unwrap_or(".progress.md");
    Some(Limits::used_up(
        turn.state.iteration_limit(),
        Some(progress),
    ))
}

/// Leaves the attempt until the run is resumed, because the user asked to stop.
fn postpone(turn: &mut Turn<'_>, prompt: PromptKind) {
    if let Some(task) = turn.task().map(|task| task.key().clone()) {
        turn.emit(Event::AttemptPostponed { task, prompt });
    }
    ending::stop_if_asked(turn);
}

fn order(turn: &Turn<'_>, task: &TaskState, prompt: PromptKind) -> AttemptOrder {
    let config = &turn.state.config;
    let time_factor = if config.recovery { task.time_factor } else { 1 };
    // A suggested limit that was too short is given up without recovery as well.
    let limit_factor = if config.auto_timeout {
        task.time_factor
    } else {
        time_factor
    };
    AttemptOrder {
        task: task.picked.clone(),
        attempt: task.attempts + 1,
        iteration: task.iteration(prompt),
        max_iterations: config.limits.task_iterations,
        prompt,
        previous: task.failure.clone(),
        interrupted: interrupted(task, prompt),
        failed_attempt: task.failed_attempt,
        session: task
            .session
            .clone()
            .filter(|_| task.continues_session(prompt)),
        timeout_ms: config
            .time_limit(task.picked.features.as_ref(), u64::from(limit_factor))
            .min(spending::time_left(turn)),
        // Whichever limit ended the last attempt, this one gets more.
        idle_timeout_ms: config
            .idle_timeout_ms
            .map(|limit| limit.saturating_mul(u64::from(time_factor))),
        put_back: turn.state.put_back.clone(),
        context: turn.context_of(task),
        left_running: task
            .report
            .as_ref()
            .map(|report| report.left_running.clone())
            .unwrap_or_default(),
        environment: turn.state.environment.clone(),
        experience: turn.experience_of(task),
        guidance: turn.guidance_of(task),
    }
}

/// Returns the diagnosis of the previous attempt, if it was interrupted.
fn interrupted(task: &TaskState, prompt: PromptKind) -> Option<Box<Failure>> {
    let was_interrupted = matches!(prompt, PromptKind::NewSession | PromptKind::Interrupted);
    let report = task.report.as_ref().filter(|_| was_interrupted);
    report.and_then(|report| report.failure.diagnosis.clone())
}

/// Records the name of an attempt's session while the attempt is running.
pub(super) fn seen(state: &State, now: Timestamp, seq: CommandSeq, session: &str) -> Decision {
    let Some(task) = state.task_of(seq) else {
        return Decision::default();
    };
    let mut turn = Turn::about(state, now, task.key());
    if let Phase::Attempting { attempt, .. } = task.phase {
        turn.emit(Event::SessionSeen {
            task: task.key().clone(),
            attempt,
            session: session.to_owned(),
        });
    }
    turn.decision()
}

pub(super) fn ended(turn: &mut Turn<'_>, attempt: u32, report: &AttemptReport) {
    let is_decided = asking::is_decided(turn);
    let Some(task) = turn.task() else { return };
    // An attempt that ended because the budget ran out has not failed.
    let is_out_of_budget = spending::will_have_ended(turn, report);
    let charged = is_charged(turn, task, report) && !is_out_of_budget;
    let counted = Some(is_counted(task, report) && !is_out_of_budget);
    turn.emit(Event::AttemptEnded {
        task: task.key().clone(),
        attempt,
        charged,
        counted,
        report: Box::new(report.clone()),
    });
    tell_changes(turn, &report.plan);
    // The agent's ticks on other tasks are claims even if a person has decided about this task.
    if !report.plan.claims.is_empty() {
        ask_claims(turn);
    } else if is_decided {
        picking::continue_run(turn);
    } else {
        judge(turn);
    }
}

/// Reports changes to the plan and what regreen did about them.
fn tell_changes(turn: &mut Turn<'_>, changes: &PlanChanges) {
    for message in &changes.warnings {
        turn.emit(Event::Warned {
            message: message.clone(),
        });
    }
    for task in &changes.skipped {
        turn.emit(Event::TaskSkipped { task: task.clone() });
    }
}

/// Handles changes to the plan during a check, a hook or a repair. Unlike an agent's ticks, theirs
/// are not judged: the rows stay open and will be run.
pub(super) fn plan_reviewed(
    state: &State,
    now: Timestamp,
    task: Option<&TaskKey>,
    changes: &PlanChanges,
) -> Decision {
    let mut turn = Turn::about_run(state, now);
    tell_review(&mut turn, task, changes);
    turn.decision()
}

/// Records changes to the plan that no attempt made.
pub(super) fn tell_review(turn: &mut Turn<'_>, task: Option<&TaskKey>, changes: &PlanChanges) {
    turn.emit(Event::PlanReviewed {
        task: task.cloned(),
        changes: changes.clone(),
    });
    tell_changes(turn, changes);
    warn_of_ticks(turn, changes.claims.iter().map(|claim| &claim.task.id));
}

/// How many reverted ticks are named one by one.
const NAMED_TICKS: usize = 5;

/// Warns of reverted ticks, in bulk if there are many: an agent may tick thousands of rows it
/// added.
fn warn_of_ticks<'t>(turn: &mut Turn<'_>, ids: impl Iterator<Item = &'t TaskId>) {
    let ids: Vec<&TaskId> = ids.collect();
    for id in ids.iter().take(NAMED_TICKS) {
        turn.emit(Event::Warned {
            message: format!("the agent's tick of task {id} was taken back: nothing shows that it is done. If it is, run `regreen done {id}`"),
        });
    }
    if ids.len() > NAMED_TICKS {
        let more = ids.len() - NAMED_TICKS;
        turn.emit(Event::Warned {
            message: format!("the agent's ticks of {more} more tasks were taken back"),
        });
    }
}

/// Leaves a task that someone removed or ticked since it was picked, as people may between
/// attempts. There is nothing left to run or fix.
pub(super) fn gone(turn: &mut Turn<'_>) {
    let Some(task) = turn.task().map(|task| task.key().clone()) else {
        return;
    };
    turn.emit(Event::TaskGone { task });
    if !ending::stop_if_asked(turn) {
        turn.read_plan();
    }
}

/// Whether an attempt is charged to its task rather than to something else.
fn is_charged(turn: &Turn<'_>, task: &TaskState, report: &AttemptReport) -> bool {
    // Attempts don't count if a person has decided about the task.
    if task.choice.is_some() {
        return false;
    }
    // A reminder belongs to the previous attempt, and a request to split isn't an attempt. But even
    // these can't be interrupted for ever.
    let is_extra = task.reminded || task.asked_to_split;
    if is_extra && report.class != AttemptClass::Interrupted {
        return false;
    }
    let recovery = turn.state.config.recovery;
    let class = FailureClass::of_ending(report);
    let charge = class.map(|class| RecoveryRule::of(class).charge);
    charge.is_none_or(|charge| charge.is_taken_from_task(&task.history(), recovery))
}

/// Whether it counts as one of the run's attempts. A reminder belongs to the previous one.
fn is_counted(task: &TaskState, report: &AttemptReport) -> bool {
    let class = FailureClass::of_ending(report);
    let charge = class.map(|class| RecoveryRule::of(class).charge);
    let is_extra = task.reminded || task.choice.is_some();
    !is_extra && charge.is_none_or(Charge::is_taken_from_run)
}

/// Asks for the rows that the agent ticked of its own accord to be verified.
pub(super) fn ask_claims(turn: &mut Turn<'_>) {
    let Some(task) = turn.task() else { return };
    let key = task.key().clone();
    let claims = task
        .report
        .as_ref()
        .map(|report| report.plan.claims.clone());
    let command = Command::JudgeClaims {
        task: key.clone(),
        claims: claims.unwrap_or_default(),
        gate: turn.state.config.gate.clone(),
        environment: turn.state.environment.clone(),
    };
    turn.ask(command, |seq| Event::ClaimsAsked { seq, task: key });
}

pub(super) fn claims_judged(turn: &mut Turn<'_>, kept: &[TaskKey], taken_back: &[TaskKey]) {
    let is_decided = asking::is_decided(turn);
    let Some(key) = turn.task().map(|task| task.key().clone()) else {
        return;
    };
    turn.emit(Event::ClaimsJudged {
        task: key,
        kept: kept.to_vec(),
        taken_back: taken_back.to_vec(),
    });
    for task in kept {
        turn.emit(Event::TaskDone {
            task: task.clone(),
            marks: BTreeSet::from([Mark::Claimed]),
            hash: None,
        });
    }
    warn_of_ticks(turn, taken_back.iter().map(|task| &task.id));
    if is_decided {
        picking::continue_run(turn);
    } else {
        judge(turn);
    }
}

/// Decides what follows the last attempt. Trouble of the agent's own is not a failure of the task,
/// unless it happens too often.
fn judge(turn: &mut Turn<'_>) {
    let Some(task) = turn.task() else { return };
    let Some(report) = task.report.clone() else {
        return;
    };
    let class = FailureClass::of_ending(&report).filter(|class| class.is_the_agents_own());
    match class {
        Some(class) if !RecoveryRule::of(class).is_used_up(&task.history()) => {
            healing::recover(turn);
        }
        Some(_) => {
            let failure = FailureRecord {
                error: healing::agent_trouble(task).unwrap_or_default(),
                ..report.failure.clone()
            };
            healing::fail(turn, failure);
        }
        None => match spending::ended_by_budget(turn, &report) {
            Some(message) => ending::limit(turn, message),
            None => judge_ordinary(turn),
        },
    }
}

/// Starts the next attempt if the task has one left.
pub(super) fn start_unless_used_up(turn: &mut Turn<'_>) {
    let limits = &turn.state.config.limits;
    let task = turn.task();
    if task.is_some_and(|task| task.history().may_attempt(limits)) {
        start(turn);
    } else {
        healing::give_up(turn);
    }
}

fn judge_ordinary(turn: &mut Turn<'_>) {
    if !modifying::ask_if_requested(turn) {
        judge_work(turn);
    }
}

/// Decides by what the attempt reports about its work, before anything is verified.
pub(super) fn judge_work(turn: &mut Turn<'_>) {
    let Some(report) = turn.task().and_then(|task| task.report.clone()) else {
        return;
    };
    // An agent that was asked to split the task and didn't is not asked for a signal either.
    let is_final = turn
        .task()
        .is_some_and(|task| task.reminded || task.asked_to_split);
    let has_failed = report.ending.timed_out
        || report.unfinished
        || report.reports_failure
        || (is_final && !report.signalled);
    if has_failed {
        return healing::fail(turn, report.failure.clone());
    }
    // Reminders are for agents that only forgot the signal; one that admits failure has failed.
    if let Some(words) = &report.contradiction {
        if !report.signalled {
            return healing::fail(turn, report.failure.clone());
        }
        return contradicted(turn, words);
    }
    verifying::start(turn, false);
}

/// Handles an agent that signalled completion although its words, and something else, contradict
/// it.
pub(super) fn contradicted(turn: &mut Turn<'_>, words: &str) {
    turn.emit(Event::Warned {
        message: CONTRADICTION.to_owned(),
    });
    let report = turn.task().and_then(|task| task.report.as_ref());
    let failure = FailureRecord {
        error: format!("{CONTRADICTION}: {words}"),
        ..report
            .map(|report| report.failure.clone())
            .unwrap_or_default()
    };
    healing::fail(turn, failure);
}
