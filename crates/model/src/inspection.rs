use serde::{Deserialize, Serialize};

use crate::RepairAction;

/// What a look at the workspace says of a repair that a failure suggests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "inspection", rename_all = "snake_case")]
pub enum Inspection {
    /// A machine may do it.
    Allowed(PlannedRepair),
    /// It would help, and a person has to say so.
    Ask {
        #[serde(flatten)]
        repair: PlannedRepair,
        why: String,
    },
    /// It looks like a repair, and no machine may do it.
    Refused { why: String },
    /// No repair is known for it.
    Nothing,
}

/// A repair with its values as they were found in the workspace, never as a text named them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedRepair {
    pub action: RepairAction,
    /// What it does, in one line for people: `install PyYAML from requirements.txt into .venv`.
    pub does: String,
}
