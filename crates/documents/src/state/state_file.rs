//! The state file: typed reading and editing in place.

use std::collections::BTreeMap;

use regreen_model::{ERROR_CHARS, PlainLine, PlanQuery, TaskId};
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::fix_record::{FixRecord, TaskResult};
use super::json::{
    AWAITING_APPROVAL, COUNTS, CountKey, EPIC_NAME, FIX_TASK_MAP, FLAGS, FlagKey, GLOBAL_ITERATION,
    JsonStyle, MAPS, MAX_FIX_DEPTH, MAX_FIX_TASKS, MAX_GLOBAL_ITERATIONS, MAX_MODIFICATION_DEPTH,
    MAX_MODIFICATIONS, MAX_TASK_ITERATIONS, MODIFICATION_MAP, PHASE, QUICK_MODE, RECOVERY_MODE,
    StateWarning, TASK_INDEX, TASK_ITERATION, TASK_RESULTS, TOTAL_TASKS, as_count,
};
use crate::tasks::{RowId, TaskFile};

/// The state file. Unknown keys stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateDocument {
    pub(super) value: Map<String, Value>,
    style: JsonStyle,
}

/// Why a text isn't a state file. The caller moves it aside and rebuilds it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidState {
    /// The text is not JSON.
    #[error("not JSON: {0}")]
    NotJson(String),
    /// The JSON is not an object.
    #[error("JSON, but not an object")]
    NotAnObject,
}

impl StateDocument {
    /// Reads a state file. Known keys with the wrong type are reported, and their defaults used.
    ///
    /// # Errors
    /// Returns an error if the text is not a JSON object.
    pub fn read(text: &str) -> Result<(Self, Vec<StateWarning>), InvalidState> {
        let body = text.trim_start_matches('\u{FEFF}');
        let value: Value =
            serde_json::from_str(body).map_err(|error| InvalidState::NotJson(error.to_string()))?;
        let Value::Object(value) = value else {
            return Err(InvalidState::NotAnObject);
        };
        let state = Self {
            value,
            style: JsonStyle::of(text),
        };
        let warnings = state.warnings();
        Ok((state, warnings))
    }

