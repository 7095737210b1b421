use regreen_model::{Failure, FailureRecord, PromptKind, Survey, TaskId};

/// The task as a prompt presents it.
#[derive(Clone, Copy, Debug)]
pub struct TaskBrief<'a> {
    /// The id of the task.
    pub id: &'a TaskId,
    /// Its title.
    pub title: &'a str,
    /// The task as written in its file.
    pub block: &'a str,
    /// Whether the task only verifies.
    pub is_verify_row: bool,
    /// The original task, if this one is a fix.
    pub root: Option<RootContext<'a>>,
    /// How the task that this one fixes failed, if it is a fix.
    pub repairs: Option<&'a FailureRecord>,
    /// The name of the spec.
    pub spec_name: &'a str,
    /// Its folder.
    pub spec_dir: &'a str,
    /// Its task file.
    pub tasks_file: &'a str,
    /// Its progress file.
    pub progress_file: &'a str,
    /// The number of the attempt, counted from 1.
    pub attempt: u32,
    /// How many attempts the task has.
    pub max_attempts: u32,
}

/// The original task that a fix belongs to.
#[derive(Clone, Copy, Debug)]
pub struct RootContext<'a> {
    /// Its id.
    pub id: &'a TaskId,
    /// Its title.
    pub title: &'a str,
    /// The task as written in its file.
    pub block: &'a str,
}

/// The reason for a prompt.
#[derive(Clone, Copy, Debug)]
pub enum PromptReason<'a> {
    /// The first attempt.
    First,
    /// The previous attempt failed.
    Retry {
        /// How it failed.
        failure: &'a FailureRecord,
        /// The response to it since.
        since: &'a str,
    },
    /// The work may be done, but the agent gave no signal.
    Reminder,
    /// The previous attempt was interrupted.
    Interrupted {
        /// The known facts about it.
        known: &'a str,
        /// Its diagnosis.
        diagnosis: Option<&'a Failure>,
    },
    /// The previous attempt lacked information, which regreen looked up.
    Enriched(&'a FailureRecord, ProjectContext<'a>),
    /// The previous attempt changed nothing.
    NoOp,
    /// The task made no progress within its time limit and must be split.
    Split(Option<&'a FailureRecord>),
}

impl PromptReason<'_> {
    /// Returns the kind of prompt that it asks for.
    #[must_use]
    pub fn kind(&self) -> PromptKind {
        match self {
            Self::First => PromptKind::First,
            Self::Retry { .. } => PromptKind::Retry,
            Self::Reminder => PromptKind::Reminder,
            Self::Interrupted { .. } => PromptKind::Interrupted,
            Self::Enriched(..) => PromptKind::Enriched,
            Self::NoOp => PromptKind::NoOp,
            Self::Split(_) => PromptKind::Split,
        }
    }
}

/// The project, as surveyed in the workspace.
#[derive(Clone, Copy, Debug)]
pub struct ProjectContext<'a> {
    /// The workspace.
    pub root: &'a str,
    /// The results of the survey.
    pub survey: &'a Survey,
}

/// Something that an agent should know before it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextItem {
    /// Why it is there: `Named by the task`.
    pub why: String,
    /// What it is. Untrusted.
    pub text: String,
}

impl ContextItem {
    /// Creates an item.
    #[must_use]
    pub fn new(why: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            text: text.into(),
        }
    }
}

/// A delegation: a prompt, and the number of the attempt.
#[derive(Clone, Copy, Debug)]
pub struct DelegateBrief<'a> {
    /// The prompt as given.
    pub prompt: &'a str,
    /// The number of the attempt, counted from 1.
    pub attempt: u32,
    /// How many attempts the delegation has.
    pub max_attempts: u32,
}

/// One part of a delegation that was split.
#[derive(Clone, Copy, Debug)]
pub struct PartBrief<'a> {
    /// The number of the part, counted from 1.
    pub number: usize,
    /// How many parts there are.
    pub total: usize,
    /// The work to do.
    pub part: &'a str,
    /// The prompt of the delegation.
    pub whole: &'a str,
    /// The parts before this one.
    pub done: &'a [String],
}
