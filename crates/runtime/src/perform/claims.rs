use regreen_engine::Record;
use regreen_model::{Claim, TaskKey, Verdict};

use super::record::record;
use super::verify::{Check, verify};
use crate::audience::Audience;
use crate::perform_error::PerformError;
use crate::performer::Performer;

/// The rows whose tick stays, and those whose tick was taken back.
type Judged = (Vec<TaskKey>, Vec<TaskKey>);

/// A tick of another row is a claim: it stays only if something shows that it is true.
pub(crate) fn judge_claims(
    performer: &mut Performer,
    task: &TaskKey,
    claims: &[Claim],
    gate: Option<&str>,
    environment: &[(String, String)],
    audience: &mut dyn Audience,
) -> Result<Judged, PerformError> {
    let (mut kept, mut taken_back) = (Vec::new(), Vec::new());
    for claim in claims {
        let stem = format!("claim-{}", claim.task.id);
        let check = Check {
            gate,
            ..Check::of(performer, task, stem, &claim.verify, environment)
        };
        if holds(performer, &check, audience)? {
            // It may be the second time: a process before may have taken the tick back.
            performer.set_box(&claim.task, true)?;
            let done = Record {
                task: claim.task.clone(),
                hash: None,
            };
            record(performer, &done)?;
            kept.push(claim.task.clone());
        } else {
            performer.set_box(&claim.task, false)?;
            taken_back.push(claim.task.clone());
        }
    }
    Ok((kept, taken_back))
}

/// As with the task itself, what is red gets a second chance: it may be flaky.
fn holds(
    performer: &mut Performer,
    check: &Check<'_>,
    audience: &mut dyn Audience,
) -> Result<bool, PerformError> {
    let verdict = match verify(performer, check, audience)?.verdict {
        Verdict::Red { .. } => verify(performer, check, audience)?.verdict,
        verdict => verdict,
    };
    Ok(verdict == Verdict::Green)
}