    /// Returns the text of the file in its original layout.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.style.render(&self.value)
    }

    fn warnings(&self) -> Vec<StateWarning> {
        let mut warnings = Vec::new();
        for key in COUNTS {
            self.warn_unless(
                key.name,
                "a number",
                &key.default.to_string(),
                &mut warnings,
                |v| as_count(v).is_some(),
            );
        }
        for key in FLAGS {
            self.warn_unless(
                key.name,
                "true or false",
                "false",
                &mut warnings,
                Value::is_boolean,
            );
        }
        for name in MAPS {
            self.warn_unless(name, "an object", "{}", &mut warnings, Value::is_object);
        }
        self.warn_unless(PHASE, "text", "none", &mut warnings, Value::is_string);
        for (id, entry) in self.entries(FIX_TASK_MAP) {
            FixRecord::read(id, entry, &mut warnings);
        }
        warnings
    }

    fn warn_unless(
        &self,
        name: &str,
        expected: &str,
        used: &str,
        warnings: &mut Vec<StateWarning>,
        fits: impl Fn(&Value) -> bool,
    ) {
        if let Some(value) = self.value.get(name).filter(|value| !fits(value)) {
            warnings.push(StateWarning::new(name.to_owned(), expected, value, used));
        }
    }

    fn count(&self, key: CountKey) -> u32 {
        self.value
            .get(key.name)
            .and_then(as_count)
            .unwrap_or(key.default)
    }

    /// Sets a number, unless the file already has it in any form.
    fn set_count(&mut self, key: CountKey, count: u32) {
        if self.value.get(key.name).and_then(as_count) != Some(count) {
            self.value.insert(key.name.to_owned(), json!(count));
        }
    }

    fn flag(&self, key: FlagKey) -> bool {
        self.value
            .get(key.name)
            .and_then(Value::as_bool)
            .unwrap_or(false)
    }

    pub(super) fn entries(&self, map: &str) -> impl Iterator<Item = (&String, &Value)> {
        self.value
            .get(map)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
    }

    /// Returns the entry of a task in one of the maps, creating it if necessary.
    pub(super) fn entry(&mut self, map: &str, id: &TaskId) -> Option<&mut Value> {
        let map = self.value.entry(map).or_insert_with(|| json!({}));
        if !map.is_object() {
            *map = json!({});
        }
        Some(
            map.as_object_mut()?
                .entry(id.as_str())
                .or_insert(Value::Null),
        )
    }

    /// Takes over the limits of another version of the file, and whether failures are healed.
    /// Returns the names of those that differed.
    pub fn take_limits_of(&mut self, other: &Self) -> Vec<&'static str> {
        let counts = [
            MAX_TASK_ITERATIONS,
            MAX_GLOBAL_ITERATIONS,
            MAX_FIX_TASKS,
            MAX_FIX_DEPTH,
            MAX_MODIFICATIONS,
            MAX_MODIFICATION_DEPTH,
        ];
        let differing = counts
            .into_iter()
            .filter(|key| self.count(*key) != other.count(*key))
            .map(|key| key.name);
        let recovery = RECOVERY_MODE.name;
        let is_other = self.recovery_mode() != other.recovery_mode();
        let names: Vec<&'static str> = differing.chain(is_other.then_some(recovery)).collect();
        for name in &names {
            match other.value.get(*name) {
                Some(value) => drop(self.value.insert((*name).to_owned(), value.clone())),
                None => drop(self.value.shift_remove(*name)),
            }
        }
        names
    }

    /// Returns the phase.
    #[must_use]
    pub fn phase(&self) -> Option<&str> {
        self.value.get(PHASE)?.as_str()
    }

    /// Sets the phase.
    pub fn set_phase(&mut self, phase: &str) {
        self.value.insert(PHASE.to_owned(), json!(phase));
    }

    /// Returns the 0-based position of the current original among the rows to run.
    #[must_use]
    pub fn task_index(&self) -> u32 {
        self.count(TASK_INDEX)
    }

    /// Sets the position of the current original.
    pub fn set_task_index(&mut self, index: u32) {
        self.set_count(TASK_INDEX, index);
    }

    /// Returns how many tasks there are.
    #[must_use]
    pub fn total_tasks(&self) -> u32 {
        self.count(TOTAL_TASKS)
    }

    /// Sets how many tasks there are.
    pub fn set_total_tasks(&mut self, total: u32) {
        self.set_count(TOTAL_TASKS, total);
    }

    /// Returns the attempt number within the current task.
    #[must_use]
    pub fn task_iteration(&self) -> u32 {
        self.count(TASK_ITERATION)
    }

    /// Sets the attempt number within the current task.
    pub fn set_task_iteration(&mut self, iteration: u32) {
        self.set_count(TASK_ITERATION, iteration);
    }

    /// Returns how many attempts a task may have.
    #[must_use]
    pub fn max_task_iterations(&self) -> u32 {
        self.count(MAX_TASK_ITERATIONS)
    }

    /// Sets how many attempts a task may have.
    pub fn set_max_task_iterations(&mut self, max: u32) {
        self.set_count(MAX_TASK_ITERATIONS, max);
    }

    /// Returns the attempt number within the run.
    #[must_use]
    pub fn global_iteration(&self) -> u32 {
        self.count(GLOBAL_ITERATION)
    }

    /// Sets the attempt number within the run.
    pub fn set_global_iteration(&mut self, iteration: u32) {
        self.set_count(GLOBAL_ITERATION, iteration);
    }

    /// Returns how many attempts a run may have.
    #[must_use]
    pub fn max_global_iterations(&self) -> u32 {
        self.count(MAX_GLOBAL_ITERATIONS)
    }

    /// Sets how many attempts a run may have.
    pub fn set_max_global_iterations(&mut self, max: u32) {
        self.set_count(MAX_GLOBAL_ITERATIONS, max);
    }

    /// Returns how many fix tasks a task may get.
    #[must_use]
    pub fn max_fix_tasks(&self) -> u32 {
        self.count(MAX_FIX_TASKS)
    }

    /// Sets how many fix tasks a task may get.
    pub fn set_max_fix_tasks(&mut self, max: u32) {
        self.set_count(MAX_FIX_TASKS, max);
    }

    /// Returns the maximum depth of fixes of fixes.
    #[must_use]
    pub fn max_fix_depth(&self) -> u32 {
        self.count(MAX_FIX_DEPTH)
    }

    /// Returns whether failures are healed.
    #[must_use]
    pub fn recovery_mode(&self) -> bool {
        self.flag(RECOVERY_MODE)
    }

    /// Returns whether a person must approve before the next phase.
    #[must_use]
    pub fn awaits_approval(&self) -> bool {
        self.flag(AWAITING_APPROVAL)
    }

    /// Returns whether all phases run without asking.
    #[must_use]
    pub fn quick_mode(&self) -> bool {
        self.flag(QUICK_MODE)
    }

    /// Sets whether failures are healed.
    pub fn set_recovery_mode(&mut self, on: bool) {
        self.value.insert(RECOVERY_MODE.name.to_owned(), json!(on));
    }

    /// Returns the fixes of each task, by id.
    #[must_use]
    pub fn fix_task_map(&self) -> BTreeMap<String, FixRecord> {
        let mut reported = Vec::new();
        self.entries(FIX_TASK_MAP)
            .map(|(id, entry)| (id.clone(), FixRecord::read(id, entry, &mut reported)))
            .collect()
    }

    /// Records a fix for a task and the error it was made for. Recording it twice changes nothing.
    pub fn record_fix(&mut self, task: &TaskId, fix: &TaskId, error: &str) {
        if let Some(entry) = self.entry(FIX_TASK_MAP, task) {
            let error = PlainLine::flatten(error, ERROR_CHARS);
            FixRecord::add(entry, fix.as_str(), error.as_str());
        }
    }

    /// Forgives what these rows have used of their budgets, because a person chose to retry them.
    pub fn forgive_all(&mut self, file: &TaskFile, tasks: &[RowId]) {
        self.record_fixes_in(file, tasks);
        let map = self.fix_task_map();
        for row in tasks {
            let made = file.fixes_made(*row, &map);
            let id = file.key(*row).map(|key| key.id);
            if let Some(id) = id.filter(|id| made > 0 || self.modifications(id) > 0) {
                self.forgive(&id, file.title_among_namesakes(*row), made);
            }
        }
    }

    /// Records the fixes that only the task file has, because regreen was killed before it could
    /// save them, or a person wrote them. Forgiven unrecorded, they would make up for later ones as
    /// soon as someone removes their rows.
    fn record_fixes_in(&mut self, file: &TaskFile, tasks: &[RowId]) {
        let map = self.fix_task_map();
        for row in tasks {
            let Some(task) = file.id(*row) else { continue };
            let last_error = map.get(task.as_str()).map(|record| &record.last_error);
            for fix in file.fixes(*row).filter_map(|fix| file.id(fix)) {
                self.record_fix(task, fix, last_error.map_or("", String::as_str));
            }
        }
    }

    /// Forgives this many fixes of a task and all of its requests to change the plan, because a
    /// person chose to retry it. `title` selects one of several tasks with this id.
    pub fn forgive(&mut self, task: &TaskId, title: Option<&str>, fixes: u32) {
        if let Some(entry) = self.entry(FIX_TASK_MAP, task) {
            FixRecord::forgive(entry, title, fixes);
        }
        if self.modifications(task) > 0 {
            self.set_modifications(task, 0);
        }
    }

    /// Points at the first open task, and no longer records reopened tasks as done.
    pub fn reopen(&mut self, file: &TaskFile) {
        let open: Vec<TaskId> = file
            .rows()
            .filter(|row| !file.is_done(*row))
            .filter_map(|row| file.key(row).map(|key| key.id))
            .filter(|id| self.task_result(id) == Some(TaskResult::Success))
            .collect();
        for id in open {
            self.set_task_result(&id, TaskResult::Pending);
        }
        let status = file.plan_status(&PlanQuery::default());
        self.set_total_tasks(status.total);
        if let Some(first) = status.first_open.filter(|first| *first < self.task_index()) {
            self.set_task_index(first);
            self.set_task_iteration(1);
        }
    }

    /// Returns the result of a task.
    #[must_use]
    pub fn task_result(&self, task: &TaskId) -> Option<TaskResult> {
        let (_, entry) = self
            .entries(TASK_RESULTS)
            .find(|(id, _)| *id == task.as_str())?;
        let word = entry.get("status").unwrap_or(entry);
        serde_json::from_value(word.clone()).ok()
    }

    /// Records the result of a task as an object with a `status`; older files have a plain string.
    pub fn set_task_result(&mut self, task: &TaskId, result: TaskResult) {
        if let Some(entry) = self.entry(TASK_RESULTS, task).and_then(as_object) {
            entry.insert("status".to_owned(), json!(result.name()));
        }
    }

    /// Returns how many changes to the plan a task has asked for.
    #[must_use]
    pub fn modifications(&self, task: &TaskId) -> u32 {
        let entry = self
            .entries(MODIFICATION_MAP)
            .find(|(id, _)| *id == task.as_str());
        entry
            .and_then(|(_, entry)| as_count(entry.get("count").unwrap_or(entry)))
            .unwrap_or(0)
    }

    /// Records how many changes to the plan a task has asked for.
    pub fn set_modifications(&mut self, task: &TaskId, count: u32) {
        if let Some(entry) = self.entry(MODIFICATION_MAP, task).and_then(as_object) {
            entry.insert("count".to_owned(), json!(count));
            entry.entry("modifications").or_insert_with(|| json!([]));
        }
    }
}

