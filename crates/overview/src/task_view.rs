//! What is known of one task in one run.

use std::collections::BTreeSet;

use regreen_model::{FailureRecord, Mark, PickedTask, Spending, TaskId, TaskKey};

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

/// A fix task, and the failure that it was added for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskFix {
    /// Its id.
    pub id: TaskId,
    /// Why the task that it fixes had failed.
    pub cause: Option<FailureRecord>,
}

impl TaskView {
    pub(crate) fn new(key: &TaskKey) -> Self {
        Self {
            key: key.clone(),
            root: key.clone(),
            is_group: false,
            attempts: 0,
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
