use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Payload;

/// Which step of a run, counted from 1. 0 stands for "before the first".
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct StepNo(pub u64);

impl StepNo {
    pub const NONE: Self = Self(0);

    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for StepNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The name of a command within its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommandSeq(pub u64);

impl fmt::Display for CommandSeq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A command as a step issued it: owed until a later step answers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssuedCommand {
    pub seq: CommandSeq,
    pub command: Payload,
}

/// One turn of the engine: what it was told and when, and all that it said to that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub number: StepNo,
    pub now_ms: i64,
    /// The command that the input is the answer to.
    pub answers: Option<CommandSeq>,
    pub input: Payload,
    pub events: Vec<Payload>,
    pub commands: Vec<IssuedCommand>,
}

/// An event with where and when it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    pub step: StepNo,
    pub now_ms: i64,
    pub event: Payload,
}

impl Step {
    pub(crate) fn into_events(self) -> impl Iterator<Item = StoredEvent> {
        let (step, now_ms) = (self.number, self.now_ms);
        self.events.into_iter().map(move |event| StoredEvent {
            step,
            now_ms,
            event,
        })
    }
}
