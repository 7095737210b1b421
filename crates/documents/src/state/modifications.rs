//! Changes to the plan that agents asked for, as recorded in the state file.

use regreen_model::{ERROR_CHARS, PlainLine, TaskId};
use serde_json::{Value, json};

use super::json::{FIX_TASK_MAP, MODIFICATION_MAP};
use super::state_file::{StateDocument, as_object};

/// Longer than any chain of parts and fixes.
const LONGEST_LINEAGE: usize = 32;

/// The origin of a task that is part of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModificationLineage {
    /// The task at the end of the chain of parts.
    pub root: TaskId,
    /// The number of splits from the root to the task.
    pub depth: u32,
    /// How many requests the root has had, including those of its parts and fixes.
    pub requests: u32,
}

impl StateDocument {
    /// Returns the task that `task` was split from, or itself. A fix belongs to the task it fixes.
    #[must_use]
    pub fn modification_lineage(&self, task: &TaskId) -> ModificationLineage {
        let mut root = task.clone();
        let mut depth = 0;
        // A file in which a task is part of itself must not cause an endless loop.
        for _ in 0..LONGEST_LINEAGE {
            let whole = self.whole_of(&root);
            depth += u32::from(whole.is_some());
            let Some(above) = whole.or_else(|| self.repaired_by(&root)) else {
                break;
            };
            root = above;
        }
        let requests = self.modifications(&root);
        ModificationLineage {
            root,
            depth,
            requests,
        }
    }

    /// Returns the tasks that a task is a part or a fix of, nearest first.
    #[must_use]
    pub fn wholes(&self, task: &TaskId) -> Vec<TaskId> {
        let above = |id: &TaskId| self.whole_of(id).or_else(|| self.repaired_by(id));
        std::iter::successors(above(task), above)
            .take(LONGEST_LINEAGE)
            .collect()
    }

    /// Returns the task that was split into this one and others.
    fn whole_of(&self, part: &TaskId) -> Option<TaskId> {
        self.owner(MODIFICATION_MAP, "taskIds", part)
    }

    /// Returns the task that a fix was made for.
    fn repaired_by(&self, fix: &TaskId) -> Option<TaskId> {
        self.owner(FIX_TASK_MAP, "fixTaskIds", fix)
    }

    /// Returns the task whose entry in `map` lists this id.
    fn owner(&self, map: &str, list: &str, id: &TaskId) -> Option<TaskId> {
        self.entries(map)
            .filter(|(_, entry)| ids(entry.get(list)).contains(id))
            .find_map(|(owner, _)| TaskId::parse(owner))
    }

    /// Returns all rows that were added by requests.
    pub(crate) fn rows_asked_for(&self) -> impl Iterator<Item = TaskId> {
        let entries = self.entries(MODIFICATION_MAP);
        entries.flat_map(|(_, entry)| ids(entry.get("taskIds")))
    }

    /// Records that a request was granted, with the rows it added. `request` identifies it, so that
    /// recording it twice changes nothing.
    pub fn record_modification(&mut self, task: &TaskId, request: &str, rows: &[TaskId]) {
        if self.modification_rows(task, request).is_some() {
            return;
        }
        let root = self.modification_lineage(task);
        self.set_modifications(&root.root, root.requests + 1);
        let Some(entry) = self.entry(MODIFICATION_MAP, task) else {
            return;
        };
        let Some(described) = as_object(entry) else {
            return;
        };
        for (key, empty) in [("count", json!(0)), ("modifications", json!([]))] {
            described.entry(key).or_insert(empty);
        }
        let mut all = ids(entry.get("taskIds"));
        all.extend(
            rows.iter()
                .filter(|row| !all.contains(row))
                .cloned()
                .collect::<Vec<_>>(),
        );
        if let Some(entry) = entry.as_object_mut() {
            entry.insert("taskIds".to_owned(), json!(all));
            entry.insert("lastRequest".to_owned(), json!(request));
            entry.insert("lastTaskIds".to_owned(), json!(rows));
        }
    }

