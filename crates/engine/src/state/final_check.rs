//! The state of the final check, and the checks that passed.

use regreen_model::{CommandSeq, Regression, TaskKey};
use serde::{Deserialize, Serialize};

/// A check that passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedCheck {
    /// The value of [`State::steps`](crate::State::steps) at that time.
    pub at: u64,
    /// How long it took.
    pub took_ms: u64,
}

/// The state of the final check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinalCheck {
    /// Its current phase.
    pub phase: FinalCheckPhase,
    /// The value of [`State::steps`](crate::State::steps) when it last let the run end.
    pub passed_at: Option<u64>,
    /// The value of [`State::steps`](crate::State::steps) when it last ended.
    pub checked_at: u64,
    /// The tasks that had regressed then.
    pub regressed: Vec<Regression>,
    /// The tasks for whose checks no time was left then.
    #[serde(default)]
    pub out_of_time: Vec<TaskKey>,
}

/// The phases of the final check, named after what it is waiting for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum FinalCheckPhase {
    /// Nothing.
    #[default]
    Idle,
    /// The repeated checks.
    Checking {
        /// The pending command.
        seq: CommandSeq,
    },
    /// Regressed tasks to be unticked.
    Reopening {
        /// The pending command.
        seq: CommandSeq,
    },
}

impl FinalCheckPhase {
    /// Returns the pending command, if there is one.
    #[must_use]
    pub fn seq(self) -> Option<CommandSeq> {
        match self {
            Self::Checking { seq } | Self::Reopening { seq } => Some(seq),
            Self::Idle => None,
        }
    }
}
