use serde::{Deserialize, Serialize};

use crate::{ChoiceKind, TaskKey};

/// What a person said of a task outside a run, or when one asked. It counts in the run that
/// asked, and from the next time that a run is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonChoice {
    /// A later choice has a higher number.
    pub number: u64,
    pub task: TaskKey,
    pub what: ChoiceKind,
}
