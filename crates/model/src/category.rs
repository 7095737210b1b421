use std::fmt;

use serde::{Deserialize, Serialize};

/// What sort of failure it was, seen from the one who gave the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCategory {
    /// A time limit ended it.
    Timeout,
    /// Something only the requester knows was not said.
    MissingContext,
    /// A tool, the environment or the code stood in the way.
    ToolError,
    /// Nobody could do it as it was asked, or the agent will not.
    InvalidTask,
    /// Part of the work is done, then something blocked the rest.
    Partial,
}

impl FailureCategory {
    pub const ALL: [Self; 5] = [
        Self::Timeout,
        Self::MissingContext,
        Self::ToolError,
        Self::InvalidTask,
        Self::Partial,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::MissingContext => "missing_context",
            Self::ToolError => "tool_error",
            Self::InvalidTask => "invalid_task",
            Self::Partial => "partial",
        }
    }

    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|c| c.name() == name)
    }
}

impl fmt::Display for FailureCategory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
