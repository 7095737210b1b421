//! History: what people may ask about later, including failures.

use regreen_model::{Failure, TaskId};
use rusqlite::types::Value;
use rusqlite::{Connection, Params, Row, params_from_iter};

use crate::attempt::{exists, key_columns, key_from_row, record_attempt};
use crate::row::{check_sum, with_sum};
use crate::run::run_number;
use crate::{Attempt, AttemptKey, RunError, RunId, Store, StoreError};

/// A row that people may ask about later. It is stored with the step that produced it; storing it
/// again changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryRow {
    /// An attempt.
    Attempt(Attempt),
    /// The failure of an attempt.
    Failure(FailureRow),
}

/// Why a row of history was not stored.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// There is no such run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A failure names an attempt that isn't stored.
    #[error("attempt {} of task {} in run {} not found", .0.number, .0.task, .0.run)]
    NoSuchAttempt(Box<AttemptKey>),
    /// The file can't be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Store {
    /// Stores rows outside of a step, all or none, for facts learned between runs.
    ///
    /// # Errors
    /// Returns an error if a row refers to something that doesn't exist, or the file can't be
    /// written.
    pub fn record(&mut self, rows: &[HistoryRow]) -> Result<(), RecordError> {
        let tx = self.write()?;
        for row in rows {
            record_row(&tx, row)?;
        }
        tx.commit().map_err(StoreError::from)?;
        Ok(())
    }
}

pub(crate) fn record_row(conn: &Connection, row: &HistoryRow) -> Result<(), RecordError> {
    match row {
        HistoryRow::Attempt(attempt) => record_attempt(conn, attempt),
        HistoryRow::Failure(failure) => record_failure(conn, failure),
    }
}

/// Why an attempt failed, as people look for it later.
///
/// Category and kind are names here, not types: a file may contain kinds that a later version of
/// regreen added, and those are still worth showing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureRow {
    /// The attempt that failed.
    pub attempt: AttemptKey,
    /// When it failed.
    pub at_ms: i64,
    /// The name of the failure's category.
    pub category: String,
    /// The name of the failure's kind.
    pub kind: String,
    /// One sentence for people.
    pub message: String,
    /// The line that a person would quote.
    pub blocked_on: Option<String>,
    /// Identifies the blocker.
    pub fingerprint: String,
    /// The whole failure as JSON.
    pub report: String,
}

impl FailureRow {
    /// Creates the row for a failure.
    ///
    /// # Errors
    /// Returns an error if the failure can't be represented in JSON.
    pub fn new(
        attempt: AttemptKey,
        at_ms: i64,
        failure: &Failure,
    ) -> Result<Self, serde_json::Error> {
        Ok(Self {
            attempt,
            at_ms,
            category: failure.category.to_string(),
            kind: failure.kind.to_string(),
            message: failure.message.clone(),
            blocked_on: failure.blocked_on.clone(),
            fingerprint: failure.fingerprint.clone(),
            report: serde_json::to_string(failure)?,
        })
    }

    /// Returns the failure itself.
    ///
    /// # Errors
    /// Returns an error if a newer version of regreen stored something that this one doesn't know.
    pub fn failure(&self) -> Result<Failure, serde_json::Error> {
        serde_json::from_str(&self.report)
    }
}

const COLUMNS: &str = "run, task_id, occurrence, title, number, at_ms, category, kind, message, \
                       blocked_on, fingerprint, report, sum";
const SUMMED: usize = 12;

impl Store {
    /// Returns all failures of a run, oldest first.
    ///
    /// # Errors
    /// Returns an error if there is no such run, or the file can't be read.
    pub fn failures_in_run(&self, run: &RunId) -> Result<Vec<FailureRow>, RunError> {
        let _reading = self.read_transaction()?;
        let number = run_number(&self.conn, run)?;
        Ok(read(&self.conn, "rows.run = ?1", [number])?)
    }

    /// Returns all failures of the tasks with this id in all runs of a spec, oldest first.
    ///
    /// # Errors
    /// Returns an error if the file can't be read.
    pub fn failures_of_task(
        &self,
        spec: &str,
        task: &TaskId,
    ) -> Result<Vec<FailureRow>, StoreError> {
        let of_task = "rows.task_id = ?1 AND runs.spec = ?2";
        read(&self.conn, of_task, (task.as_str(), spec))
    }

    /// Returns the last failures at or after a time, of all kinds or of one, oldest first.
    ///
    /// # Errors
    /// Returns an error if the file can't be read.
    pub fn last_failures(
        &self,
        since_ms: i64,
        kind: Option<&str>,
        most: usize,
    ) -> Result<Vec<FailureRow>, StoreError> {
        let sql = select(
            "rows.at_ms >= ?1 AND (?2 IS NULL OR rows.kind = ?2)",
            "rows.at_ms DESC, rows.run DESC, rows.task_id DESC, rows.number DESC LIMIT ?3",
        );
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let mut failures = read_rows(&self.conn, &sql, (since_ms, kind, most))?;
        failures.reverse();
        Ok(failures)
    }
}

/// Stores the failure of a stored attempt, replacing an earlier record of it.
fn record_failure(conn: &Connection, failure: &FailureRow) -> Result<(), RecordError> {
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
        .map_err(StoreError::from)?;
    Ok(())
}

fn read(
    conn: &Connection,
    which: &str,
    params: impl Params,
) -> Result<Vec<FailureRow>, StoreError> {
    let sql = select(which, "rows.at_ms, rows.run, rows.task_id, rows.number");
    read_rows(conn, &sql, params)
}

fn select(which: &str, order: &str) -> String {
    let columns = COLUMNS.replace(", ", ", rows.");
    format!(
        "SELECT rows.{columns}, runs.id FROM failures AS rows JOIN runs USING (run)
         WHERE {which} ORDER BY {order}"
    )
}

fn read_rows(
    conn: &Connection,
    sql: &str,
    params: impl Params,
) -> Result<Vec<FailureRow>, StoreError> {
    let mut statement = conn.prepare_cached(sql)?;
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

fn from_row(row: &Row<'_>) -> Result<FailureRow, StoreError> {
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
