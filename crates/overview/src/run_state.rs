//! The state of a run in one word.

use regreen_model::{RunOutcome, named_enum};
use serde::Serialize;

use crate::run_view::Activity;

named_enum! {
    /// The state of a run.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum RunState {
        /// A process works on it.
        Running = "running",
        /// It waits for a service.
        Waiting = "waiting",
        /// It can't go on without a person.
        NeedsPerson = "needs_person",
        /// Its process is gone, without having recorded an end.
        Killed = "killed",
        /// Someone stopped it.
        Stopped = "stopped",
        /// A service was unavailable for too long.
        TryLater = "try_later",
        /// Something that regreen needs is missing.
        SetUp = "set_up",
        /// It ended, and not everything is done.
        Failed = "failed",
        /// Everything is done.
        Done = "done",
    }
}

impl RunState {
    /// Returns the state of a run that is doing this, or has ended in this way.
    #[must_use]
    pub fn of(outcome: Option<&RunOutcome>, activity: &Activity, is_active: bool) -> Self {
        match (outcome, activity) {
            (None, _) if !is_active => Self::Killed,
            (None, Activity::Waiting { .. }) => Self::Waiting,
            (None, Activity::Asking { .. }) => Self::NeedsPerson,
            (None, _) => Self::Running,
            (Some(RunOutcome::AllGreen | RunOutcome::OnlyDone), _) => Self::Done,
            (Some(RunOutcome::NeedsPerson { .. }), _) => Self::NeedsPerson,
            (Some(RunOutcome::Stopped { .. }), _) => Self::Stopped,
            (Some(RunOutcome::TryLater { .. }), _) => Self::TryLater,
            (Some(RunOutcome::SetUp { .. }), _) => Self::SetUp,
            (
                Some(RunOutcome::Skipped | RunOutcome::Limit { .. } | RunOutcome::Regressed { .. }),
                _,
            ) => Self::Failed,
        }
    }

    /// Returns the words for people: what it is, and how to go on.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::NeedsPerson => "needs your decision",
            Self::Killed => "killed; `regreen run` resumes it",
            Self::Stopped => "stopped; `regreen run` resumes it",
            Self::TryLater => "try again later; `regreen run` resumes it",
            Self::SetUp => "setup must be fixed; `regreen run` resumes it",
            Self::Failed => "ended; not everything is done",
            Self::Done => "done",
        }
    }
}
