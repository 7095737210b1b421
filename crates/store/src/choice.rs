//! People's choices for tasks, made outside of runs.

use regreen_model::{ChoiceKind, PersonChoice, TaskKey};
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use crate::row::{RowCounts, check_sum, task_columns, task_from_row, with_sum};
use crate::{Store, StoreError};

const COLUMNS: &str = "number, spec, task_id, occurrence, title, what, at_ms, sum";
const SUMMED: usize = 7;

impl Store {
    /// Stores a choice and returns its number. When this returns, the choice is on the disk.
    ///
    /// # Errors
    /// Returns an error if the file can't be written.
    pub fn choose(
        &mut self,
        spec: &str,
        task: &TaskKey,
        what: ChoiceKind,
        at_ms: i64,
    ) -> Result<u64, StoreError> {
        let tx = self.write()?;
        let mut counts = RowCounts::read(&tx)?;
        counts.choices += 1;
        let sql = format!("INSERT INTO choices ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
        let columns = columns(counts.choices, spec, task, what, at_ms);
        tx.execute(&sql, params_from_iter(with_sum(columns)))?;
        counts.write(&tx)?;
        tx.commit()?;
        Ok(counts.choices.unsigned_abs())
    }

    /// Returns all choices for a spec's tasks, oldest first.
    ///
    /// # Errors
    /// Returns an error if the file can't be read, or is damaged.
    pub fn choices(&self, spec: &str) -> Result<Vec<PersonChoice>, StoreError> {
        let _reading = self.read_transaction()?;
        choices_where(&self.conn, |chosen_for| chosen_for == spec)
    }
}

/// Reads all choices and filters them, so that a missing row is detected.
pub(crate) fn choices_where(
    conn: &Connection,
    mut wanted: impl FnMut(&str) -> bool,
) -> Result<Vec<PersonChoice>, StoreError> {
    let expected = RowCounts::read(conn)?.choices;
    let sql = format!("SELECT {COLUMNS} FROM choices ORDER BY number");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    let mut choices = Vec::new();
    let mut found = 0;
    while let Some(row) = rows.next()? {
        check_sum(row, "choices", SUMMED)?;
        found += 1;
        if wanted(&row.get::<_, String>(1)?) {
            choices.push(from_row(row)?);
        }
    }
    if found == expected {
        Ok(choices)
    } else {
        Err(StoreError::damaged(format!(
            "{expected} choices were made, but {found} are listed"
        )))
    }
}

fn columns(number: i64, spec: &str, task: &TaskKey, what: ChoiceKind, at_ms: i64) -> Vec<Value> {
    let mut columns = vec![number.into(), spec.to_owned().into()];
    columns.extend(task_columns(task));
    columns.extend([what.name().to_owned().into(), at_ms.into()]);
    columns
}

fn from_row(row: &Row<'_>) -> Result<PersonChoice, StoreError> {
    let what: String = row.get(5)?;
    Ok(PersonChoice {
        number: row.get(0)?,
        task: task_from_row(row, 2)?,
        what: ChoiceKind::from_name(&what)
            .ok_or_else(|| StoreError::damaged(format!("unknown choice `{what}`")))?,
    })
}
