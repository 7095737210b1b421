//! Independent verification: the agent's word is never enough.

use regreen_diagnosis::{outranks_verify, refuted_claim};
use regreen_model::{
    Event, Failure, FailureKind, FailureRecord, Mark, PromptKind, RedTests, Verdict,
};

use super::turn::Turn;
use super::{attempting, ending, healing, reviewing, saving, services, spending};
use crate::command::Command;
use crate::state::TaskState;

/// The error in strict mode if Verify passed only the second time.
pub(super) const FLAKY: &str =
    "Verify failed, and passed when it ran again: flaky. With --strict, it has to pass every time";

const NOT_REPEATED: &str = "Verify failed, and had nothing to check when it ran again";

const NO_VERIFY: &str = "nothing verifies it. Add a Verify to it, or set a gate";

pub(super) fn start(turn: &mut Turn<'_>, again: bool) {
    run(turn, again, false);
}

/// Verifies a task that a fix may have healed, before the agent is asked again.
pub(super) fn start_first(turn: &mut Turn<'_>) {
    run(turn, false, true);
}

fn run(turn: &mut Turn<'_>, again: bool, first: bool) {
    let Some(task) = turn.task() else { return };
    let (key, attempt) = (task.key().clone(), task.attempts);
    services::keep_for_check(turn, again);
    let Some(task) = turn.task() else { return };
    let gate = turn.state.config.gate.clone();
    let command = Command::Verify {
        task: key.clone(),
        attempt,
        commands: task.picked.verify.clone(),
        // The tasks below a group have already passed the gate.
        gate: gate.filter(|_| !task.picked.is_group),
        timeout_ms: turn.state.config.verify_timeout_ms,
        environment: turn.state.environment.clone(),
    };
    turn.ask(command, |seq| Event::VerifyStarted {
        seq,
        task: key,
        attempt,
        again,
        first,
    });
    // The attempt is over. When the run is resumed, it is verified, not repeated.
    ending::stop_if_asked(turn);
}

/// The result of a check.
pub(super) struct Verified<'v> {
    pub(super) verdict: &'v Verdict,
    pub(super) diagnosis: Option<&'v Failure>,
    /// The tests that failed, if it names them.
    pub(super) tests: Option<&'v RedTests>,
    pub(super) took_ms: u64,
}

pub(super) fn ended(turn: &mut Turn<'_>, again: bool, first: bool, result: &Verified<'_>) {
    let Verified {
        verdict,
        diagnosis,
        tests,
        took_ms,
    } = *result;
    let Some(task) = turn.task() else { return };
    let is_fix = task.picked.is_fix();
    let (key, attempt) = (task.key().clone(), task.attempts);
    // The agent has claimed success before the fix: a check that says nothing refutes it again.
    let after_fix = diagnosis.filter(|_| first).cloned().map(refuted_claim);
    turn.emit(Event::VerifyEnded {
        task: key,
        attempt,
        verdict: verdict.clone(),
        diagnosis: after_fix.map(Box::new),
        tests: tests.cloned().map(Box::new),
        took_ms,
    });
    let is_green = *verdict == Verdict::Green;
    if let Some(question) = open_question(turn).filter(|_| !is_green && !first) {
        return healing::fail(turn, question);
    }
    match verdict {
        // The task it fixes decides whether the fix worked.
        Verdict::Red { .. } if is_fix => accept(turn, verdict),
        Verdict::Red { error } if first => {
            let red = red_check(turn, error, diagnosis);
            if !reviewing::start(turn, true, red) {
                attempting::start_unless_used_up(turn);
            }
        }
        // The first failure may be bad luck, so Verify runs once more before it counts.
        Verdict::Red { .. } if !again => start(turn, true),
        Verdict::Red { error } => {
            let red = red_check(turn, error, diagnosis);
            if !reviewing::start(turn, false, red.clone()) {
                healing::fail_verify(turn, cause(turn, red));
            }
        }
        Verdict::Green if again && turn.state.config.strict && !is_fix => {
            healing::fail_verify(turn, FailureRecord::new(FLAKY));
        }
        // It was red, and then nothing was checked: that takes nothing back.
        Verdict::Unverified if again => {
            healing::fail_verify(turn, FailureRecord::new(NOT_REPEATED));
        }
        Verdict::Unverified if must_be_checked(turn) => fail_unchecked(turn, NO_VERIFY),
        Verdict::Green | Verdict::Unverified => accept(turn, verdict),
    }
}

fn red_check(turn: &Turn<'_>, error: &str, diagnosis: Option<&Failure>) -> FailureRecord {
    FailureRecord {
        error: error.to_owned(),
        attempted_fix: attempted_fix(turn),
        diagnosis: diagnosis.cloned().map(Box::new),
        ..FailureRecord::default()
    }
}

