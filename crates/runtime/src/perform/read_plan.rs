use regreen_model::{NextStep, PlanQuery, PlanStatus};

use crate::audience::Audience;
use crate::outline::outline;
use crate::past::Past;
use crate::perform_error::PerformError;
use crate::performer::Performer;

/// Reads what the task file has for the run now.
pub(crate) fn read_plan(
    performer: &mut Performer,
    query: &PlanQuery,
    past: &Past<'_>,
    audience: &mut dyn Audience,
) -> Result<PlanStatus, PerformError> {
    let file = performer.plan.read()?;
    audience.outline(&outline(&file));
    let mut status = file.plan_status(query);
    if let NextStep::Task(picked) = &mut status.next {
        picked.failed_before = past.failure(&picked.task)?;
    }
    Ok(status)
}
