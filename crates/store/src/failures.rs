//! Failures as rows, and the questions people ask about them.

use regreen_model::TaskId;
use rusqlite::types::Value;
use rusqlite::{Connection, Params, Row, params_from_iter};

use crate::attempts::{exists, key_columns, key_from_row};
use crate::row_sum::{check_sum, with_sum};
use crate::runs::run_number;
use crate::{FailureRow, Fault, RecordError, RunError, RunId, Store};

const COLUMNS: &str = "run, task_id, occurrence, title, number, at_ms, category, kind, message, \
                       blocked_on, fingerprint, report, sum";
const SUMMED: usize = 12;

impl Store {
    /// All failures of a run, oldest first.
    ///
    /// # Errors
    /// If there is no such run, or the file cannot be read.
    pub fn failures_in_run(&self, run: &RunId) -> Result<Vec<FailureRow>, RunError> {
        let _moment = self.moment()?;
        let number = run_number(&self.conn, run)?;
        Ok(read(&self.conn, "rows.run = ?1", [number])?)
    }

    /// All failures of the tasks with this id in all runs of a spec, oldest first.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn failures_of_task(&self, spec: &str, task: &TaskId) -> Result<Vec<FailureRow>, Fault> {
        let of_task = "rows.task_id = ?1 AND runs.spec = ?2";
        read(&self.conn, of_task, (task.as_str(), spec))
    }

    /// All failures at or after a time, oldest first.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn failures_since(&self, since_ms: i64) -> Result<Vec<FailureRow>, Fault> {
        read(&self.conn, "rows.at_ms >= ?1", [since_ms])
    }
}

/// Stores the failure of an attempt that is there; a later word about it replaces an earlier.
pub(crate) fn record(conn: &Connection, failure: &FailureRow) -> Result<(), RecordError> {
    let run = run_number(conn, &failure.attempt.run)?;
    if !exists(conn, run, &failure.attempt)? {
        return Err(RecordError::NoSuchAttempt(Box::new(
            failure.attempt.clone(),
        )));
    }
    let sql = format!(
        "INSERT OR REPLACE INTO failures ({COLUMNS})
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    );
    conn.prepare_cached(&sql)
        .and_then(|mut s| s.execute(params_from_iter(with_sum(columns(run, failure)))))
        .map_err(Fault::from)?;
    Ok(())
}

fn read(conn: &Connection, which: &str, params: impl Params) -> Result<Vec<FailureRow>, Fault> {
    let columns = COLUMNS.replace(", ", ", rows.");
    let sql = format!(
        "SELECT rows.{columns}, runs.id FROM failures AS rows JOIN runs USING (run)
         WHERE {which} ORDER BY rows.at_ms, rows.run, rows.task_id, rows.number"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(params)?;
    let mut failures = Vec::new();
    while let Some(row) = rows.next()? {
        failures.push(from_row(row)?);
    }
    Ok(failures)
}

fn columns(run: i64, failure: &FailureRow) -> Vec<Value> {
    let mut columns = key_columns(run, &failure.attempt);
    columns.extend([
        failure.at_ms.into(),
        failure.category.clone().into(),
        failure.kind.clone().into(),
        failure.message.clone().into(),
        failure.blocked_on.clone().into(),
        failure.fingerprint.clone().into(),
        failure.report.clone().into(),
    ]);
    columns
}

fn from_row(row: &Row<'_>) -> Result<FailureRow, Fault> {
    check_sum(row, "failures", SUMMED)?;
    Ok(FailureRow {
        attempt: key_from_row(row, SUMMED + 1)?,
        at_ms: row.get(5)?,
        category: row.get(6)?,
        kind: row.get(7)?,
        message: row.get(8)?,
        blocked_on: row.get(9)?,
        fingerprint: row.get(10)?,
        report: row.get(11)?,
    })
}