/// Returns the failure of an attempt that stopped to ask a question. If its work passes all the
/// same, only the signal is missing; otherwise the question is the cause, whatever the check says.
fn open_question(turn: &Turn<'_>) -> Option<FailureRecord> {
    let report = turn.task()?.report.as_ref()?;
    let failure = report.failure.confident_diagnosis()?;
    let asks = failure.kind == FailureKind::AskedQuestion && !report.signalled;
    asks.then(|| report.failure.clone())
}

/// Chooses the cause behind a failed Verify: an agent that asked, refused or crashed explains the
/// failure better than its consequence does.
pub(super) fn cause(turn: &Turn<'_>, red: FailureRecord) -> FailureRecord {
    let report = turn.task().and_then(|task| task.report.as_ref());
    let Some(report) = report else { return red };
    if report.signalled {
        let diagnosis = red.diagnosis.map(|found| Box::new(refuted_claim(*found)));
        return FailureRecord { diagnosis, ..red };
    }
    let own = report
        .failure
        .confident_diagnosis()
        .filter(|own| outranks_verify(own));
    let shows_the_same = |own: &Failure| {
        let shown = red.diagnosis.as_ref();
        shown.is_some_and(|shown| shown.fingerprint == own.fingerprint)
    };
    match own {
        Some(own) if !shows_the_same(own) => FailureRecord {
            error: format!("{}\n{}", report.failure.error, red.error),
            ..report.failure.clone()
        },
        _ => red,
    }
}

/// In strict mode, fails a task that nothing verifies before its agent is asked. Returns whether it
/// did. Fixes are exempt: the task they fix decides.
pub(super) fn fail_unless_checked(turn: &mut Turn<'_>) -> bool {
    let Some(task) = turn.task().filter(|_| must_be_checked(turn)) else {
        return false;
    };
    let picked = &task.picked;
    let why = if picked.verify.is_empty() && turn.state.config.gate.is_none() {
        NO_VERIFY
    } else if picked.is_partly_checked() {
        "its Verify states more than regreen can check; `regreen lint` shows what"
    } else {
        return false;
    };
    fail_unchecked(turn, why);
    true
}

/// Whether the task must be verified to pass.
fn must_be_checked(turn: &Turn<'_>) -> bool {
    let task = turn.task();
    let is_original = task.is_some_and(|task| !task.picked.is_fix() && !task.picked.is_group);
    is_original && turn.state.config.strict
}

fn fail_unchecked(turn: &mut Turn<'_>, why: &str) {
    let Some(task) = turn.task() else { return };
    let id = &task.key().id;
    let message = format!("ERROR: Task {id} can't pass with --strict: {why}");
    ending::limit(turn, message);
}

fn attempted_fix(turn: &Turn<'_>) -> String {
    let report = turn.task().and_then(|task| task.report.as_ref());
    report
        .map(|report| report.failure.attempted_fix.clone())
        .unwrap_or_default()
}

/// Accepts work that nothing speaks against. A missing signal is asked for once.
pub(super) fn accept(turn: &mut Turn<'_>, verdict: &Verdict) {
    let Some(task) = turn.task() else { return };
    // No agent has worked on it; regreen does all that it asks for.
    if task.picked.is_group || is_done_by_service(task) {
        return saving::tick(turn);
    }
    let has_signalled = task.report.as_ref().is_some_and(|report| report.signalled);
    if !has_signalled {
        return attempting::start_with(turn, PromptKind::Reminder);
    }
    if let Some(admission) = task
        .report
        .as_ref()
        .and_then(|report| report.admission.clone())
    {
        if *verdict == Verdict::Unverified {
            return attempting::contradicted(turn, &admission);
        }
        turn.emit(Event::Warned {
            message: format!(
                "task {} passed, but its agent says: {admission}",
                task.key()
            ),
        });
    }
    let Some(task) = turn.task() else { return };
    if *verdict == Verdict::Unverified && did_nothing(task) {
        let may_try_again = !healing::is_used_up(turn) && !turn.is_used_up();
        if task.noops == 0 && may_try_again && !spending::is_used_up(turn) {
            return attempting::start_with(turn, PromptKind::NoOp);
        }
        let (task, mark) = (task.key().clone(), Mark::NothingChanged);
        turn.emit(Event::Marked { task, mark });
    }
    saving::tick(turn);
}

/// Whether the task asks only for a service, which is ready without the help of an agent.
fn is_done_by_service(task: &TaskState) -> bool {
    task.attempts == 0 && task.picked.is_only_service()
}

/// Whether no file was changed and, as far as is known, no tool was used.
fn did_nothing(task: &TaskState) -> bool {
    let used_tools = task.report.as_ref().and_then(|report| report.used_tools);
    !task.changed_files && used_tools != Some(true)
}
