//! What is known of one task in one run.

use std::collections::BTreeSet;

use regreen_model::{
    AttemptReport, Event, FailureRecord, Mark, PickedTask, PromptKind, Spending, TaskId, TaskKey,
    Timestamp,
};

use crate::response::Response;
use crate::run_view::OpenQuestion;

/// A task that the run has turned to, or that something happened to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskView {
    /// The task.
    pub key: TaskKey,
    /// The original that it fixes; itself if it is an original.
    pub root: TaskKey,
    /// Whether it is a group of other tasks.
    pub is_group: bool,
    /// The number of its last attempt.
    pub attempts: u32,
    /// Its attempts, oldest first.
    pub history: Vec<AttemptView>,
    /// What it has used in this run.
    pub spent: Spending,
    /// Why it failed last.
    pub failure: Option<FailureRecord>,
    /// The fix tasks that were added for it, with the failure that each was for.
    pub fixes: Vec<TaskFix>,
    /// Whether it is done.
    pub done: bool,
    /// Whether it is left out.
    pub skipped: bool,
    /// Whether it was ticked without being run, because the task that it fixes had passed.
    pub superseded: bool,
    /// The remarks about it.
    pub marks: BTreeSet<Mark>,
    /// The hash of its commit.
    pub commit: Option<String>,
    /// What a person has to decide about it.
    pub question: Option<OpenQuestion>,
}

/// One attempt at a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptView {
    /// Its number.
    pub number: u32,
    /// What the agent was told.
    pub prompt: PromptKind,
    /// When it started.
    pub started: Timestamp,
    /// How long the agent worked; `None` while it does.
    pub took_ms: Option<u64>,
    /// How many files it changed.
    pub files_changed: u32,
    /// Why it failed.
    pub failure: Option<FailureRecord>,
    /// What the run did about the failure, and whether it helped.
    pub response: Response,
}

impl AttemptView {
    fn new(number: u32, prompt: PromptKind, started: Timestamp) -> Self {
        Self {
            number,
            prompt,
            started,
            took_ms: None,
            files_changed: 0,
            failure: None,
            response: Response::default(),
        }
    }
}

/// A fix task, and the failure that it was added for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskFix {
    /// Its id.
    pub id: TaskId,
    /// Why the task that it fixes had failed.
    pub cause: Option<FailureRecord>,
}

impl TaskView {
    /// Creates a task that nothing has happened to.
    #[must_use]
    pub fn untouched(key: &TaskKey) -> Self {
        Self {
            key: key.clone(),
            root: key.clone(),
            is_group: false,
            attempts: 0,
            history: Vec::new(),
            spent: Spending::default(),
            failure: None,
            fixes: Vec::new(),
            done: false,
            skipped: false,
            superseded: false,
            marks: BTreeSet::new(),
            commit: None,
            question: None,
        }
    }

    /// Whether it fixes another task.
    #[must_use]
    pub fn is_fix(&self) -> bool {
        self.key != self.root
    }

    /// Returns an attempt.
    #[must_use]
    pub fn attempt(&self, number: u32) -> Option<&AttemptView> {
        self.history.iter().find(|attempt| attempt.number == number)
    }

    /// Passes an event on to the last failure, which it may be a response to.
    pub(crate) fn respond(&mut self, event: &Event) {
        let failed = |attempt: &&mut AttemptView| attempt.failure.is_some();
        if let Some(attempt) = self.history.iter_mut().rfind(failed) {
            attempt.response.apply(event, &self.key);
        }
    }

    pub(crate) fn begin_attempt(&mut self, number: u32, prompt: PromptKind, at: Timestamp) {
        self.attempts = number;
        self.history.push(AttemptView::new(number, prompt, at));
    }

    pub(crate) fn end_attempt(&mut self, number: u32, report: &AttemptReport) {
        let ended = |attempt: &&mut AttemptView| attempt.number == number;
        if let Some(attempt) = self.history.iter_mut().rfind(ended) {
            attempt.took_ms = Some(report.ending.duration_ms);
            attempt.files_changed = report.files_changed;
        }
    }

    pub(crate) fn fail(&mut self, number: u32, failure: &FailureRecord, at: Timestamp) {
        self.failure = Some(failure.clone());
        let is_it = |attempt: &AttemptView| attempt.number == number;
        // A check that ran before any attempt may fail as well.
        let known = self.history.iter().rposition(is_it).unwrap_or_else(|| {
            let first = AttemptView::new(number, PromptKind::First, at);
            self.history.push(first);
            self.history.len() - 1
        });
        if let Some(attempt) = self.history.get_mut(known) {
            attempt.failure = Some(failure.clone());
            attempt.response = Response::default();
        }
    }

    pub(crate) fn pick(&mut self, picked: &PickedTask) {
        self.root = picked.root.clone();
        self.is_group = picked.is_group;
        self.done = false;
        self.skipped = false;
        if self.failure.is_none() {
            self.failure.clone_from(&picked.failed_before);
        }
    }

    pub(crate) fn finish(&mut self, marks: &BTreeSet<Mark>, commit: Option<&String>) {
        self.done = true;
        self.question = None;
        self.marks.clone_from(marks);
        self.commit = commit.cloned();
    }
}
