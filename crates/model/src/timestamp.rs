use std::fmt;

use serde::{Deserialize, Serialize};

/// A moment, in milliseconds since 1970. Handed in as an argument wherever it matters.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    #[must_use]
    pub fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    #[must_use]
    pub fn as_millis(self) -> u64 {
        self.0
    }

    #[must_use]
    pub fn plus(self, millis: u64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Milliseconds since `earlier`; 0 if a clock went backwards.
    #[must_use]
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.0)
    }
}
