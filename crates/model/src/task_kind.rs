use std::fmt;

use serde::{Deserialize, Serialize};

/// What regreen does with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskKind {
    /// Runs.
    Task,
    /// Has tasks below it: ticked when they are done, never run itself.
    Group,
    /// Runs only when asked for.
    Optional,
    /// Shown, never run, never ticked.
    Checklist,
}

impl TaskKind {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Group => "group",
            Self::Optional => "optional",
            Self::Checklist => "checklist",
        }
    }
}

impl fmt::Display for TaskKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
