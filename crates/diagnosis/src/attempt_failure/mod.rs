//! Diagnoses an attempt by its agent's words and by other output.

mod agent_service;
mod checks;
mod delegated;
mod questions;
mod unexplained;
mod unsignalled;
mod words;

pub use agent_service::agent_trouble;
pub use checks::{SilentCheck, check_failure, refuted_claim};
pub use delegated::DelegatedAttempt;
pub use unexplained::unexplained_failure;

use regreen_model::{
    AttemptClass, AttemptReport, Evidence, Failure, FailureCategory, FailureKind, TaskFailure,
    Transcript,
};

use crate::agent_crash::crash;
use crate::cause_origin::{CauseOrigin, QUESTION_TOOL};
use crate::text::one_line;
use checks::blocked_by_time;
use questions::{asked, quoting_question};
use unsignalled::{lacks_only_signal, unsignalled_error};
pub(crate) use words::is_convincing;
use words::{CONVINCING, evidence_of_attempt, explain};

/// Adds the cause of the failure to the report of an attempt at a task, unless the attempt reports
/// success.
#[must_use]
pub fn diagnosed(
    mut report: AttemptReport,
    transcript: &Transcript,
    files_changed: Vec<String>,
) -> AttemptReport {
    let has_red_tool = matches!(transcript.last_tool, Some((_, Some(code))) if code != 0);
    let changed_nothing = files_changed.is_empty() && report.files_changed == 0;
    if report.signalled && (has_red_tool || changed_nothing) && report.contradiction.is_none() {
        report.contradiction.clone_from(&report.admission);
    }
    let found = task_failure(&report, transcript, files_changed);
    if let Some(error) = found.as_ref().and_then(|found| error_of(&report, found)) {
        report.failure.error = error;
    } else if lacks_only_signal(&report, found.as_ref()) {
        report.failure.error = unsignalled_error(&report, transcript);
    }
    report.failure.diagnosis = found.map(Box::new);
    report
}

/// Explains why an attempt at a task failed; `None` if it reports success.
fn task_failure(
    report: &AttemptReport,
    transcript: &Transcript,
    files_changed: Vec<String>,
) -> Option<Failure> {
    if report.signalled && !report.reports_failure && !report.ending.timed_out {
        return None;
    }
    let evidence = Evidence {
        files_changed: files_changed.clone(),
        ..evidence_of_attempt(report, transcript)
    };
    let explained = explain(&evidence, transcript, true);
    let asked = asked(report, transcript, explained.as_ref());
    let failure = cause(report, transcript, asked.or(explained))?;
    Some(Failure {
        // The actual changes count, not what the agent claims.
        files_modified: files_changed,
        ..failure
    })
}

/// Chooses the cause of an attempt's failure: first what the agent asks for or reports, then a
/// crash of the agent, then any other explanation.
fn cause(
    report: &AttemptReport,
    transcript: &Transcript,
    told: Option<Failure>,
) -> Option<Failure> {
    let failure = match crash(report, transcript) {
        Some(crash) if !told.as_ref().is_some_and(is_for_a_person) => Some(crash),
        _ => told,
    }?;
    Some(at_time_limit(
        quoting_question(failure, transcript),
        report,
        transcript,
    ))
}

/// Returns whether a cause found in an attempt explains its failure better than a failed Verify,
/// which only shows the consequence: the agent asks, refuses, lacks a login, or crashed.
#[must_use]
pub fn outranks_verify(failure: &Failure) -> bool {
    is_for_a_person(failure) || CauseOrigin::of(failure) == CauseOrigin::AgentCrash
}

/// Returns whether the agent says that a person must decide, provide information or log in.
fn is_for_a_person(failure: &Failure) -> bool {
    let needs_login = matches!(
        failure.kind,
        FailureKind::AuthFailed
            | FailureKind::MissingCredentialsInfo
            | FailureKind::NoCredit
            | FailureKind::PermissionPrompt
    );
    let needs_decision = matches!(
        failure.category,
        FailureCategory::MissingContext | FailureCategory::InvalidTask
    );
    (needs_login || needs_decision) && failure.confidence >= CONVINCING
}

/// Blames the time limit if that ended the attempt; what the agent did last is only evidence.
fn at_time_limit(failure: Failure, report: &AttemptReport, transcript: &Transcript) -> Failure {
    if !report.ending.timed_out || CauseOrigin::of(&failure) != CauseOrigin::TimeLimit {
        return failure;
    }
    let mut failure = blocked_by_time(failure);
    if let Some(activity) = last_activity(transcript) {
        let advice = format!("Find out why this took so long: {activity}");
        failure.suggested_actions.push(advice);
    }
    failure
}

/// Returns what an agent was doing when it was ended, in one line.
fn last_activity(transcript: &Transcript) -> Option<String> {
    let printed = || {
        let output = transcript.output.as_ref()?;
        let last = output.end().lines().map(str::trim);
        last.rev().find(|line| !line.is_empty()).map(one_line)
    };
    let activity = transcript.last_activity.clone();
    activity.or_else(printed).filter(|line| !line.is_empty())
}

/// Returns the text for a cause that the agent's own report doesn't mention.
fn error_of(report: &AttemptReport, failure: &Failure) -> Option<String> {
    let is_told = report.reports_failure
        || report.ending.timed_out
        || report.modification.is_some()
        || report.class != AttemptClass::Ordinary
        || failure.rule == QUESTION_TOOL;
    let blocker = failure.blocked_on.as_deref().filter(|_| !is_told)?;
    let exit = report.ending.exit_code;
    match CauseOrigin::of(failure) {
        CauseOrigin::AgentCrash => Some(match exit.filter(|_| report.ending.signal.is_none()) {
            Some(code) => format!("The agent crashed (exit code {code}): {blocker}"),
            None => format!("The agent crashed: {blocker}"),
        }),
        _ if report.unfinished => None,
        _ if is_for_a_person(failure) => Some(format!("{}: {blocker}", TaskFailure::NO_BLOCK)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
