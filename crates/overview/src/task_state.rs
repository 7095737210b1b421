//! The state of a task in a word, the same in every face.

use regreen_model::OutlineRow;

use crate::machine::RunDetails;
use crate::task_view::TaskView;

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// The run works on it.
    Current,
    /// It waits for a person.
    NeedsPerson,
    /// It is a fix that nobody needs any more.
    NotNeeded,
    /// It failed, and fixes made it pass.
    Healed,
    /// It is done.
    Done,
    /// It is left out.
    Skipped,
    /// It failed.
    Failed,
    /// It runs only on request.
    Optional,
    /// Nothing has happened to it.
    Open,
}

impl TaskState {
    /// Returns the state of a task, as far as its run knows it.
    #[must_use]
    pub fn of(task: &TaskView) -> Self {
        if task.question.is_some() {
            Self::NeedsPerson
        } else if task.superseded {
            Self::NotNeeded
        } else if task.done && !task.fixes.is_empty() {
            Self::Healed
        } else if task.done {
            Self::Done
        } else if task.skipped {
            Self::Skipped
        } else if task.failure.is_some() {
            Self::Failed
        } else {
            Self::Open
        }
    }

    /// Returns the state of a row. The file has the last word about what is done.
    #[must_use]
    pub fn of_row(run: &RunDetails, row: &OutlineRow) -> Self {
        let is_current = run.summary.is_active() && run.summary.current.as_ref() == Some(&row.key);
        match run.view.task(&row.key) {
            _ if is_current && !row.done => Self::Current,
            Some(task) if task.done == row.done => Self::of(task),
            _ if row.done => Self::Done,
            Some(task) if task.question.is_some() => Self::of(task),
            _ if row.optional => Self::Optional,
            _ => Self::Open,
        }
    }

    /// Returns the words for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Current => "now",
            Self::NeedsPerson => "needs you",
            Self::NotNeeded => "not needed",
            Self::Healed => "healed",
            Self::Done => "done",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
            Self::Optional => "optional",
            Self::Open => "open",
        }
    }
}
