use std::fmt;

use serde::{Deserialize, Serialize};

/// What an agent is told besides the task itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptKind {
    /// Nothing: it is the first attempt.
    First,
    /// How the last attempt failed.
    Retry,
    /// That it did not signal, though all else is well.
    Reminder,
    /// That it changed nothing.
    NoOp,
    /// That the last attempt was cut off.
    Interrupted,
    /// That its last session was of no more use.
    NewSession,
    /// What the last attempt was missing, looked up.
    Enriched,
    /// That the task got nowhere in its time: to split it.
    Split,
}

impl PromptKind {
    pub const ALL: [Self; 8] = [
        Self::First,
        Self::Retry,
        Self::Reminder,
        Self::NoOp,
        Self::Interrupted,
        Self::NewSession,
        Self::Enriched,
        Self::Split,
    ];

    /// Its name in the journal and in an agent's environment.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Retry => "retry",
            Self::Reminder => "reminder",
            Self::NoOp => "no_op",
            Self::Interrupted => "interrupted",
            Self::NewSession => "new_session",
            Self::Enriched => "enriched",
            Self::Split => "split",
        }
    }
}

impl fmt::Display for PromptKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_journal_and_the_environment_name_a_prompt_alike() {
        for kind in PromptKind::ALL {
            let stored = serde_json::to_string(&kind).unwrap();
            assert_eq!(stored, format!("\"{kind}\""));
        }
    }
}
