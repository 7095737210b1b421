//! One entry of `fixTaskMap`.

use serde_json::{Map, Value, json};

use super::known_key::{StateWarning, as_count, type_name};

const FORGIVEN: &str = "forgiven";

/// The fixes a task has had, as the state file tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FixRecord {
    pub attempts: u32,
    pub fix_task_ids: Vec<String>,
    pub last_error: String,
    /// So many of them do not count any more: a person had the task tried again.
    pub forgiven: u32,
}

impl FixRecord {
    /// How many fixes that is: an entry may have lost an id or a count.
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
        }
    }

    /// Adds a fix to an entry, whatever else stands in it. A fix already there is not
    /// counted again.
    pub(super) fn add(entry: &mut Value, fix: &str, error: &str) {
        let mut ignored = Vec::new();
        let known = Self::read("", entry, &mut ignored);
        if known.fix_task_ids.iter().any(|id| id == fix) {
            return;
        }
        let mut ids = known.fix_task_ids.clone();
        ids.push(fix.to_owned());
        if !entry.is_object() {
            *entry = Value::Object(Map::new());
        }
        if let Some(entry) = entry.as_object_mut() {
            entry.insert("attempts".into(), json!(known.count().saturating_add(1)));
            entry.insert("fixTaskIds".into(), json!(ids));
            entry.insert("lastError".into(), json!(error));
        }
    }
}

impl FixRecord {
    /// Says in an entry how many fixes do not count any more, whatever else stands in it.
    pub(super) fn forgive(entry: &mut Value, fixes: u32) {
        if !entry.is_object() {
            *entry = Value::Object(Map::new());
        }
        if let Some(entry) = entry.as_object_mut() {
            entry.insert(FORGIVEN.into(), json!(fixes));
        }
    }
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
                message: format!("expected an id, found {}: left out", type_name(item)),
            }),
        }
    }
    ids
}
