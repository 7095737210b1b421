//! Running totals of what a run has used and done: folds of its events.

use std::collections::{BTreeMap, BTreeSet};

use regreen_model::{
    AttemptReport, ChoiceKind, Event, Mark, OutlineRow, PickedTask, PromptKind, RunConfig,
    Spending, TaskKey, UsageLedger,
};

use crate::status_line::Tone;

/// What a run has used of its limits, counted by the same rules by which the engine charges.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunTotals {
    pub(crate) run: String,
    pub(crate) config: RunConfig,
    /// Attempts charged to the run.
    pub(crate) used: u32,
    pub(crate) waited_ms: u64,
    /// Tokens and their cost.
    pub(crate) spent: Spending,
    sessions: UsageLedger,
    /// The last task that was picked.
    pub(crate) picked: Option<PickedTask>,
    limit: Option<u32>,
    /// The last failed task failed only because of its Verify.
    only_red: bool,
    charged: BTreeMap<TaskKey, u32>,
    closed: BTreeSet<TaskKey>,
    /// The finished originals, with their marks.
    finished: BTreeMap<TaskKey, BTreeSet<Mark>>,
}

/// How many of the originals that regreen finished were not verified, or not wholly green.
#[derive(Clone, Copy, Debug)]
pub struct VerifiedShare {
    /// The finished originals.
    pub done: usize,
    /// Those that nothing verified.
    pub unverified: usize,
    /// Those whose checks have known failures.
    pub known_failures: usize,
}

impl VerifiedShare {
    /// Returns how to show a run that is done: never as simply done if something was not verified.
    #[must_use]
    pub fn outcome(self) -> (Tone, String) {
        let Self {
            done,
            unverified,
            known_failures,
        } = self;
        match unverified {
            0 if known_failures > 0 => (
                Tone::Warning,
                format!("done, {known_failures} of {done} with known failures"),
            ),
            _ if known_failures > 0 => (
                Tone::Warning,
                format!(
                    "done, {known_failures} of {done} with known failures, {unverified} unverified"
                ),
            ),
            0 => (Tone::Good, "all tasks done".to_owned()),
            _ if unverified == done => (
                Tone::Warning,
                format!("done, {unverified} of {done} unverified"),
            ),
            _ => (
                Tone::Good,
                format!("all tasks done, {unverified} of {done} unverified"),
            ),
        }
    }
}

