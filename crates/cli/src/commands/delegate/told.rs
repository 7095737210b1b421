//! What whoever delegated is told.

use regreen_diagnosis::Report;
use regreen_engine::delegation::End;
use regreen_model::{StopSignal, Timestamp};
use regreen_runtime::{DelegationEnd, DelegationResult};
use regreen_store::Delegation;
use serde_json::{Value, json};

use crate::exit::Exit;

pub(super) fn exit(end: &DelegationEnd) -> Exit {
    match end {
        DelegationEnd::Ended(End::Done) => Exit::Success,
        DelegationEnd::Ended(End::Failed) => Exit::Incomplete,
        DelegationEnd::Ended(End::NeedsPerson { .. }) => Exit::NeedsPerson,
        DelegationEnd::Ended(End::TryLater { .. }) => Exit::TryLater,
        DelegationEnd::Ended(End::SetUp { .. }) => Exit::SetUp,
        DelegationEnd::Stopped(StopSignal::Interrupt) => Exit::Interrupted,
        DelegationEnd::Stopped(StopSignal::Terminate) => Exit::Terminated,
    }
}

/// The answer with its summary, or the report of the failure; nothing if it was stopped.
pub(super) fn text(delegated: &DelegationResult) -> String {
    match (&delegated.completion, &delegated.failure) {
        (Some(completion), _) => completion.render(),
        (None, Some(failure)) => Report::new(failure.clone()).render(),
        (None, None) => String::new(),
    }
}

/// Why it ended, where the report does not say it.
pub(super) fn why(end: &DelegationEnd) -> Option<String> {
    match end {
        DelegationEnd::Ended(End::NeedsPerson { why }) => {
            Some(format!("A person must decide: {why}"))
        }
        DelegationEnd::Ended(End::TryLater { why }) => Some(format!("Try again later: {why}")),
        DelegationEnd::Ended(End::SetUp { why }) => {
            Some(format!("The set-up must be fixed first: {why}"))
        }
        DelegationEnd::Stopped(_) => Some("stopped; the agent was ended".to_owned()),
        DelegationEnd::Ended(End::Done | End::Failed) => None,
    }
}

/// All of it, for scripts.
pub(super) fn object(delegated: &DelegationResult, exit: Exit) -> Value {
    let DelegationResult {
        session_id,
        end,
        completion,
        failure,
        attempts,
    } = delegated;
    json!({
        "session_id": session_id,
        "status": status(end),
        "exit_code": exit.code(),
        "why": why(end),
        "completion": completion,
        "failure": failure,
        "attempts": attempts.iter().map(attempt).collect::<Vec<_>>(),
    })
}

fn status(end: &DelegationEnd) -> &'static str {
    match end {
        DelegationEnd::Ended(End::Done) => "completed",
        DelegationEnd::Ended(_) => "failed",
        DelegationEnd::Stopped(_) => "stopped",
    }
}

fn attempt(row: &Delegation) -> Value {
    let at = Timestamp::from_millis(u64::try_from(row.at_ms).unwrap_or(0));
    json!({
        "number": row.number,
        "time": at.iso8601(),
        "prompt_kind": row.prompt_kind,
        "timeout_ms": row.timeout_ms,
        "duration_ms": row.duration_ms,
        "outcome": row.outcome,
        "category": row.category,
        "kind": row.kind,
        "blocked_on": row.blocked_on,
        "files": row.files,
        "tried": row.tried,
        "helped": row.helped,
        "log": row.log,
    })
}
