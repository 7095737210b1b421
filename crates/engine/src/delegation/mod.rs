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
    /// How long the first attempt may take.
    pub timeout_ms: u64,
    /// The longest wait for the agent's service, in all.
    pub max_wait_ms: u64,
    /// Which repairs may be made.
    pub repairs: RepairPolicy,
    /// The work may be divided; its parts may not.
    pub divides: bool,
}

/// One attempt that is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelegatedOrder {
    /// What the agent is told besides the prompt.
    pub prompt: PromptKind,
    /// How long the attempt may take.
    pub timeout_ms: u64,
    /// The session to continue, where the agent can.
    pub session: Option<String>,
}

/// The next thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextAction {
    /// Run the agent.
    Attempt(DelegatedOrder),
    /// Wait for the agent's service, or before the same is done again.
    Wait {
        /// The moment.
        until: Timestamp,
        /// The reason.
        why: String,
        /// Whether the same attempt is repeated.
        repeats: bool,
    },
    /// Inspect what may be repaired.
    Inspect,
    /// Repair the environment.
    Repair(PlannedRepair),
    /// Delegate these, one after the other, each on these terms.
    DoParts {
        /// The prompts of the parts.
        parts: Vec<String>,
        /// What each part may use.
        terms: Terms,
    },
    /// End with this result.
    End(Conclusion),
}

/// How a delegation ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// The delegation succeeded.
    Done,
    /// The last attempt failed.
    Failed,
    /// A person must decide.
    NeedsPerson {
        /// The question.
        why: String,
    },
    /// The agent's service is out of reach for longer than may be waited.
    TryLater {
        /// What the agent's service says.
        why: String,
    },
    /// It would fail the same way again.
    SetUp {
        /// What has to be set up.
        why: String,
    },
}

impl NextAction {
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

impl DelegatedOrder {
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
    /// A wait is over.
    Waited {
        /// How long it took.
        ms: u64,
        /// Before the same is done again, and not for the agent's service.
        repeats: bool,
    },
    /// A repair was inspected.
    Inspected(Inspection),
    /// A repair was made, or failed.
    Repaired {
        /// The repair.
        action: RepairAction,
        /// How it ended.
        result: RepairResult,
    },
}

/// One attempt and its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempted {
    /// The order.
    pub order: DelegatedOrder,
    /// How it ended.
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
