use std::time::Duration;

use regreen_model::{PlannedRepair, PromptKind, RepairPolicy, Timestamp};

/// What holds for a whole delegation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// How often the agent may try, in all.
    pub attempts: u32,
    pub timeout_ms: u64,
    /// How long the agent's service may be waited for altogether.
    pub max_wait_ms: u64,
    pub repairs: RepairPolicy,
    /// The work may be divided; its parts may not.
    pub divides: bool,
}

/// One attempt that is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// What the agent is told besides the prompt.
    pub prompt: PromptKind,
    pub timeout_ms: u64,
    /// The session to go on with, where the agent can.
    pub session: Option<String>,
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Attempt(Order),
    /// Wait for the agent's service, or before the same is done again.
    Wait {
        until: Timestamp,
        why: String,
        repeats: bool,
    },
    /// Look at what a machine may repair.
    Inspect,
    Repair(PlannedRepair),
    /// Delegate these, one after the other, each on these terms.
    DoParts {
        parts: Vec<String>,
        terms: Terms,
    },
    End(End),
}

/// How a delegation ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Done,
    Failed,
    /// A person must decide.
    NeedsPerson {
        why: String,
    },
    /// The agent's service is out of reach for longer than may be waited.
    TryLater {
        why: String,
    },
    /// It would fail the same way again.
    SetUp {
        why: String,
    },
}

impl Step {
    /// What it is, said of a failure that it follows.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Attempt(order) => order.words(),
            Self::Wait { repeats: true, .. } => "the same again after a while".to_owned(),
            Self::Wait { repeats: false, .. } => "waited for the agent's service".to_owned(),
            Self::Inspect => "looked for a repair".to_owned(),
            Self::Repair(repair) => format!("repair: {}", repair.does),
            Self::DoParts { parts, .. } => format!("divided into {} parts", parts.len()),
            Self::End(_) => "nothing more".to_owned(),
        }
    }
}

impl Order {
    fn words(&self) -> String {
        match self.prompt {
            PromptKind::Split => "asked to divide the work".to_owned(),
            _ => format!("tried again {}", self.how()),
        }
    }

    /// In which way it is tried again, and how long it may take.
    #[must_use]
    pub fn how(&self) -> String {
        let how = match self.prompt {
            PromptKind::Enriched => "with what was missing looked up",
            PromptKind::NewSession => "in a new session",
            _ if self.session.is_some() => "in the same session",
            _ => "with what is known",
        };
        let time = Duration::from_millis(self.timeout_ms);
        format!("{how}, within {time:?}")
    }
}
