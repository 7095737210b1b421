use std::fmt;

use serde::{Deserialize, Serialize};

use crate::TaskId;

/// Which task is meant, whatever else has changed in the file: never a position.
///
/// Ids may occur twice, so a key also says which occurrence it is and what it was called.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TaskKey {
    pub id: TaskId,
    /// 0 for the first row with this id.
    pub occurrence: u32,
    pub title: String,
}

impl fmt::Display for TaskKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.id)
    }
}
