//! Services: programs, such as a development server, that run throughout several tasks.

use serde::{Deserialize, Serialize};

use crate::{TaskKey, VerifyCommand};

/// A service that a row declares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// The task whose row declares it.
    pub task: TaskKey,
    /// The command, which runs for as long as the service does.
    pub command: String,
    /// Commands that pass once the service is ready.
    pub ready: Vec<VerifyCommand>,
    /// Whether the task that needs it declares it, and so may still have to write it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_own: bool,
    /// Whether its task asks for nothing else, so that no agent is needed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_whole_task: bool,
}

impl Service {
    /// Returns whether both are the same service, no matter which task needs it.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.task == other.task && self.command == other.command
    }

    /// Returns the service as seen by tasks that don't declare it.
    #[must_use]
    pub fn of_others(&self) -> Self {
        Self {
            is_own: false,
            is_whole_task: false,
            ..self.clone()
        }
    }
}

/// A change in the state of a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum ServiceChange {
    /// It runs and is ready.
    Started {
        /// Whether it had died and was restarted.
        again: bool,
        /// How long it took to become ready.
        took_ms: u64,
    },
    /// It did not become ready.
    NotReady {
        /// The reason, for people.
        why: String,
    },
    /// It ended by itself.
    Died {
        /// How it ended.
        why: String,
    },
    /// regreen ended it, because the next task doesn't need it.
    Ended,
}

/// A report about a change in the state of a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceReport {
    /// The task whose row declares it.
    pub task: TaskKey,
    /// Its command.
    pub command: String,
    /// The path of its log.
    #[serde(default)]
    pub log: String,
    /// The change.
    #[serde(flatten)]
    pub change: ServiceChange,
}
