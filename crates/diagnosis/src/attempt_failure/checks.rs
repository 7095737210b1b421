//! Diagnoses a failed check of the work.

use regreen_model::{Confidence, Evidence, Failure, FailureKind};

use crate::cause_origin::{CauseOrigin, EXIT_CODE};
use crate::rank;
use crate::rank::fingerprint;
use crate::report::child_failure::TIME_PHRASE;
use crate::suggestions::suggestions_for;

/// A failed check that printed nothing.
#[derive(Clone, Copy, Debug)]
pub struct SilentCheck<'a> {
    /// Its exit code.
    pub exit_code: i32,
    /// The line that failed, if it is known.
    pub line: Option<&'a str>,
    /// What it found, if that is known from its text.
    pub finding: Option<&'a str>,
}

impl SilentCheck<'_> {
    fn blocker(&self) -> String {
        let code = self.exit_code;
        let how = match self.line {
            Some(line) => format!("`{line}` exited with {code}"),
            None => format!("Verify exited with {code} and printed nothing"),
        };
        match self.finding {
            Some(finding) => format!("{how}: {finding}"),
            None => how,
        }
    }
}

/// Explains why a check failed.
#[must_use]
pub fn check_failure(evidence: &Evidence, silent: Option<SilentCheck<'_>>) -> Option<Failure> {
    let found = rank(evidence)?;
    match (CauseOrigin::of(&found), silent) {
        (CauseOrigin::TimeLimit, _) if evidence.ending.timed_out => Some(blocked_by_time(found)),
        (CauseOrigin::Exit, Some(silent)) => {
            let blocker = silent.blocker();
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
