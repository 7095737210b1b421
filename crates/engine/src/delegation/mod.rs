//! Delegation: one child agent on one prompt, until it is done or nothing more can be done.
//!
//! Nothing is stored but what happened: [`next`] decides what follows from it.

mod next;
#[cfg(test)]
mod tests;

use std::time::Duration;

use regreen_model::{
    AttemptReport, FailureRecord, Inspection, PlannedRepair, PromptKind, RepairAction,
    RepairPolicy, RepairResult, Timestamp,
};

use crate::recovery::FailureClass;

pub use next::next;

/// The limits of a whole delegation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// How often the agent may try, in all.
    pub attempts: u32,
    pub timeout_ms: u64,
    /// The longest wait for the agent's service, in all.
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
    /// The session to continue, where the agent can.
    pub session: Option<String>,
}

/// The next thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Attempt(Order),
    /// Wait for the agent's service, or before the same is done again.
    Wait {
        until: Timestamp,
        why: String,
        repeats: bool,
    },
    /// Inspect what may be repaired.
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
    /// Names it after the failure that it follows.
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

/// Something that happened in a delegation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// The agent worked, and what it did was checked; or all parts were done.
    Attempted(Box<Attempted>),
    Waited {
        ms: u64,
        /// Before the same is done again, and not for the agent's service.
        repeats: bool,
    },
    Inspected(Inspection),
    Repaired {
        action: RepairAction,
        result: RepairResult,
    },
}

/// One attempt and its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempted {
    pub order: Order,
    pub report: AttemptReport,
    /// Why it failed; `None` if it did not.
    pub failure: Option<FailureRecord>,
    /// The parts it names, if it was asked to divide the work.
    pub parts: Vec<String>,
}

impl Attempted {
    /// Whether it is an attempt at the work: trouble of the agent's own is none, nor is a request
    /// to divide the work.
    #[must_use]
    pub fn is_charged(&self) -> bool {
        let class = FailureClass::of_ending(&self.report);
        let is_the_agents_own = class.is_some_and(FailureClass::is_the_agents_own);
        !is_the_agents_own && self.order.prompt != PromptKind::Split
    }
}
