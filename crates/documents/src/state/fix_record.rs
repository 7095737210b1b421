//! The state file's entries for single tasks, and creating a state file from the task file.

use std::collections::BTreeMap;

use regreen_model::StateFile;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::json::{StateWarning, as_count, type_name};
use super::state_file::{StateDocument, as_object};
use crate::tasks::{Next, Pick, TaskFile};

/// The phase in which tasks are run.
const EXECUTION: &str = "execution";
const FORGIVEN: &str = "forgiven";
const FORGIVEN_TITLES: &str = "forgivenTitles";

/// The fixes of a task, as recorded in the state file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FixRecord {
    /// The number of fixes according to the file.
    pub attempts: u32,
    /// The ids of the fixes.
    pub fix_task_ids: Vec<String>,
    /// The error that the last fix was made for.
    pub last_error: String,
    /// How many fixes no longer count, because a person chose to retry the task.
    pub forgiven: u32,
    /// The same for each of several tasks with this id, by title: retrying one gives the others no
    /// extra fixes.
    pub forgiven_titles: BTreeMap<String, u32>,
}

impl FixRecord {
    /// Returns how many fixes no longer count for a task; `title` selects one of several tasks with
    /// this id.
    #[must_use]
    pub fn forgiven(&self, title: Option<&str>) -> u32 {
        match title.filter(|_| !self.forgiven_titles.is_empty()) {
            Some(title) => self.forgiven_titles.get(title).copied().unwrap_or(0),
            // The id belonged to a single task when a person chose to retry it.
            None => self.forgiven,
        }
    }

    /// Returns the number of fixes. An entry may have lost an id or a count, so the larger one is
    /// used.
    #[must_use]
    pub fn count(&self) -> u32 {
        let ids = u32::try_from(self.fix_task_ids.len()).unwrap_or(u32::MAX);
        self.attempts.max(ids)
    }

    pub(super) fn read(id: &str, entry: &Value, warnings: &mut Vec<StateWarning>) -> Self {
        let path = |key: &str| format!("fixTaskMap.{id}{key}");
        let Some(entry) = entry.as_object() else {
            warnings.push(StateWarning::new(path(""), "an object", entry, "no fixes"));
            return Self::default();
        };
        let fix_task_ids = ids(entry, &path(".fixTaskIds"), warnings);
        let attempts = match entry.get("attempts") {
            None => None,
            Some(value) => as_count(value).or_else(|| {
                let used = fix_task_ids.len().to_string();
                warnings.push(StateWarning::new(
                    path(".attempts"),
                    "a number",
                    value,
                    &used,
                ));
                None
            }),
        };
        let last_error = entry.get("lastError").and_then(Value::as_str);
        Self {
            attempts: attempts.unwrap_or(u32::try_from(fix_task_ids.len()).unwrap_or(u32::MAX)),
            fix_task_ids,
            last_error: last_error.unwrap_or_default().to_owned(),
            forgiven: entry.get(FORGIVEN).and_then(as_count).unwrap_or(0),
            forgiven_titles: titles(entry),
        }
    }

    /// Adds a fix to an entry and keeps everything else. A fix that is already there isn't counted
    /// again.
    pub(super) fn add(entry: &mut Value, fix: &str, error: &str) {
        let mut ignored = Vec::new();
        let known = Self::read("", entry, &mut ignored);
        if known.fix_task_ids.iter().any(|id| id == fix) {
            return;
        }
        let mut ids = known.fix_task_ids.clone();
        ids.push(fix.to_owned());
        if let Some(entry) = as_object(entry) {
            entry.insert("attempts".into(), json!(known.count().saturating_add(1)));
            entry.insert("fixTaskIds".into(), json!(ids));
            entry.insert("lastError".into(), json!(error));
        }
    }
}

impl FixRecord {
    /// Sets how many fixes of an entry no longer count, and keeps everything else. `title` selects
    /// one of several tasks with this id.
    pub(super) fn forgive(entry: &mut Value, title: Option<&str>, fixes: u32) {
        let Some(entry) = as_object(entry) else {
            return;
        };
        for (key, empty) in [("attempts", json!(0)), ("fixTaskIds", json!([]))] {
            entry.entry(key).or_insert(empty);
        }
        match title {
            None => entry.insert(FORGIVEN.into(), json!(fixes)),
            Some(title) => {
                let mut titles = titles(entry);
                titles.insert(title.to_owned(), fixes);
                entry.insert(FORGIVEN_TITLES.into(), json!(titles))
            }
        };
    }
}

fn titles(entry: &Map<String, Value>) -> BTreeMap<String, u32> {
    let titles = entry.get(FORGIVEN_TITLES).and_then(Value::as_object);
    let counts = titles.into_iter().flatten();
    counts
        .filter_map(|(title, fixes)| Some((title.clone(), as_count(fixes)?)))
        .collect()
}

fn ids(entry: &Map<String, Value>, path: &str, warnings: &mut Vec<StateWarning>) -> Vec<String> {
    let Some(value) = entry.get("fixTaskIds") else {
        return Vec::new();
    };
    let Some(items) = value.as_array() else {
        warnings.push(StateWarning::new(
            path.to_owned(),
            "a list of ids",
            value,
            "no ids",
        ));
        return Vec::new();
    };
    let mut ids = Vec::new();
    for (at, item) in items.iter().enumerate() {
        match item.as_str() {
            Some(id) => ids.push(id.to_owned()),
            None => warnings.push(StateWarning {
                path: format!("{path}[{at}]"),
                message: format!("expected an id, found {}; ignored", type_name(item)),
            }),
        }
    }
    ids
}

/// The result of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskResult {
    /// Not done yet.
    Pending,
    /// Done.
    Success,
    /// Failed.
    Failed,
}

impl TaskResult {
    /// Returns the name used in the file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Success => "success",
            Self::Failed => "failed",
        }
    }
}

impl StateDocument {
    /// Updates the state from a run and from the boxes of the tasks.
    pub fn record_run(&mut self, run: &StateFile, tasks: &TaskFile) {
        if self.phase() != Some(EXECUTION) {
            self.set_phase(EXECUTION);
        }
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

    /// Creates a state from the rows: how many there are, which is next, which had fixes.
    #[must_use]
    pub fn from_tasks(tasks: &TaskFile) -> Self {
        let mut state = Self::default();
        state.set_phase(EXECUTION);
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
    /// Returns whether a row is ticked.
    #[must_use]
    pub fn is_done(&self, row: crate::RowId) -> bool {
        self.row(row).is_some_and(|row| row.done)
    }

    /// Returns the error that a fix was made for, as far as its title tells.
    fn fixed_error(&self, fix: crate::RowId) -> &str {
        let title = self.row(fix).map_or("", |row| row.title.as_str());
        title.strip_prefix("Fix: ").unwrap_or(title)
    }
}
