//! The state file: typed reading, editing in place.

use std::collections::BTreeMap;

use regreen_model::{ERROR_CHARS, PlainLine, TaskId};
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::fix_record::{FixRecord, TaskResult};
use super::json::{
    AWAITING_APPROVAL, COUNTS, CountKey, FIX_TASK_MAP, FLAGS, FlagKey, GLOBAL_ITERATION, JsonStyle,
    MAPS, MAX_FIX_DEPTH, MAX_FIX_TASKS, MAX_GLOBAL_ITERATIONS, MAX_TASK_ITERATIONS,
    MODIFICATION_MAP, PHASE, QUICK_MODE, RECOVERY_MODE, StateWarning, TASK_INDEX, TASK_ITERATION,
    TASK_RESULTS, TOTAL_TASKS, as_count,
};
use crate::tasks::{RowId, TaskFile};

/// Where a run stands. What regreen does not know stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateDocument {
    pub(super) value: Map<String, Value>,
    style: JsonStyle,
}

/// The text is no state file at all: it is to be moved aside and made anew.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidState {
    #[error("not JSON: {0}")]
    NotJson(String),
    #[error("JSON, but not an object")]
    NotAnObject,
}

impl StateDocument {
    /// Reads a state file. Wrong types in known keys are reported; their default is used.
    ///
    /// # Errors
    /// If the text is not a JSON object.
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

    /// The file's text, laid out as it was.
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

    /// Sets a number, unless the file says it already in whatever form.
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

    /// The entry of a task in one of the maps, made if need be.
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

    #[must_use]
    pub fn phase(&self) -> Option<&str> {
        self.value.get(PHASE)?.as_str()
    }

    pub fn set_phase(&mut self, phase: &str) {
        self.value.insert(PHASE.to_owned(), json!(phase));
    }

    /// The 0-based place of the current original among the rows to run.
    #[must_use]
    pub fn task_index(&self) -> u32 {
        self.count(TASK_INDEX)
    }

    pub fn set_task_index(&mut self, index: u32) {
        self.set_count(TASK_INDEX, index);
    }

    #[must_use]
    pub fn total_tasks(&self) -> u32 {
        self.count(TOTAL_TASKS)
    }

    pub fn set_total_tasks(&mut self, total: u32) {
        self.set_count(TOTAL_TASKS, total);
    }

    #[must_use]
    pub fn task_iteration(&self) -> u32 {
        self.count(TASK_ITERATION)
    }

    pub fn set_task_iteration(&mut self, iteration: u32) {
        self.set_count(TASK_ITERATION, iteration);
    }

    #[must_use]
    pub fn max_task_iterations(&self) -> u32 {
        self.count(MAX_TASK_ITERATIONS)
    }

    pub fn set_max_task_iterations(&mut self, max: u32) {
        self.set_count(MAX_TASK_ITERATIONS, max);
    }

    #[must_use]
    pub fn global_iteration(&self) -> u32 {
        self.count(GLOBAL_ITERATION)
    }

    pub fn set_global_iteration(&mut self, iteration: u32) {
        self.set_count(GLOBAL_ITERATION, iteration);
    }

    #[must_use]
    pub fn max_global_iterations(&self) -> u32 {
        self.count(MAX_GLOBAL_ITERATIONS)
    }

    pub fn set_max_global_iterations(&mut self, max: u32) {
        self.set_count(MAX_GLOBAL_ITERATIONS, max);
    }

    #[must_use]
    pub fn max_fix_tasks(&self) -> u32 {
        self.count(MAX_FIX_TASKS)
    }

    pub fn set_max_fix_tasks(&mut self, max: u32) {
        self.set_count(MAX_FIX_TASKS, max);
    }

    #[must_use]
    pub fn max_fix_depth(&self) -> u32 {
        self.count(MAX_FIX_DEPTH)
    }

    #[must_use]
    pub fn recovery_mode(&self) -> bool {
        self.flag(RECOVERY_MODE)
    }

