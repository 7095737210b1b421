//! Values on their way into and out of columns.

use regreen_model::{TaskId, TaskKey};
use rusqlite::Row;
use rusqlite::types::Value;
use serde::de::DeserializeOwned;

use crate::Fault;

/// SQLite's integers end at 2⁶³. Nothing that is counted here comes near.
pub(crate) fn whole(number: u64) -> Value {
    Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

pub(crate) fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<T, Fault> {
    let text = row.get_ref(column)?.as_str();
    let text = text.map_err(|error| Fault::damaged(error.to_string()))?;
    serde_json::from_str(text).map_err(|error| Fault::damaged(error.to_string()))
}

/// What a task's key is in every table that has one.
pub(crate) fn task_columns(task: &TaskKey) -> [Value; 3] {
    [
        task.id.as_str().to_owned().into(),
        task.occurrence.into(),
        task.title.clone().into(),
    ]
}

/// From the three columns that begin at `first`.
pub(crate) fn task_from_row(row: &Row<'_>, first: usize) -> Result<TaskKey, Fault> {
    let id: String = row.get(first)?;
    Ok(TaskKey {
        id: TaskId::try_from(id).map_err(Fault::Damaged)?,
        occurrence: row.get(first + 1)?,
        title: row.get(first + 2)?,
    })
}
