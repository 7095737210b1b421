//! Finds what keeps an agent from its own service.

use regreen_model::{
    ApiTrouble, Confidence, Ending, Evidence, FailureKind, OutputKind, ResetTime, Transcript,
    TroubleClass, named_span,
};

use super::words::{evidence_of_words, explain};
use crate::cause_origin::CauseOrigin;

/// The confidence required to wait for the agent's service, or to stop the run because of it.
const CERTAIN: Confidence = Confidence::percent(80);

/// Finds what keeps an agent from its own service, if only its output can tell.
#[must_use]
pub fn agent_trouble(transcript: &Transcript, ending: Ending) -> Option<ApiTrouble> {
    let has_failed = ending.exit_code.is_some_and(|code| code != 0) && !ending.timed_out;
    if transcript.output_kind != OutputKind::Mixed || !has_failed {
        return None;
    }
    let evidence = Evidence {
        ending,
        ..evidence_of_words(transcript)
    };
    let failure = explain(&evidence, transcript, true)?;
    let is_certain =
        CauseOrigin::of(&failure) == CauseOrigin::AgentService && failure.confidence >= CERTAIN;
    let class = trouble_class(failure.kind).filter(|_| is_certain)?;
    let message = failure.blocked_on.unwrap_or(failure.message);
    Some(ApiTrouble {
        class,
        kind: failure.kind,
        resets: named_span(&message).map(ResetTime::After),
        message,
        status: None,
    })
}

fn trouble_class(kind: FailureKind) -> Option<TroubleClass> {
    match kind {
        FailureKind::RateLimited | FailureKind::ServiceUnavailable => Some(TroubleClass::Transient),
        FailureKind::AuthFailed | FailureKind::NoCredit => Some(TroubleClass::Fatal),
        _ => None,
    }
}
