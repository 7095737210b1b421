use serde::{Deserialize, Serialize};

/// What an agent is told besides the task itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
}
