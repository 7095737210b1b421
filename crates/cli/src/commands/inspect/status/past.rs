use std::collections::{BTreeMap, BTreeSet};

use regreen_documents::RowId;
use regreen_engine::{Phase, State, TaskState};
use regreen_model::TaskKey;
use regreen_store::Run;

use crate::history::SpecHistory;
use crate::plan::Plan;
use crate::problem::Problem;

/// What all runs did about the tasks of a plan.
#[derive(Debug, Default)]
pub(super) struct Past {
    attempts: BTreeMap<RowId, u32>,
    /// The attempts in the newest run that are charged to the task.
    used: BTreeMap<RowId, u32>,
    /// Each task as the last run that tried it left it.
    tasks: BTreeMap<RowId, TaskState>,
    /// Fixes that were ticked without being run.
    superseded: BTreeSet<TaskKey>,
}

impl Past {
    /// Reads older runs only as long as there is something left to find.
    pub(super) fn gather(
        plan: &Plan,
        history: &SpecHistory,
        older: &[Run],
        newest: &State,
    ) -> Result<Self, Problem> {
        let mut past = Self::default();
        for (task, count) in history.attempt_counts()? {
            if let Some(row) = plan.row_of(&task) {
                *past.attempts.entry(row).or_default() += count;
            }
        }
        for (key, task) in &newest.tasks {
            let row = plan.row_of(key);
            past.used
                .extend(row.map(|row| (row, used(plan, row, task))));
        }
        past.add(plan, newest);
        for run in older.iter().rev() {
            let mut tried = past.attempts.keys();
            if tried.all(|row| past.tasks.contains_key(row)) {
                break;
            }
            past.add(plan, &history.state(run)?);
        }
        Ok(past)
    }

    fn add(&mut self, plan: &Plan, state: &State) {
        self.superseded.extend(state.superseded.iter().cloned());
        let tried = state.tasks.iter().filter(|(_, task)| task.attempts > 0);
        for (key, task) in tried {
            if let Some(row) = plan.row_of(key) {
                self.tasks.entry(row).or_insert_with(|| task.clone());
            }
        }
    }

    /// Whether a fix was ticked without being run, and has not run since.
    pub(super) fn is_superseded(&self, task: &TaskKey) -> bool {
        self.superseded.contains(task)
    }

    pub(super) fn attempts(&self, row: RowId) -> u32 {
        self.attempts.get(&row).copied().unwrap_or(0)
    }

    pub(super) fn used(&self, row: RowId) -> u32 {
        self.used.get(&row).copied().unwrap_or(0)
    }

    pub(super) fn last(&self, row: RowId) -> Option<&TaskState> {
        self.tasks.get(&row)
    }
}

/// A closed task that is reopened starts over.
fn used(plan: &Plan, row: RowId, task: &TaskState) -> u32 {
    let is_reopened = task.phase == Phase::Closed && !plan.file.is_done(row);
    if is_reopened { 0 } else { task.iterations }
}