impl RunTotals {
    pub(crate) fn verified_share(&self) -> VerifiedShare {
        let with = |mark: Mark| {
            let marks = self.finished.values();
            marks.filter(|marks| marks.contains(&mark)).count()
        };
        VerifiedShare {
            done: self.finished.len(),
            unverified: with(Mark::Unverified),
            known_failures: with(Mark::KnownFailures),
        }
    }

    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::RunStarted { run, config, .. } => {
                *self = Self {
                    run: run.clone(),
                    config: config.clone(),
                    ..Self::default()
                };
            }
            Event::RunResumed {
                config: Some(config),
                ..
            } => self.adopt(config),
            Event::Chosen { choice } if choice.what == ChoiceKind::Retry => {
                self.charged.remove(&choice.task);
            }
            Event::LimitSettled { max_iterations } => self.limit = Some(*max_iterations),
            Event::TaskPicked { task } => self.pick(task),
            Event::AttemptEnded {
                task,
                charged,
                counted,
                report,
                ..
            } => {
                self.used += u32::from(counted.unwrap_or(*charged));
                *self.charged.entry(task.clone()).or_default() += u32::from(*charged);
                self.spend(report);
            }
            Event::TaskFailed { only_red, .. } => self.only_red = *only_red,
            Event::RepeatPlanned { task } if !self.only_red => {
                let charged = self.charged.entry(task.clone()).or_default();
                *charged = charged.saturating_sub(1);
            }
            Event::TaskDone { task, marks, .. } => {
                self.closed.insert(task.clone());
                if self.is_own_work(task) {
                    self.finished.insert(task.clone(), marks.clone());
                }
            }
            Event::TaskSkipped { task } => {
                self.closed.insert(task.clone());
            }
            Event::FinalCheckEnded { known_failures, .. } => {
                for task in known_failures {
                    if let Some(marks) = self.finished.get_mut(task) {
                        marks.insert(Mark::KnownFailures);
                    }
                }
            }
            // The task keeps its attempts.
            Event::TaskReopened { task } => {
                self.closed.remove(task);
                self.finished.remove(task);
            }
            Event::WaitEnded { waited_ms, .. } => {
                self.waited_ms = self.waited_ms.saturating_add(*waited_ms);
            }
            _ => {}
        }
    }

    fn spend(&mut self, report: &AttemptReport) {
        if let Some(usage) = &report.usage {
            let session = report.session.as_deref();
            self.spent.add_usage(&self.sessions.count(session, usage));
        }
    }

    /// Applies a changed limit; all others stay as they were.
    fn adopt(&mut self, config: &RunConfig) {
        if config.limits.global_iterations != self.config.limits.global_iterations {
            self.limit = None;
        }
        self.config = config.clone();
    }

    /// A closed task that is picked again was reopened by a person and starts over.
    fn pick(&mut self, task: &PickedTask) {
        if self.closed.remove(&task.task) {
            self.charged.remove(&task.task);
        }
        self.picked = Some(task.clone());
    }

    /// Whether a finished task is neither a fix nor a group.
    fn is_own_work(&self, task: &TaskKey) -> bool {
        let picked = self.picked.as_ref().filter(|picked| picked.task == *task);
        picked.is_none_or(|picked| !picked.is_fix() && !picked.is_group)
    }

    /// Returns the original that a task fixes; `None` if it is an original itself.
    pub(crate) fn original_of(&self, task: &TaskKey) -> Option<&TaskKey> {
        let picked = self.picked.as_ref()?;
        (picked.task == *task && picked.is_fix()).then_some(&picked.root)
    }

    /// Returns how many attempts are charged to a task.
    pub(crate) fn used_by(&self, task: &TaskKey) -> u32 {
        self.charged.get(task).copied().unwrap_or(0)
    }

    /// Returns the number of the attempt that has just started, among those that count. A reminder
    /// is part of the attempt before it.
    pub(crate) fn number_of(&self, task: &TaskKey, prompt: PromptKind) -> u32 {
        let used = self.used_by(task);
        match prompt {
            PromptKind::Reminder | PromptKind::Split => used.max(1),
            PromptKind::First
            | PromptKind::Retry
            | PromptKind::NoOp
            | PromptKind::Interrupted
            | PromptKind::NewSession
            | PromptKind::Enriched => used + 1,
        }
    }

    pub(crate) fn limit_of_task(&self) -> u32 {
        self.config.limits.task_iterations
    }

    pub(crate) fn limit_of_run(&self) -> u32 {
        self.limit.unwrap_or(self.config.limits.global_iterations)
    }
}

/// The plan as last read, with the tasks that were done since.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outline {
    rows: Vec<OutlineRow>,
}

/// The number of rows, and how many of them are done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) done: usize,
    pub(crate) total: usize,
}

impl Share {
    pub(crate) fn of<'a>(rows: impl IntoIterator<Item = &'a OutlineRow>) -> Self {
        rows.into_iter().fold(Self::default(), |share, row| Self {
            done: share.done + usize::from(row.done),
            total: share.total + 1,
        })
    }

    pub(crate) fn open(self) -> usize {
        self.total - self.done
    }
}

impl Outline {
    pub(crate) fn rows(&self) -> &[OutlineRow] {
        &self.rows
    }

    /// Replaces the rows, and returns whether they have changed.
    pub(crate) fn replace(&mut self, rows: &[OutlineRow]) -> bool {
        let differs = self.rows != rows;
        if differs {
            self.rows = rows.to_vec();
        }
        differs
    }

    pub(crate) fn apply(&mut self, event: &Event) {
        let (task, done) = match event {
            Event::TaskDone { task, .. } => (task, true),
            Event::TaskReopened { task } => (task, false),
            _ => return,
        };
        let row = self.rows.iter_mut().find(|row| row.key == *task);
        if let Some(row) = row {
            row.done = done;
        }
    }

    pub(crate) fn position(&self, task: &TaskKey) -> Option<usize> {
        self.rows.iter().position(|row| row.key == *task)
    }

    /// Counts the required originals.
    pub(crate) fn originals(&self, include_optional: bool) -> Share {
        let is_required = |row: &&OutlineRow| include_optional || !row.optional;
        let originals = self.rows.iter().filter(|row| row.is_original());
        Share::of(originals.filter(is_required))
    }

    /// Counts the fixes; those that were ticked without being run do not count as done.
    pub(crate) fn fixes(&self, superseded: &[TaskKey]) -> Share {
        let fixes = self.rows.iter().filter(|row| !row.is_original());
        let fixes = fixes.map(|row| OutlineRow {
            done: row.done && !superseded.contains(&row.key),
            ..row.clone()
        });
        Share::of(&fixes.collect::<Vec<_>>())
    }
}
