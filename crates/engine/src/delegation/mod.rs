//! Delegation: one child agent works on one prompt until it is done or nothing more can be done.
//!
//! The only state is the list of what happened; [`next`] decides what follows from it.

mod next;
#[cfg(test)]
mod tests;

use std::time::Duration;

use regreen_model::{
    AttemptReport, Experience, FailureRecord, Inspection, PlannedRepair, PromptKind, RepairAction,
    RepairPolicy, RepairResult, Timestamp,
};

use crate::recovery::FailureClass;

pub use next::next;

/// The limits of a whole delegation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// How often the agent may try in total.
    pub attempts: u32,
    /// How long the first attempt may take.
    pub timeout_ms: u64,
    /// How long to wait for the agent's service in total.
    pub max_wait_ms: u64,
    /// The policy for repairs.
    pub repairs: RepairPolicy,
    /// Whether the work may be split; its parts may not.
    pub divides: bool,
    /// Whether failures are looked up in the user's history.
    pub recalls: bool,
}

/// An attempt to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelegatedOrder {
    /// The kind of prompt.
    pub prompt: PromptKind,
    /// How long the attempt may take.
    pub timeout_ms: u64,
    /// The session to resume, if the agent can.
    pub session: Option<String>,
}

/// The next thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextAction {
    /// Run the agent.
    Attempt(DelegatedOrder),
    /// Wait for the agent's service, or before a repeat.
    Wait {
        /// The end of the wait.
        until: Timestamp,
        /// The reason.
        why: String,
        /// Whether the wait comes before a repeat.
        repeats: bool,
    },
    /// Look the failure up in the user's history.
    Recall,
    /// Inspect the workspace for a repair.
    Inspect,
    /// Repair the environment.
    Repair(PlannedRepair),
    /// Delegate these parts one after the other, each on these terms.
    DoParts {
        /// The prompts of the parts.
        parts: Vec<String>,
        /// The limits of each part.
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
    /// The agent's service is unavailable for longer than the delegation may wait.
    TryLater {
        /// The message of the agent's service.
        why: String,
    },
    /// Another try would fail the same way.
    SetUp {
        /// The missing setup.
        why: String,
    },
}

impl NextAction {
    /// Describes the action, as it follows a failure.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Attempt(order) => order.words(),
            Self::Wait { repeats: true, .. } => "waited and repeated it".to_owned(),
            Self::Wait { repeats: false, .. } => "waited for the agent's service".to_owned(),
            Self::Recall => "looked it up".to_owned(),
            Self::Inspect => "looked for a repair".to_owned(),
            Self::Repair(repair) => format!("{}: {}", repair.action.response(), repair.does),
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

    /// Describes how the agent tries again, and how long it may take.
    #[must_use]
    pub fn how(&self) -> String {
        let how = match self.prompt {
            PromptKind::Enriched => "with the missing context",
            PromptKind::NewSession => "in a new session",
            _ if self.session.is_some() => "in the same session",
            _ => "with the failure explained",
        };
        let time = Duration::from_millis(self.timeout_ms);
        format!("{how}, within {time:?}")
    }
}

/// Something that happened in a delegation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// The agent worked and its work was checked, or all parts were done.
    Attempted(Box<Attempted>),
    /// A wait is over.
    Waited {
        /// How long it took.
        ms: u64,
        /// Whether the wait came before a repeat rather than for the agent's service.
        repeats: bool,
    },
    /// The failure was looked up: what earlier failures with the same cause show, if there are any.
    Recalled(Option<Box<Experience>>),
    /// A repair was inspected.
    Inspected(Inspection),
    /// A repair ended.
    Repaired {
        /// The repair.
        action: RepairAction,
        /// How it ended.
        result: RepairResult,
    },
}

/// An attempt and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempted {
    /// The order.
    pub order: DelegatedOrder,
    /// How it ended.
    pub report: AttemptReport,
    /// Why it failed; `None` if it succeeded.
    pub failure: Option<FailureRecord>,
    /// The parts it names, if it was asked to split the work.
    pub parts: Vec<String>,
}

impl Attempted {
    /// Whether it counts as an attempt at the work. Trouble of the agent's own doesn't, nor does a
    /// request to split the work.
    #[must_use]
    pub fn is_charged(&self) -> bool {
        let class = FailureClass::of_ending(&self.report);
        let is_the_agents_own = class.is_some_and(FailureClass::is_the_agents_own);
        !is_the_agents_own && self.order.prompt != PromptKind::Split
    }
}
