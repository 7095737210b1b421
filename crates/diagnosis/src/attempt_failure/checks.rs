//! Diagnoses a failed check of the work.

use regreen_model::{Confidence, Evidence, Failure, FailureKind};

use crate::cause_origin::{CauseOrigin, EXIT_CODE};
use crate::rank;
use crate::rank::fingerprint;
use crate::report::child_failure::TIME_PHRASE;
use crate::suggestions::suggestions_for;

/// Explains why a check failed. If its output says little, `finding` describes what it found.
#[must_use]
pub fn check_failure(
    evidence: &Evidence,
    exit_code: i32,
    finding: Option<&str>,
    is_silent: bool,
) -> Option<Failure> {
    let found = rank(evidence)?;
    match CauseOrigin::of(&found) {
        CauseOrigin::TimeLimit if evidence.ending.timed_out => Some(blocked_by_time(found)),
        CauseOrigin::Exit if is_silent => {
            let command = evidence.command.as_deref().unwrap_or_default();
            let first = command.lines().next().unwrap_or_default();
            let how = format!("`{first}` exited with {exit_code}");
            let blocker = match finding {
                Some(finding) => format!("{how}: {finding}"),
                None => how,
            };
            Some(Failure {
                fingerprint: fingerprint(found.kind, &blocker),
                message: blocker.clone(),
                blocked_on: Some(blocker),
                line: None,
                ..found
            })
        }
        _ => Some(found),
    }
}

/// Explains a check that failed although the agent claimed success. If only its exit code tells
/// why, the claim was false.
#[must_use]
pub fn refuted_claim(check: Failure) -> Failure {
    if check.rule != EXIT_CODE {
        return check;
    }
    let kind = FailureKind::FalseSuccessClaim;
    let blocker = check.blocked_on.as_deref().unwrap_or_default();
    Failure {
        category: kind.category(),
        kind,
        retryable: kind.retryable(),
        retry_mode: kind.retry_mode(),
        suggested_actions: suggestions_for(kind, None),
        confidence: Confidence::percent(70),
        fingerprint: fingerprint(kind, blocker),
        ..check
    }
}

/// Names the time limit as the blocker.
pub(super) fn blocked_by_time(failure: Failure) -> Failure {
    Failure {
        blocked_on: Some(TIME_PHRASE.to_owned()),
        line: None,
        fingerprint: fingerprint(failure.kind, TIME_PHRASE),
        ..failure
    }
}
