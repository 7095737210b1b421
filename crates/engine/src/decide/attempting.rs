//! Attempts: starting one, and what its end means before anything is verified.

use std::collections::BTreeSet;

use regreen_model::{
    AttemptClass, AttemptReport, CommandSeq, Event, Failure, FailureRecord, Mark, PromptKind,
    TaskKey, Timestamp,
};

use super::turn::Turn;
use super::{
    Decision, choosing, ending, failing, modifying, picking, spending, verifying, waiting,
};
use crate::command::{AttemptOrder, Command};
use crate::recovery::FREE_SESSIONS;
use crate::state::{Phase, State, TaskState};

/// So many interruptions cost a task nothing.
const FREE_INTERRUPTIONS: u32 = 2;
/// Said of an agent that claims completion and admits failure in one breath.
const CONTRADICTION: &str = "CONTRADICTION: claimed completion while admitting failure";

/// Starts the next attempt of the task, unless a limit or somebody says stop.
pub(super) fn start(turn: &mut Turn<'_>) {
    let prompt = turn
        .task()
        .map_or(PromptKind::First, TaskState::next_prompt);
    start_with(turn, prompt);
}

/// Starts the next attempt with something to tell the agent.
pub(super) fn start_with(turn: &mut Turn<'_>, prompt: PromptKind) {
    if turn.state.stopping.is_some() {
        postpone(turn, prompt);
        return;
    }
    // A reminder is part of the attempt before it.
    if turn.is_used_up() && prompt != PromptKind::Reminder {
        let max = turn.state.iteration_limit();
        return ending::limit(
            turn,
            format!(
                "ERROR: Maximum global iterations ({max}) reached. Review .progress.md for failure patterns."
            ),
        );
    }
    if let Some(message) = spending::used_up(turn) {
        return ending::limit(turn, message);
    }
    turn.save_state_during(prompt);
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

/// Somebody asked to stop: the attempt is made when the run goes on.
fn postpone(turn: &mut Turn<'_>, prompt: PromptKind) {
    if let Some(task) = turn.task().map(|task| task.key().clone()) {
        turn.emit(Event::AttemptPostponed { task, prompt });
    }
    ending::stop_if_asked(turn);
}

fn order(turn: &Turn<'_>, task: &TaskState, prompt: PromptKind) -> AttemptOrder {
    let config = &turn.state.config;
    let time_factor = if config.recovery { task.time_factor } else { 1 };
    AttemptOrder {
        task: task.picked.clone(),
        attempt: task.attempts + 1,
        iteration: task.iteration(prompt),
        max_iterations: config.limits.task_iterations,
        prompt,
        previous: task.failure.clone(),
        cut_off: cut_off(task, prompt),
        failed_attempt: task.failed_attempt,
        session: task.session.clone().filter(|_| task.goes_on(prompt)),
        timeout_ms: config
            .attempt_timeout_ms
            .saturating_mul(u64::from(time_factor))
            .min(spending::time_left(turn)),
        idle_timeout_ms: config.idle_timeout_ms,
        put_back: turn.state.put_back.clone(),
        context: turn.context_of(task),
        environment: turn.state.environment.clone(),
    }
}

/// What the attempt before this one had come to, where nobody failed.
fn cut_off(task: &TaskState, prompt: PromptKind) -> Option<Box<Failure>> {
    let was_cut_off = matches!(prompt, PromptKind::NewSession | PromptKind::Interrupted);
    let report = task.report.as_ref().filter(|_| was_cut_off);
    report.and_then(|report| report.failure.diagnosis.clone())
}

/// Says what the session of an attempt is called, while the attempt is being made.
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
    let is_decided = choosing::is_decided(turn);
    let Some(task) = turn.task() else { return };
    // Whoever was cut off by the budget has not failed.
    let is_cut_off = spending::will_have_cut_off(turn, report);
    let charged = is_charged(turn, task, report) && !is_cut_off;
    let counted = Some(is_counted(task, &report.class) && !is_cut_off);
    turn.emit(Event::AttemptEnded {
        task: task.key().clone(),
        attempt,
        charged,
        counted,
        report: Box::new(report.clone()),
    });
    for message in &report.plan.warnings {
        turn.emit(Event::Warned {
            message: message.clone(),
        });
    }
    for task in &report.plan.skipped {
        turn.emit(Event::TaskSkipped { task: task.clone() });
    }
    // Whatever a person says of the task itself, the agent's ticks of others are claims.
    match (report.plan.claims.is_empty(), is_decided) {
        (false, _) => ask_claims(turn),
        (true, true) => picking::go_on(turn),
        (true, false) => judge(turn),
    }
}

/// Somebody removed or ticked the task since it was picked: the file is people's between
/// attempts. There is nothing to run, and nothing to repair.
pub(super) fn gone(turn: &mut Turn<'_>) {
    let Some(task) = turn.task().map(|task| task.key().clone()) else {
        return;
    };
    turn.emit(Event::TaskGone { task });
    if !ending::stop_if_asked(turn) {
        turn.read_plan();
    }
}

