use regreen_documents::Wanted;
use regreen_engine::{NextStep, Plan};
use regreen_model::PickedTask;

use crate::audience::Audience;
use crate::outline::outline;
use crate::past::Past;
use crate::perform_error::PerformError;
use crate::performer::Performer;

/// What the task file says now.
pub(crate) fn read_plan(
    performer: &mut Performer,
    wanted: &Wanted<'_>,
    past: &Past<'_>,
    audience: &mut dyn Audience,
) -> Result<Plan, PerformError> {
    let file = performer.plan.read()?;
    audience.outline(&outline(&file));
    let outlook = file.outlook(wanted);
    Ok(Plan {
        total: outlook.total,
        open: outlook.open,
        open_besides: outlook.open_besides,
        first_open: outlook.first_open,
        missing: outlook.missing,
        next: match outlook.next {
            None => NextStep::Nothing,
            Some(picked) => NextStep::Task(Box::new(PickedTask {
                failed_before: past.failure(&picked.task)?,
                ..picked
            })),
        },
    })
}
