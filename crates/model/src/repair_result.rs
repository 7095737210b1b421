use serde::{Deserialize, Serialize};

/// What came of a repair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum RepairResult {
    /// It was carried out, and a second look says that it holds.
    Done {
        /// What was done, in one line for people.
        did: String,
        /// What later processes of the run find in their environment.
        #[serde(default)]
        environment: Vec<(String, String)>,
    },
    /// It was refused at the last moment, failed, or did not help; what it had changed is
    /// undone where it can be.
    Failed { why: String },
}