    /// Whether it waits for somebody to look at what there is.
    #[must_use]
    pub fn awaits_approval(&self) -> bool {
        self.flag(AWAITING_APPROVAL)
    }

    /// Whether all phases are gone through without asking.
    #[must_use]
    pub fn quick_mode(&self) -> bool {
        self.flag(QUICK_MODE)
    }

    pub fn set_recovery_mode(&mut self, on: bool) {
        self.value.insert(RECOVERY_MODE.name.to_owned(), json!(on));
    }

    /// The fixes each task has had, by its id.
    #[must_use]
    pub fn fix_task_map(&self) -> BTreeMap<String, FixRecord> {
        let mut reported = Vec::new();
        self.entries(FIX_TASK_MAP)
            .map(|(id, entry)| (id.clone(), FixRecord::read(id, entry, &mut reported)))
            .collect()
    }

    /// Notes that a task got a fix because of an error. Noting it twice changes nothing.
    pub fn record_fix(&mut self, task: &TaskId, fix: &TaskId, error: &str) {
        if let Some(entry) = self.entry(FIX_TASK_MAP, task) {
            let error = PlainLine::flatten(error, ERROR_CHARS);
            FixRecord::add(entry, fix.as_str(), error.as_str());
        }
    }

    /// A person has tasks tried again: what these rows have used of their budgets counts no
    /// more.
    pub fn forgive_all(&mut self, file: &TaskFile, tasks: &[RowId]) {
        let map = self.fix_task_map();
        for row in tasks {
            let made = file.fixes_made(*row, &map);
            let id = file.key(*row).map(|key| key.id);
            if let Some(id) = id.filter(|id| made > 0 || self.modifications(id) > 0) {
                self.forgive(&id, made);
            }
        }
    }

    /// A person has a task tried again: so many fixes of it do not count any more, and no
    /// change to the plan that it has asked for does.
    pub fn forgive(&mut self, task: &TaskId, fixes: u32) {
        if let Some(entry) = self.entry(FIX_TASK_MAP, task) {
            FixRecord::forgive(entry, fixes);
        }
        if self.modifications(task) > 0 {
            self.set_modifications(task, 0);
        }
    }

    #[must_use]
    pub fn task_result(&self, task: &TaskId) -> Option<TaskResult> {
        let (_, entry) = self
            .entries(TASK_RESULTS)
            .find(|(id, _)| *id == task.as_str())?;
        let word = entry.get("status").unwrap_or(entry);
        serde_json::from_value(word.clone()).ok()
    }

    /// Notes what has become of a task. Where the file has an object for it, its `status`.
    pub fn set_task_result(&mut self, task: &TaskId, result: TaskResult) {
        let known = self
            .value
            .get(TASK_RESULTS)
            .and_then(|map| map.get(task.as_str()));
        if known.and_then(Value::as_str) == Some(result.name()) {
            return;
        }
        let Some(entry) = self.entry(TASK_RESULTS, task) else {
            return;
        };
        match entry.as_object_mut() {
            Some(entry) => {
                entry.insert("status".to_owned(), json!(result.name()));
            }
            None => *entry = json!(result.name()),
        }
    }

    /// How many changes to the plan a task has asked for.
    #[must_use]
    pub fn modifications(&self, task: &TaskId) -> u32 {
        let entry = self
            .entries(MODIFICATION_MAP)
            .find(|(id, _)| *id == task.as_str());
        entry
            .and_then(|(_, entry)| as_count(entry.get("count").unwrap_or(entry)))
            .unwrap_or(0)
    }

    /// Notes how many changes to the plan a task has asked for.
    pub fn set_modifications(&mut self, task: &TaskId, count: u32) {
        let Some(entry) = self.entry(MODIFICATION_MAP, task) else {
            return;
        };
        match entry.as_object_mut() {
            Some(entry) => {
                entry.insert("count".to_owned(), json!(count));
            }
            None => *entry = json!({ "count": count }),
        }
    }
}

#[cfg(test)]
mod tests;
