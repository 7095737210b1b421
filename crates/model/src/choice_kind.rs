use std::fmt;

use serde::{Deserialize, Serialize};

/// What a person can say of a task outside a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChoiceKind {
    /// It is not to be run.
    Skip,
    /// It is done, whatever regreen thinks of it.
    Done,
    /// It may be tried as often as if it had never been.
    Retry,
}

impl ChoiceKind {
    pub const ALL: [Self; 3] = [Self::Skip, Self::Done, Self::Retry];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Done => "done",
            Self::Retry => "retry",
        }
    }

    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for ChoiceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
