//! Repairs that regreen carries out itself.

use regreen_engine::{RepairOrder, RepairScene};
use regreen_model::{Inspection, RepairResult};

use crate::perform_error::PerformError;
use crate::performer::Performer;

/// Whether a machine may repair what the task failed of.
pub(crate) fn inspect_repair(
    _performer: &Performer,
    _scene: &RepairScene,
) -> Result<Inspection, PerformError> {
    Ok(Inspection::Refused {
        why: "nothing is known that could be repaired".to_owned(),
    })
}

/// Carries out a fix; `None` if somebody removed or ticked it.
pub(crate) fn repair(
    _performer: &mut Performer,
    _order: &RepairOrder,
) -> Result<Option<RepairResult>, PerformError> {
    Ok(None)
}
