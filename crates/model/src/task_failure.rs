use serde::{Deserialize, Serialize};

use crate::TaskId;

/// What an agent said about a task it could not finish. Its keys are public: other tools
/// read and write this object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskFailure {
    pub task_id: TaskId,
    pub failed: bool,
    pub error: String,
    pub attempted_fix: String,
    pub status: String,
    /// Everything the agent said, for context.
    pub raw_output: String,
}

impl TaskFailure {
    /// Said where the agent's block has no `Error:` line.
    pub const NO_ERROR: &str = "Task execution failed";
    /// Said where the agent does not say what it tried.
    pub const NO_ATTEMPTED_FIX: &str = "No fix attempted";
    pub const NO_STATUS: &str = "Unknown status";
    /// Said where there is no block at all.
    pub const NO_BLOCK: &str = "Task did not complete";
}
