use std::fmt;

use serde::{Deserialize, Serialize};

/// The name of a run: when it started, to the second and in UTC (`20261116-024930`), with a
/// number behind it if that second saw several (`20261116-024930-02`). Sorts by time, is a
/// good folder name, and no two runs share one, also when the file before was lost.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(String);

impl RunId {
    /// The name as somebody typed it; whether there is such a run is another question.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The `n`th name for this second, counted from 1.
    pub(crate) fn nth_of_second(second: &str, n: u32) -> Self {
        match n {
            ..=1 => Self(second.to_owned()),
            _ => Self(format!("{second}-{n:02}")),
        }
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
