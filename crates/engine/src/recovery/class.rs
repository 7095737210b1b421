use std::fmt;

use regreen_model::{
    AttemptClass, AttemptReport, Failure, FailureCategory, FailureKind, RetryMode,
};
use serde::{Deserialize, Serialize};

/// The class of a failure, which decides what it is charged to and how regreen responds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The agent's service is temporarily unavailable.
    Transient,
    /// No attempt in this run can succeed.
    Fatal,
    /// The session can't continue, but the task can.
    Session,
    /// regreen or the machine went down during the attempt.
    Interrupted,
    /// A command failed in a way that may go away by itself.
    PassingTrouble,
    /// The attempt ran out of time but made progress.
    TimeoutWithProgress,
    /// The attempt ran out of time without a sign of progress.
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
    /// All classes, in table order.
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

    /// Returns its name in the table.
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

    /// Whether the trouble is the agent's own, not the task's. regreen then responds the same way
    /// with or without recovery.
    #[must_use]
    pub fn is_the_agents_own(self) -> bool {
        matches!(
            self,
            Self::Transient | Self::Fatal | Self::Session | Self::Interrupted
        )
    }

    /// Returns the class of a failed attempt, using the diagnosis if it is sure enough.
    #[must_use]
    pub fn of(report: Option<&AttemptReport>, failure: Option<&Failure>) -> Self {
        report
            .and_then(Self::of_ending)
            .or_else(|| failure.map(Self::of_failure))
            .unwrap_or(Self::Other)
    }

    /// Returns the class if the attempt's ending alone decides it; `None` for an ordinary ending.
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

    /// Returns the class as far as the kind alone tells. A run knows more.
    #[must_use]
    pub fn of_kind(kind: FailureKind) -> Self {
        match kind {
            FailureKind::TimeoutWithProgress => Self::TimeoutWithProgress,
            FailureKind::TimeoutNoProgress => Self::TimeoutWithoutProgress,
            FailureKind::ContextOverflow | FailureKind::SessionLost => Self::Session,
            _ => Self::of_nature(kind.category(), kind, kind.retry_mode()),
        }
    }

    /// Returns the class as far as the diagnosis alone tells. Whether something is repairable takes
    /// an inspection.
    #[must_use]
    pub fn of_failure(failure: &Failure) -> Self {
        Self::of_nature(failure.category, failure.kind, failure.retry_mode)
    }

    fn of_nature(category: FailureCategory, kind: FailureKind, mode: RetryMode) -> Self {
        match category {
            FailureCategory::MissingContext => Self::MissingContext,
            FailureCategory::InvalidTask => Self::InvalidTask,
            FailureCategory::ToolError if is_passing(kind, mode) => Self::PassingTrouble,
            // The task's own time limit: regreen can't extend it.
            FailureCategory::Timeout | FailureCategory::Partial | FailureCategory::ToolError => {
                Self::Other
            }
        }
    }
}

/// Whether the same attempt may well succeed the next time. A full or lost session stays that way.
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
