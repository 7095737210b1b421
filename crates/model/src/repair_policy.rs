use std::fmt;

use serde::{Deserialize, Serialize};

/// What regreen may repair by itself.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum RepairPolicy {
    /// What inspection allows.
    #[default]
    Safe,
    /// Nothing that a person has not agreed to.
    Ask,
    Off,
}

impl RepairPolicy {
    pub const ALL: [Self; 3] = [Self::Safe, Self::Ask, Self::Off];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Ask => "ask",
            Self::Off => "off",
        }
    }
}

impl fmt::Display for RepairPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
