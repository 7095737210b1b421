use serde::{Deserialize, Serialize};

use crate::{ApiTrouble, Usage};

/// What an agent lets us see while it works, whatever program it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum AgentEvent {
    /// The name under which its conversation can be taken up again.
    Session {
        id: String,
    },
    Text {
        text: String,
    },
    ToolStarted {
        /// Tells calls of the same tool apart.
        call: String,
        name: String,
    },
    ToolEnded {
        call: String,
        name: String,
        ok: bool,
        /// The exit code, of tools that run commands.
        exit: Option<i32>,
    },
    FileEdited {
        path: String,
    },
    Usage(Usage),
    Trouble(ApiTrouble),
    /// It asks a person, or asks for permission, and would wait.
    Question {
        text: String,
        permission: bool,
    },
    /// What it said last: the only text that is read for signals and reports.
    FinalMessage {
        text: String,
    },
    /// It has come to its end by itself. An agent that ends without this has not finished,
    /// whatever its exit code.
    Terminal {
        /// Whether it takes its own run for a success; that says nothing about the task.
        ok: bool,
    },
}
