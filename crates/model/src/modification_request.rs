use serde::{Deserialize, Serialize};

use crate::TaskId;

/// What an agent would like to change in the plan, as it wrote it. Whether it may is decided
/// elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModificationRequest {
    #[serde(rename = "type")]
    pub modification: Modification,
    pub original_task_id: TaskId,
    #[serde(default)]
    pub reasoning: String,
    pub proposed_tasks: Vec<ProposedTask>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Modification {
    /// The task is too big: these are its parts.
    SplitTask,
    /// Something has to be there first.
    AddPrerequisite,
    /// Something is left to do afterwards.
    AddFollowup,
}

/// A task as an agent proposes it: the lines of a task file, or its parts by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ProposedTask {
    Lines(String),
    #[serde(rename_all = "camelCase")]
    Fields {
        title: String,
        #[serde(rename = "do", default)]
        action: Option<String>,
        #[serde(default)]
        files: Option<String>,
        #[serde(default)]
        done_when: Option<String>,
        #[serde(default)]
        verify: Option<String>,
        #[serde(default)]
        commit: Option<String>,
    },
}