impl StateDocument {
    /// Adds the spec's name and folder, which smart-ralph's schema requires, if they are missing.
    /// The folder is relative to the workspace.
    #[must_use]
    pub fn with_identity(mut self, name: &str, folder: &str) -> Self {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let name = name.to_lowercase().replace(|c| !is_plain(c), "-");
        let name = name.trim_matches('-');
        let identity = [
            ("source", "direct".to_owned()),
            (
                "name",
                if name.is_empty() { "spec" } else { name }.to_owned(),
            ),
            ("basePath", format!("./{}", folder.trim_start_matches("./"))),
        ];
        let mut value = Map::new();
        for (key, text) in identity {
            let known = self.value.remove(key);
            value.insert(key.to_owned(), known.unwrap_or_else(|| json!(text)));
        }
        value.append(&mut self.value);
        Self { value, ..self }
    }

    /// Returns how many changes to the plan a task and its parts may ask for.
    #[must_use]
    pub fn max_modifications(&self) -> u32 {
        self.count(MAX_MODIFICATIONS)
    }

    /// Returns how often a part may be split again.
    #[must_use]
    pub fn max_modification_depth(&self) -> u32 {
        self.count(MAX_MODIFICATION_DEPTH)
    }

    /// Returns the epic that the spec belongs to.
    #[must_use]
    pub fn epic(&self) -> Option<&str> {
        self.value.get(EPIC_NAME)?.as_str()
    }
}

/// Replaces an entry that isn't an object with one; its old value has been read by then.
pub(super) fn as_object(entry: &mut Value) -> Option<&mut Map<String, Value>> {
    if !entry.is_object() {
        *entry = json!({});
    }
    entry.as_object_mut()
}

#[cfg(test)]
mod tests;
