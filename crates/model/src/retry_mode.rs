use std::fmt;

use serde::{Deserialize, Serialize};

/// What must happen before the same task can succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryMode {
    /// Nothing: it was passing trouble.
    AsIs,
    /// A mechanical repair of the environment.
    AfterRepair,
    /// A change of the code, which an agent can make.
    AfterFix,
    /// A decision, a right, a secret or information from a person.
    AfterHuman,
    /// It cannot ever work.
    Never,
}

impl RetryMode {
    pub const ALL: [Self; 5] = [
        Self::AsIs,
        Self::AfterRepair,
        Self::AfterFix,
        Self::AfterHuman,
        Self::Never,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AsIs => "as_is",
            Self::AfterRepair => "after_repair",
            Self::AfterFix => "after_fix",
            Self::AfterHuman => "after_human",
            Self::Never => "never",
        }
    }

    /// Whether the task can be tried again without a person.
    #[must_use]
    pub fn is_retryable(self) -> bool {
        match self {
            Self::AsIs | Self::AfterRepair | Self::AfterFix => true,
            Self::AfterHuman | Self::Never => false,
        }
    }
}

impl fmt::Display for RetryMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
