//! Recovery templates: what to do first about certain failures, before the recovery table decides.

use serde::{Deserialize, Serialize};

use crate::{Failure, FailureKind, PlannedRepair, RepairAction, named_enum};

/// What to do first about certain failures, as the user or the repository wants it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryTemplate {
    /// The failures that it is for.
    pub applies_to: TemplateMatch,
    /// Who wrote it.
    pub owner: TemplateOwner,
    /// The strategies, in order. Each is used once per task.
    pub first: Vec<TemplateStrategy>,
    /// What the agent is told about such a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// What a person is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// How long to wait.
    #[serde(default)]
    pub wait_ms: u64,
    /// The user's own repair. A repository has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<UserRepair>,
}

/// The failures that a template is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TemplateMatch {
    /// All failures of a kind.
    Kind(FailureKind),
    /// Those with one cause.
    Fingerprint(String),
}

named_enum! {
    /// Who wrote a template.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum TemplateOwner {
        /// The user, in their own configuration.
        User = "user",
        /// The repository, which may offer texts and an order, but no commands.
        Workspace = "workspace",
    }
}

named_enum! {
    /// What a template does about a failure.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum TemplateStrategy {
        /// Try the task again.
        Retry = "retry",
        /// Wait, then try again.
        Wait = "wait",
        /// Run the user's own repair.
        Repair = "repair",
        /// Add a fix task for the agent.
        Fix = "fix",
        /// Ask the agent to split the task.
        Split = "split",
        /// Ask a person.
        Ask = "ask",
    }
}

/// A program of the user's own that may remove a failure, and the check that it did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserRepair {
    /// What it does, for people.
    pub does: String,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// The program that must exit with 0 afterwards, and its arguments.
    pub check: Vec<String>,
    /// How long each of them may run.
    pub timeout_ms: u64,
}

/// What a template tells the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplatePrompt {
    /// Who says it.
    pub owner: TemplateOwner,
    /// The text.
    pub text: String,
}

impl RecoveryTemplate {
    /// Returns the template for a failure: the user's before the repository's, and one for its cause before
    /// one for its kind.
    #[must_use]
    pub fn for_failure<'t>(templates: &'t [Self], failure: &Failure) -> Option<&'t Self> {
        let by_cause = |template: &&Self| match &template.applies_to {
            TemplateMatch::Fingerprint(text) => *text == failure.fingerprint,
            TemplateMatch::Kind(_) => false,
        };
        let by_kind = |template: &&Self| template.applies_to == TemplateMatch::Kind(failure.kind);
        let of = |owner: TemplateOwner| {
            let own = || templates.iter().filter(move |one| one.owner == owner);
            own().find(by_cause).or_else(|| own().find(by_kind))
        };
        of(TemplateOwner::User).or_else(|| of(TemplateOwner::Workspace))
    }

    /// Returns its name: the kind or the fingerprint that it is for.
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.applies_to {
            TemplateMatch::Kind(kind) => kind.name(),
            TemplateMatch::Fingerprint(text) => text,
        }
    }

    /// Returns what it tells the agent.
    #[must_use]
    pub fn guidance(&self) -> Option<TemplatePrompt> {
        Some(TemplatePrompt {
            owner: self.owner,
            text: self.prompt.clone()?,
        })
    }

    /// Returns the user's own repair as one that regreen may plan.
    #[must_use]
    pub fn planned_repair(&self) -> Option<PlannedRepair> {
        let is_users = self.owner == TemplateOwner::User;
        let repair = self.repair.as_ref().filter(|_| is_users)?;
        Some(PlannedRepair {
            action: RepairAction::UserProgram {
                template: self.name().to_owned(),
                argv: repair.argv.clone(),
                check: repair.check.clone(),
                timeout_ms: repair.timeout_ms,
            },
            does: repair.does.clone(),
        })
    }
}

impl TemplateStrategy {
    /// Describes it to people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Retry => "tries the task again",
            Self::Wait => "waits, then tries again",
            Self::Repair => "runs your own repair",
            Self::Fix => "adds a fix task for the agent",
            Self::Split => "asks the agent to split the task",
            Self::Ask => "asks a person",
        }
    }

    /// Describes it as what a template decides about a task.
    #[must_use]
    pub fn applied_words(self, owner: TemplateOwner, template: &str) -> String {
        let whose = match owner {
            TemplateOwner::User => "your",
            TemplateOwner::Workspace => "the repository's",
        };
        format!("{whose} recovery template for {template}: {}", self.words())
    }

    /// Names what it is charged to.
    #[must_use]
    pub fn charge_words(self) -> &'static str {
        match self {
            Self::Retry | Self::Wait => "the task's attempts",
            Self::Repair | Self::Fix => "the fix budget",
            Self::Split => "the task's modification requests",
            Self::Ask => "nothing",
        }
    }
}
