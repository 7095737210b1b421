use serde::{Deserialize, Serialize};

use crate::{ChoiceKind, TaskKey};

/// What a person said of a task outside a run. It counts from the next time the run, or
/// another one, is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonChoice {
    /// A later choice has a higher number.
    pub number: u64,
    pub task: TaskKey,
    pub what: ChoiceKind,
}
