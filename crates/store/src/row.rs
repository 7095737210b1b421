//! Rows: converting values to and from columns, checksums, and the expected number of rows.

use regreen_model::{TaskId, TaskKey};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Row, params_from_iter};
use serde::de::DeserializeOwned;

use crate::StoreError;

/// Converts a count. SQLite's integers end at 2⁶³, which no count here comes near.
pub(crate) fn whole(number: u64) -> Value {
    Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

/// Reads a column as JSON.
pub(crate) fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<T, StoreError> {
    let text = row.get_ref(column)?.as_str();
    let text = text.map_err(|error| StoreError::damaged(error.to_string()))?;
    serde_json::from_str(text).map_err(|error| StoreError::damaged(error.to_string()))
}

/// Returns the columns of a task's key in every table that has one.
pub(crate) fn task_columns(task: &TaskKey) -> [Value; 3] {
    [
        task.id.as_str().to_owned().into(),
        task.occurrence.into(),
        task.title.clone().into(),
    ]
}

/// Reads a task's key from the three columns that start at `first`.
pub(crate) fn task_from_row(row: &Row<'_>, first: usize) -> Result<TaskKey, StoreError> {
    let id: String = row.get(first)?;
    Ok(TaskKey {
        id: TaskId::try_from(id).map_err(StoreError::Damaged)?,
        occurrence: row.get(first + 1)?,
        title: row.get(first + 2)?,
    })
}

/// Returns the checksum of a row to be stored.
pub(crate) fn sum_of(columns: &[Value]) -> i64 {
    sum(columns.iter().map(ValueRef::from))
}

/// Adds the checksum as the last column.
pub(crate) fn with_sum(mut columns: Vec<Value>) -> Vec<Value> {
    columns.push(Value::Integer(sum_of(&columns)));
    columns
}

/// Checks that the first `count` columns match the checksum after them.
pub(crate) fn check_sum(row: &Row<'_>, table: &str, count: usize) -> Result<(), StoreError> {
    let mut columns = Vec::with_capacity(count);
    for index in 0..count {
        columns.push(row.get_ref(index)?);
    }
    let stored: i64 = row.get(count)?;
    if sum(columns.iter().copied()) == stored {
        Ok(())
    } else {
        Err(StoreError::damaged(format!(
            "a row of {table} does not match its checksum"
        )))
    }
}

fn sum<'v>(columns: impl Iterator<Item = ValueRef<'v>>) -> i64 {
    let mut hasher = crc32fast::Hasher::new();
    for column in columns {
        add(&mut hasher, column);
    }
    i64::from(hasher.finalize())
}

/// Adds type and length as well, so that text can't move from one column to the next unnoticed.
fn add(hasher: &mut crc32fast::Hasher, column: ValueRef<'_>) {
    let (kind, bytes): (u8, &[u8]) = match column {
        ValueRef::Null => (0, &[]),
        ValueRef::Integer(number) => return add_number(hasher, 1, number.to_le_bytes()),
        ValueRef::Real(number) => return add_number(hasher, 2, number.to_le_bytes()),
        ValueRef::Text(bytes) => (3, bytes),
        ValueRef::Blob(bytes) => (4, bytes),
    };
    hasher.update(&[kind]);
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

fn add_number(hasher: &mut crc32fast::Hasher, kind: u8, bytes: [u8; 8]) {
    hasher.update(&[kind]);
    hasher.update(&bytes);
}

/// The expected number of rows in the tables that resuming depends on. It is on a page of its own,
/// so that rows lost along with their page are missed.
///
/// Steps and pending commands are counted per run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowCounts {
    pub(crate) runs: i64,
    pub(crate) ends: i64,
    pub(crate) choices: i64,
}

/// Counts the rows of a file that has no counts yet.
pub(crate) fn insert_row_counts(conn: &Connection) -> Result<(), rusqlite::Error> {
    let sql = "SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM run_ends),
                      (SELECT count(*) FROM choices)";
    let counts = conn.query_row(sql, [], |row| {
        Ok(RowCounts {
            runs: row.get(0)?,
            ends: row.get(1)?,
            choices: row.get(2)?,
        })
    })?;
    let sql = "INSERT INTO tally (runs, ends, choices, sum, one) VALUES (?, ?, ?, ?, 1)";
    conn.execute(sql, params_from_iter(with_sum(counts.columns())))?;
    Ok(())
}

impl RowCounts {
    pub(crate) fn read(conn: &Connection) -> Result<Self, StoreError> {
        let sql = "SELECT runs, ends, choices, sum FROM tally WHERE one = 1";
        let mut statement = conn.prepare_cached(sql)?;
        let mut rows = statement.query([])?;
        let Some(row) = rows.next()? else {
            return Err(StoreError::damaged("the tally is missing"));
        };
        check_sum(row, "tally", 3)?;
        Ok(Self {
            runs: row.get(0)?,
            ends: row.get(1)?,
            choices: row.get(2)?,
        })
    }

    pub(crate) fn write(self, conn: &Connection) -> Result<(), StoreError> {
        let sql = "UPDATE tally SET runs = ?, ends = ?, choices = ?, sum = ? WHERE one = 1";
        conn.prepare_cached(sql)?
            .execute(params_from_iter(with_sum(self.columns())))?;
        Ok(())
    }

    fn columns(self) -> Vec<Value> {
        vec![self.runs.into(), self.ends.into(), self.choices.into()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[test]
    fn text_that_moves_between_columns_changes_the_checksum() {
        assert_ne!(
            sum_of(&[text("ab"), text("c")]),
            sum_of(&[text("a"), text("bc")])
        );
        assert_ne!(sum_of(&[Value::Null]), sum_of(&[text("")]));
        assert_ne!(sum_of(&[Value::Integer(0)]), sum_of(&[Value::Real(0.0)]));
    }
}
