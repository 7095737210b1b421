use regreen_model::{Failure, FailureRecord, PromptKind, Survey, TaskId};

/// What a prompt says about the task itself.
#[derive(Clone, Copy, Debug)]
pub struct TaskBrief<'a> {
    pub id: &'a TaskId,
    pub title: &'a str,
    /// The task as it stands in its file.
    pub block: &'a str,
    pub is_verify_row: bool,
    /// The task that this one repairs in the end, if it is a fix.
    pub root: Option<RootContext<'a>>,
    /// What may help a fix, as the diagnosis sees it.
    pub suggestions: &'a [String],
    pub spec_name: &'a str,
    pub spec_dir: &'a str,
    pub tasks_file: &'a str,
    pub progress_file: &'a str,
    /// From 1.
    pub attempt: u32,
    pub max_attempts: u32,
}

/// The original that a fix belongs to.
#[derive(Clone, Copy, Debug)]
pub struct RootContext<'a> {
    pub id: &'a TaskId,
    pub title: &'a str,
    pub block: &'a str,
}

/// Why there is a prompt.
#[derive(Clone, Copy, Debug)]
pub enum PromptReason<'a> {
    First,
    /// The attempt before this one failed.
    Retry {
        failure: &'a FailureRecord,
        /// What was done about it since.
        since: &'a str,
    },
    /// All may be well, but the agent gave no signal.
    Reminder,
    /// The attempt before this one was cut off; what is known of it.
    Interrupted {
        known: &'a str,
        diagnosis: Option<&'a Failure>,
    },
    /// The attempt before this one lacked something, which was looked up.
    Enriched(&'a FailureRecord, ProjectContext<'a>),
    /// The attempt before this one changed nothing.
    NoOp,
    /// The task gets nowhere in its time: it has to be split.
    Split(Option<&'a FailureRecord>),
}

impl PromptReason<'_> {
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

/// What a look at the workspace shows.
#[derive(Clone, Copy, Debug)]
pub struct ProjectContext<'a> {
    pub root: &'a str,
    pub survey: &'a Survey,
}

/// A delegation: a prompt, and which attempt at it this is.
#[derive(Clone, Copy, Debug)]
pub struct DelegateBrief<'a> {
    pub prompt: &'a str,
    /// From 1.
    pub attempt: u32,
    pub max_attempts: u32,
}

/// One part of a delegation that was divided.
#[derive(Clone, Copy, Debug)]
pub struct PartBrief<'a> {
    pub number: usize,
    pub total: usize,
    pub part: &'a str,
    /// The prompt of the delegation.
    pub whole: &'a str,
    /// The parts before it.
    pub done: &'a [String],
}