/// What an attempt is charged to: its task, unless the trouble was none of its making.
fn is_charged(turn: &Turn<'_>, task: &TaskState, report: &AttemptReport) -> bool {
    // Whoever says what becomes of a task does not count its attempts.
    if choosing::has_a_say(task) {
        return false;
    }
    // A reminder is part of the attempt before it, and to be asked to split a task is no attempt
    // at it; but nothing can be cut off for ever.
    let is_extra = task.reminded || task.asked_to_split;
    if is_extra && report.class != AttemptClass::Interrupted {
        return false;
    }
    match report.class {
        AttemptClass::Ordinary => !is_stuck(turn, report),
        AttemptClass::Interrupted => task.interruptions >= FREE_INTERRUPTIONS,
        AttemptClass::Session { .. } => task.lost_sessions >= FREE_SESSIONS,
        AttemptClass::Transient { .. } | AttemptClass::Fatal { .. } => false,
    }
}

/// What gets nowhere is charged to the requests to split it, where there are any.
fn is_stuck(turn: &Turn<'_>, report: &AttemptReport) -> bool {
    turn.state.config.recovery && report.ending.timed_out && !report.progressed
}

/// Whether it is one of the run's attempts. A reminder is part of the one before.
fn is_counted(task: &TaskState, class: &AttemptClass) -> bool {
    match class {
        AttemptClass::Ordinary | AttemptClass::Session { .. } => {
            !task.reminded && !choosing::has_a_say(task)
        }
        AttemptClass::Interrupted | AttemptClass::Transient { .. } | AttemptClass::Fatal { .. } => {
            false
        }
    }
}

/// Asks for the rows that the agent ticked on its own to be verified.
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
    let is_decided = choosing::is_decided(turn);
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
    for TaskKey { id, .. } in taken_back {
        turn.emit(Event::Warned {
            message: format!("the agent's tick of task {id} was taken back: nothing shows that it is done. If it is: regreen done {id}"),
        });
    }
    if is_decided {
        picking::go_on(turn);
    } else {
        judge(turn);
    }
}

/// What the end of the last attempt means, whatever the work is worth.
fn judge(turn: &mut Turn<'_>) {
    let Some(report) = turn.task().and_then(|task| task.report.clone()) else {
        return;
    };
    match &report.class {
        AttemptClass::Fatal { why } => ending::broken(turn, why),
        AttemptClass::Transient { why, until } => waiting::start(turn, why, *until),
        AttemptClass::Interrupted => start_unless_used_up(turn),
        AttemptClass::Session { why } if has_lost_too_many_sessions(turn) => {
            let failure = FailureRecord {
                error: why.clone(),
                ..report.failure.clone()
            };
            failing::fail(turn, failure);
        }
        AttemptClass::Session { .. } => start(turn),
        AttemptClass::Ordinary => match spending::cut_off(turn, &report) {
            Some(message) => ending::limit(turn, message),
            None => judge_ordinary(turn),
        },
    }
}

fn has_lost_too_many_sessions(turn: &Turn<'_>) -> bool {
    turn.task()
        .is_some_and(|task| task.lost_sessions > FREE_SESSIONS)
}

/// Starts the next attempt if the task may have one more; a reminder costs nothing.
pub(super) fn start_unless_used_up(turn: &mut Turn<'_>) {
    let is_free = turn.task().is_some_and(|task| {
        let is_reminder = task.next_prompt() == PromptKind::Reminder;
        is_reminder && task.interruptions <= FREE_INTERRUPTIONS
    });
    if failing::is_used_up(turn) && !is_free {
        failing::give_up(turn);
    } else {
        start(turn);
    }
}

fn judge_ordinary(turn: &mut Turn<'_>) {
    if !modifying::ask_if_requested(turn) {
        judge_work(turn);
    }
}

/// What the attempt says of its work, before anything is verified.
pub(super) fn judge_work(turn: &mut Turn<'_>) {
    let Some(report) = turn.task().and_then(|task| task.report.clone()) else {
        return;
    };
    // Whoever was to split the task and did not is not asked for a signal either.
    let is_last_word = turn
        .task()
        .is_some_and(|task| task.reminded || task.asked_to_split);
    let has_failed = report.ending.timed_out
        || report.unfinished
        || report.reports_failure
        || (is_last_word && !report.signalled);
    if has_failed {
        return failing::fail(turn, report.failure.clone());
    }
    // A reminder is for agents with which all else is well: who admits failure has failed.
    if let Some(words) = &report.contradiction {
        if !report.signalled {
            return failing::fail(turn, report.failure.clone());
        }
        turn.emit(Event::Warned {
            message: CONTRADICTION.to_owned(),
        });
        let failure = FailureRecord {
            error: format!("{CONTRADICTION}: {words}"),
            ..report.failure.clone()
        };
        return failing::fail(turn, failure);
    }
    verifying::start(turn, false);
}
