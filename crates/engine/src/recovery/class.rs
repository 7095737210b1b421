use std::fmt;

use regreen_model::{
    AttemptClass, AttemptReport, Failure, FailureCategory, FailureKind, RetryMode,
};
use serde::{Deserialize, Serialize};

/// The class of a failure, from which follows what it is charged to and how regreen responds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The agent's service is out for a while.
    Transient,
    /// No attempt of this run can succeed.
    Fatal,
    /// The session cannot continue, the task can.
    Session,
    /// regreen or the machine ended meanwhile.
    Interrupted,
    /// A command failed in a way that may pass by itself.
    PassingTrouble,
    /// The time was too short, but not wasted.
    TimeoutWithProgress,
    /// The time passed without a sign of progress.
    TimeoutWithoutProgress,
    /// The agent lacked information.
    MissingContext,
    /// The task itself is wrong.
    InvalidTask,
    /// An inspection allows a repair of the environment.
    Repairable,
    /// Everything else.
    Other,
}

impl FailureClass {
    /// All classes, in the order of the table.
    pub const ALL: [Self; 11] = [
        Self::Transient,
        Self::Fatal,
        Self::Session,
        Self::Interrupted,
        Self::PassingTrouble,
        Self::TimeoutWithProgress,
        Self::TimeoutWithoutProgress,
        Self::MissingContext,
        Self::InvalidTask,
        Self::Repairable,
        Self::Other,
    ];

    /// Its name, as the table has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::Fatal => "fatal",
            Self::Session => "session",
            Self::Interrupted => "interrupted",
            Self::PassingTrouble => "passing trouble",
            Self::TimeoutWithProgress => "timeout, progress",
            Self::TimeoutWithoutProgress => "timeout, no progress",
            Self::MissingContext => "missing context",
            Self::InvalidTask => "invalid task",
            Self::Repairable => "repairable",
            Self::Other => "other",
        }
    }

    /// Whether the trouble is the agent's own and not the task's: regreen responds alike whether
    /// or not recovery is on.
    #[must_use]
    pub fn is_the_agents_own(self) -> bool {
        matches!(
            self,
            Self::Transient | Self::Fatal | Self::Session | Self::Interrupted
        )
    }

    /// The class of an attempt that has failed, with what the diagnosis makes of it, if that is
    /// sure enough.
    #[must_use]
    pub fn of(report: Option<&AttemptReport>, failure: Option<&Failure>) -> Self {
        report
            .and_then(Self::of_ending)
            .or_else(|| failure.map(Self::of_failure))
            .unwrap_or(Self::Other)
    }

    /// The class that the end of the attempt alone tells; `None` if it is an ordinary end.
    #[must_use]
    pub fn of_ending(report: &AttemptReport) -> Option<Self> {
        match report.class {
            AttemptClass::Transient { .. } => Some(Self::Transient),
            AttemptClass::Fatal { .. } => Some(Self::Fatal),
            AttemptClass::Session { .. } => Some(Self::Session),
            AttemptClass::Interrupted => Some(Self::Interrupted),
            AttemptClass::Ordinary if !report.ending.timed_out => None,
            AttemptClass::Ordinary if report.progressed => Some(Self::TimeoutWithProgress),
            AttemptClass::Ordinary => Some(Self::TimeoutWithoutProgress),
        }
    }

    /// The class that the kind of a failure alone tells. A run knows more.
    #[must_use]
    pub fn of_kind(kind: FailureKind) -> Self {
        match kind {
            FailureKind::TimeoutWithProgress => Self::TimeoutWithProgress,
            FailureKind::TimeoutNoProgress => Self::TimeoutWithoutProgress,
            FailureKind::ContextOverflow | FailureKind::SessionLost => Self::Session,
            _ => Self::of_nature(kind.category(), kind, kind.retry_mode()),
        }
    }

    /// The class that the diagnosis alone tells. Whether something is repairable is for an
    /// inspection to say.
    #[must_use]
    pub fn of_failure(failure: &Failure) -> Self {
        Self::of_nature(failure.category, failure.kind, failure.retry_mode)
    }

    fn of_nature(category: FailureCategory, kind: FailureKind, mode: RetryMode) -> Self {
        match category {
            FailureCategory::MissingContext => Self::MissingContext,
            FailureCategory::InvalidTask => Self::InvalidTask,
            FailureCategory::ToolError if is_passing(kind, mode) => Self::PassingTrouble,
            // A limit of the task's own: regreen has no other time to give it.
            FailureCategory::Timeout | FailureCategory::Partial | FailureCategory::ToolError => {
                Self::Other
            }
        }
    }
}

/// Whether the same may well succeed the next time. A session that is full or lost stays so.
fn is_passing(kind: FailureKind, mode: RetryMode) -> bool {
    let is_of_session = matches!(
        kind,
        FailureKind::ContextOverflow | FailureKind::SessionLost
    );
    mode == RetryMode::AsIs && !is_of_session
}

impl fmt::Display for FailureClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
