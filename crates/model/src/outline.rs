use serde::{Deserialize, Serialize};

use crate::TaskKey;

/// One row of a plan as views show it: every task of the file from the top, without
/// checklist items. Views get all rows each time the plan is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutlineRow {
    pub key: TaskKey,
    /// How far it is indented: 0 at the top, one more below a group or below the task that
    /// it fixes.
    pub depth: u16,
    pub kind: OutlineKind,
    pub done: bool,
    /// Runs only when asked for.
    pub optional: bool,
}

/// What a row of an outline is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutlineKind {
    /// Written by a person, and run.
    Task,
    /// Repairs another task.
    Fix,
    /// Written by a person; ticked when the tasks below it are done.
    Group,
}

impl OutlineRow {
    /// Whether a person wrote it.
    #[must_use]
    pub fn is_original(&self) -> bool {
        match self.kind {
            OutlineKind::Task | OutlineKind::Group => true,
            OutlineKind::Fix => false,
        }
    }
}
