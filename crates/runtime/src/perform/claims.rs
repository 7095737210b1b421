use regreen_engine::Record;
use regreen_model::{Claim, TaskKey};

use super::record::record;
use crate::audience::Audience;
use crate::perform_error::PerformError;
use crate::performer::Performer;
use crate::verify::{Check, CheckResult};

/// The rows whose tick stays, and those whose tick was taken back.
type Judged = (Vec<TaskKey>, Vec<TaskKey>);

/// Verifies the rows of other tasks that the agent ticked: a tick without proof is taken back.
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
            ..performer.check(task, stem, &claim.verify, environment)
        };
        let (result, _) = performer.context.verify_with_retry(&check, audience)?;
        if matches!(result, CheckResult::Passed) {
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
