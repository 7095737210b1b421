//! Failures of which only the kind and a message are known.

use std::collections::BTreeMap;

use regreen_model::{Confidence, Failure, FailureKind};

use crate::cause_origin::EXIT_UNFINISHED;

/// Creates a failure of which only the kind and a message are known.
#[must_use]
pub fn unexplained_failure(kind: FailureKind, message: String) -> Failure {
    Failure {
        category: kind.category(),
        kind,
        blocked_on: Some(message.clone()),
        message,
        line: None,
        retryable: kind.retryable(),
        retry_mode: kind.retry_mode(),
        completed_steps: Vec::new(),
        files_modified: Vec::new(),
        tool_usage: BTreeMap::new(),
        last_successful_tool: None,
        suggested_actions: vec![advice(kind).to_owned()],
        repair: None,
        rule: EXIT_UNFINISHED.to_owned(),
        confidence: Confidence::percent(60),
        fingerprint: kind.name().to_owned(),
    }
}

fn advice(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::AgentMissing => "Install the agent, or choose another with --agent",
        FailureKind::RateLimited | FailureKind::ServiceUnavailable => "Wait, then retry",
        FailureKind::AuthFailed => "Log in again",
        _ => "Complete remaining work",
    }
}
