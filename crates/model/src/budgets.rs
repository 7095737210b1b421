use serde::{Deserialize, Serialize};

use crate::Budget;

/// What may be spent before regreen says stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budgets {
    /// On a whole run.
    pub run: Budget,
    /// On one original with all its fixes.
    pub task: Budget,
}