    /// Describes a granted request by its first new row, for people and for other tools. Describing
    /// it twice changes nothing.
    pub fn describe_modification(&mut self, task: &TaskId, row: &TaskId, kind: &str, reason: &str) {
        let root = self.modification_lineage(task).root;
        let Some(entry) = self.entry(MODIFICATION_MAP, &root).and_then(as_object) else {
            return;
        };
        entry.entry("count").or_insert(json!(0));
        let list = entry.entry("modifications").or_insert_with(|| json!([]));
        let is_known = |list: &Vec<Value>| list.iter().any(|one| one["id"] == row.as_str());
        if let Some(list) = list.as_array_mut().filter(|list| !is_known(list)) {
            let reason = PlainLine::flatten(reason, ERROR_CHARS);
            list.push(json!({"id": row, "type": kind, "reason": reason.as_str()}));
        }
    }

    /// Returns the rows that a request added, if it was already granted.
    #[must_use]
    pub fn modification_rows(&self, task: &TaskId, request: &str) -> Option<Vec<TaskId>> {
        let (_, entry) = self
            .entries(MODIFICATION_MAP)
            .find(|(id, _)| *id == task.as_str())?;
        let last = entry.get("lastRequest").and_then(Value::as_str);
        (last == Some(request)).then(|| ids(entry.get("lastTaskIds")))
    }
}

fn ids(list: Option<&Value>) -> Vec<TaskId> {
    let list = list.and_then(Value::as_array);
    let texts = list.into_iter().flatten().filter_map(Value::as_str);
    texts.filter_map(TaskId::parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> TaskId {
        TaskId::parse(text).unwrap()
    }

    #[test]
    fn requests_of_parts_are_charged_to_the_whole() {
        let mut state = StateDocument::default();
        state.record_modification(&id("1.3"), "run/1", &[id("1.3.1"), id("1.3.2")]);
        state.record_modification(&id("1.3.2"), "run/1", &[id("1.3.2.1")]);
        assert_eq!(
            state.modification_lineage(&id("1.3.2.1")),
            ModificationLineage {
                root: id("1.3"),
                depth: 2,
                requests: 2,
            }
        );
        assert_eq!(state.modification_lineage(&id("2.1")).depth, 0);
    }

    #[test]
    fn a_request_is_described_once_where_it_is_charged() {
        let mut state = StateDocument::default();
        state.record_modification(&id("1.3"), "run/1", &[id("1.3.1"), id("1.3.2")]);
        for _ in 0..2 {
            state.describe_modification(&id("1.3"), &id("1.3.1"), "SPLIT_TASK", "too\nlarge");
        }
        let entry = &state.value["modificationMap"]["1.3"];
        assert_eq!(entry["count"], 1);
        assert_eq!(
            entry["modifications"],
            json!([{"id": "1.3.1", "type": "SPLIT_TASK", "reason": "too large"}])
        );
    }

    #[test]
    fn requests_of_fixes_are_charged_to_what_they_repair() {
        let mut state = StateDocument::default();
        state.record_fix(&id("1.3"), &id("1.3.1"), "x");
        state.record_fix(&id("1.3.1"), &id("1.3.1.1"), "x");
        state.record_modification(&id("1.3.1.1"), "run/1", &[id("1.3.2")]);
        let above = ["1.3.1.1", "1.3.1", "1.3"].map(id);
        assert_eq!(state.wholes(&id("1.3.2")), above);
        for (task, depth) in [("1.3", 0), ("1.3.1.1", 0), ("1.3.2", 1)] {
            assert_eq!(
                state.modification_lineage(&id(task)),
                ModificationLineage {
                    root: id("1.3"),
                    depth,
                    requests: 1,
                }
            );
        }
    }

    #[test]
    fn a_file_with_a_cycle_of_tasks_does_not_loop_forever() {
        let mut state = StateDocument::default();
        state.record_fix(&id("1.1"), &id("1.2"), "x");
        state.record_fix(&id("1.2"), &id("1.1"), "x");
        assert_eq!(state.modification_lineage(&id("1.1")).depth, 0);
        assert_eq!(state.wholes(&id("1.1")).len(), LONGEST_LINEAGE);
    }

    #[test]
    fn a_request_that_is_recorded_twice_counts_once_and_keeps_its_rows() {
        let mut state = StateDocument::default();
        state.record_modification(&id("1"), "run/1", &[id("1.1")]);
        let once = state.clone();
        state.record_modification(&id("1"), "run/1", &[id("1.2")]);
        assert_eq!(state, once);
        assert_eq!(
            state.modification_rows(&id("1"), "run/1"),
            Some(vec![id("1.1")])
        );
        assert_eq!(state.modification_rows(&id("1"), "run/2"), None);
    }
}
