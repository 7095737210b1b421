use serde::{Deserialize, Serialize};

use crate::{FailureNote, TaskKey, VerifyCommand};

/// A task that is next, with what must not change any more once it was picked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PickedTask {
    pub task: TaskKey,
    /// The original at the end of its chain of fixes; itself if it is no fix.
    pub root: TaskKey,
    /// 0-based place of the root among the rows to run.
    pub index: u32,
    /// Rows to run, fixes included.
    pub total: u32,
    /// Its `[VERIFY]` marker lets it signal with either word.
    pub is_verify: bool,
    /// A group is verified and ticked, not run.
    pub is_group: bool,
    /// Fixes of it stand in the file.
    #[serde(default)]
    pub has_fixes: bool,
    /// The commands as they were when the task was first picked.
    pub verify: Vec<VerifyCommand>,
    /// The message its commit is to have.
    pub commit: Option<String>,
    /// How it failed in an earlier run that did not finish it.
    #[serde(default)]
    pub failed_before: Option<FailureNote>,
}

impl PickedTask {
    /// Whether it repairs another task.
    #[must_use]
    pub fn is_fix(&self) -> bool {
        self.task != self.root
    }
}
