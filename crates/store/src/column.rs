//! Values on their way into and out of columns.

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
