//! A state file made from the task file, where there is none or it is past reading.

use regreen_model::StateFile;

use crate::state::{State, TaskResult};
use crate::tasks::{Next, Pick, TaskFile};

impl State {
    /// Updates the state with what a run says, and with the boxes of the tasks.
    pub fn record_run(&mut self, run: &StateFile, tasks: &TaskFile) {
        self.set_task_index(run.task_index);
        self.set_total_tasks(run.total_tasks);
        self.set_task_iteration(run.task_iteration);
        self.set_max_task_iterations(run.max_task_iterations);
        self.set_global_iteration(run.global_iteration);
        self.set_max_global_iterations(run.max_global_iterations);
        if run.recovery {
            self.set_recovery_mode(true);
            self.set_max_fix_tasks(run.max_fix_tasks);
        }
        for (task, fix, error) in &run.fixes {
            self.record_fix(task, fix, error);
        }
        for row in tasks.rows() {
            let Some(id) = tasks.id(row) else { continue };
            let result = match (tasks.is_done(row), run.results.get(id)) {
                (true, _) => TaskResult::Success,
                (false, Some(false)) => TaskResult::Failed,
                (false, _) => TaskResult::Pending,
            };
            self.set_task_result(id, result);
        }
    }

    /// What the rows say: how many there are, which is next, which have had fixes.
    #[must_use]
    pub fn from_tasks(tasks: &TaskFile) -> Self {
        let mut state = Self::default();
        state.set_phase("execution");
        let pick = Pick::default();
        let total = tasks.runnable(pick.include_optional);
        let index = match tasks.next(&pick) {
            Next::Run(row) | Next::CloseGroup(row) => tasks.index_of(row, pick.include_optional),
            Next::Nothing => total,
        };
        state.set_task_index(u32::try_from(index).unwrap_or(u32::MAX));
        state.set_total_tasks(u32::try_from(total).unwrap_or(u32::MAX));
        state.set_task_iteration(1);
        state.set_max_task_iterations(state.max_task_iterations());
        state.set_global_iteration(1);
        state.set_max_global_iterations(state.max_global_iterations());
        state.set_recovery_mode(false);
        state.set_max_fix_tasks(state.max_fix_tasks());
        state.take_rows(tasks);
        state
    }

    fn take_rows(&mut self, tasks: &TaskFile) {
        self.value
            .insert("fixTaskMap".to_owned(), serde_json::json!({}));
        self.value
            .insert("taskResults".to_owned(), serde_json::json!({}));
        for row in tasks.rows() {
            let Some(key) = tasks.key(row) else { continue };
            let is_done = tasks.is_done(row);
            let result = if is_done {
                TaskResult::Success
            } else {
                TaskResult::Pending
            };
            self.set_task_result(&key.id, result);
            if let Some(parent) = tasks.fixed_by(row).and_then(|parent| tasks.key(parent)) {
                self.record_fix(&parent.id, &key.id, tasks.fixed_error(row));
            }
        }
    }
}

impl TaskFile {
    /// Whether a row's box is ticked.
    #[must_use]
    pub fn is_done(&self, row: crate::RowId) -> bool {
        self.row(row).is_some_and(|row| row.done)
    }

    /// The error that a fix was made for, as far as its title tells.
    fn fixed_error(&self, fix: crate::RowId) -> &str {
        let title = self.row(fix).map_or("", |row| row.title.as_str());
        title.strip_prefix("Fix: ").unwrap_or(title)
    }
}
