use std::fmt;

use serde::{Deserialize, Serialize};

/// What people should know about a task that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// There was nothing to verify it with.
    Unverified,
    /// Its Verify was red first, then green.
    Flaky,
    /// No file was changed.
    NothingChanged,
    /// The agent ticked it while it worked on another task, and it verified.
    Claimed,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unverified => "unverified",
            Self::Flaky => "flaky",
            Self::NothingChanged => "nothing changed",
            Self::Claimed => "claimed by the agent",
        })
    }
}
