use regreen_model::{Failure, Inspection};

use crate::looks::LOOKS;
use crate::scene::Scene;
use crate::verdict::Verdict;

/// What may be done about a failure, as the workspace is now. Changes nothing and runs
/// nothing.
#[must_use]
pub fn inspect(scene: &Scene<'_>, failure: &Failure) -> Inspection {
    verdict(scene, failure).into_inspection()
}

/// The first look that has something to say is heeded.
pub(crate) fn verdict(scene: &Scene<'_>, failure: &Failure) -> Verdict {
    let said = LOOKS.iter().find_map(|(_, look)| look(scene, failure));
    said.unwrap_or_else(|| Verdict::refused("no repair is known for this"))
}
