//! Services: programs that run while several tasks are worked on, such as a development server.

use serde::{Deserialize, Serialize};

use crate::{TaskKey, VerifyCommand};

/// A service that a row declares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// The task whose row declares it.
    pub task: TaskKey,
    /// The command that runs for as long as the service does.
    pub command: String,
    /// Commands that pass once it is ready.
    pub ready: Vec<VerifyCommand>,
    /// Whether the task that needs it declares it itself: it may have to be written first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_own: bool,
    /// Whether it is all that its task asks for: then no agent is needed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_whole_task: bool,
}

impl Service {
    /// Returns whether both are the same service, whoever needs it.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.task == other.task && self.command == other.command
    }

    /// Returns it as tasks see it that do not declare it.
    #[must_use]
    pub fn of_others(&self) -> Self {
        Self {
            is_own: false,
            is_whole_task: false,
            ..self.clone()
        }
    }
}

/// What happened to a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum ServiceChange {
    /// It runs and is ready.
    Started {
        /// Whether it had died before.
        again: bool,
        /// How long it took to get ready.
        took_ms: u64,
    },
    /// It did not get ready.
    NotReady {
        /// Why not.
        why: String,
    },
    /// It ended by itself.
    Died {
        /// How.
        why: String,
    },
    /// regreen ended it: no task that is next needs it.
    Ended,
}

/// Something that happened to a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceReport {
    /// The task whose row declares it.
    pub task: TaskKey,
    /// Its command.
    pub command: String,
    /// Its log.
    #[serde(default)]
    pub log: String,
    /// What happened.
    #[serde(flatten)]
    pub change: ServiceChange,
}
