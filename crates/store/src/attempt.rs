//! Attempts as rows, and the questions people ask about them.

use regreen_model::{TaskId, TaskKey};
use rusqlite::types::Value;
use rusqlite::{Connection, Params, Row, params_from_iter};

use crate::row::{check_sum, task_columns, task_from_row, whole, with_sum};
use crate::run::run_number;
use crate::{RecordError, RunError, RunId, Store, StoreError};

/// Identifies an attempt across all runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttemptKey {
    /// The run it belongs to.
    pub run: RunId,
    /// The task that was attempted.
    pub task: TaskKey,
    /// Counted from 1 within the run.
    pub number: u32,
}

/// One run of an agent on one task, as people ask about it later. Fields that aren't known yet are
/// `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The key of the attempt.
    pub key: AttemptKey,
    /// The agent that ran.
    pub agent: String,
    /// When it started.
    pub started_ms: i64,
    /// When it ended.
    pub ended_ms: Option<i64>,
    /// The agent's own name for its conversation.
    pub session: Option<String>,
    /// The exit code of the agent's process.
    pub exit_code: Option<i32>,
    /// The signal that ended the agent's process.
    pub signal: Option<i32>,
    /// The outcome, in the engine's words: passed, failed, interrupted, …
    pub outcome: Option<String>,
    /// The outcome of the independent check, in the engine's words.
    pub verify: Option<String>,
    /// The path of the full output.
    pub log: Option<String>,
    /// The git tree of the workspace before it.
    pub snapshot_before: Option<String>,
    /// The git tree of the workspace after it.
    pub snapshot_after: Option<String>,
    /// The cost, if the agent reported it.
    pub cost_microdollars: Option<u64>,
    /// Tokens that the agent read.
    pub input_tokens: Option<u64>,
    /// Tokens that the agent wrote.
    pub output_tokens: Option<u64>,
}

impl Attempt {
    /// Returns an attempt that has just started.
    #[must_use]
    pub fn started(key: AttemptKey, agent: impl Into<String>, started_ms: i64) -> Self {
        Self {
            key,
            agent: agent.into(),
            started_ms,
            ended_ms: None,
            session: None,
            exit_code: None,
            signal: None,
            outcome: None,
            verify: None,
            log: None,
            snapshot_before: None,
            snapshot_after: None,
            cost_microdollars: None,
            input_tokens: None,
            output_tokens: None,
        }
    }

    /// Fills in fields that only an earlier record has. Recording the start again never erases the
    /// end, and an attempt started when it was first recorded.
    #[must_use]
    pub fn merged_over(self, earlier: Self) -> Self {
        Self {
            started_ms: self.started_ms.min(earlier.started_ms),
            ended_ms: self.ended_ms.or(earlier.ended_ms),
            session: self.session.or(earlier.session),
            exit_code: self.exit_code.or(earlier.exit_code),
            signal: self.signal.or(earlier.signal),
            outcome: self.outcome.or(earlier.outcome),
            verify: self.verify.or(earlier.verify),
            log: self.log.or(earlier.log),
            snapshot_before: self.snapshot_before.or(earlier.snapshot_before),
            snapshot_after: self.snapshot_after.or(earlier.snapshot_after),
            cost_microdollars: self.cost_microdollars.or(earlier.cost_microdollars),
            input_tokens: self.input_tokens.or(earlier.input_tokens),
            output_tokens: self.output_tokens.or(earlier.output_tokens),
            ..self
        }
    }
}

const COLUMNS: &str = "run, task_id, occurrence, title, number, agent, started_ms, ended_ms, \
                       session, exit_code, signal, outcome, verify, log, snapshot_before, \
                       snapshot_after, cost_microdollars, input_tokens, output_tokens, sum";
const SUMMED: usize = 19;

const IN_ORDER: &str = "ORDER BY rows.run, rows.started_ms, rows.number";

/// The condition that selects an attempt's rows in the tables that refer to it.
pub(crate) const KEY: &str = "run = ? AND task_id = ? AND occurrence = ? AND title = ? \
                              AND number = ?";

impl Store {
    /// Returns all attempts of a run, in order.
    ///
    /// # Errors
    /// Returns an error if there is no such run, or the file can't be read.
    pub fn attempts_in_run(&self, run: &RunId) -> Result<Vec<Attempt>, RunError> {
        let _reading = self.read_transaction()?;
        let number = run_number(&self.conn, run)?;
        Ok(read(&self.conn, "rows.run = ?1", [number])?)
    }

    /// Returns all attempts of the tasks with this id in all runs of a spec, in order.
    ///
    /// # Errors
    /// Returns an error if the file can't be read.
    pub fn attempts_of_task(&self, spec: &str, task: &TaskId) -> Result<Vec<Attempt>, StoreError> {
        let of_task = "rows.task_id = ?1 AND runs.spec = ?2";
        read(&self.conn, of_task, (task.as_str(), spec))
    }

    /// Returns an attempt, if it is stored.
    ///
    /// # Errors
    /// Returns an error if there is no such run, or the file can't be read.
    pub fn attempt(&self, key: &AttemptKey) -> Result<Option<Attempt>, RunError> {
        let _reading = self.read_transaction()?;
        let number = run_number(&self.conn, &key.run)?;
        Ok(find(&self.conn, number, key)?)
    }

    /// Returns how often the tasks of a spec were attempted, for each run that did. Only an index is
    /// read.
    ///
    /// # Errors
    /// Returns an error if the file can't be read.
    pub fn attempt_counts(&self, spec: &str) -> Result<Vec<(TaskKey, u32)>, StoreError> {
        let sql = "SELECT run, task_id, occurrence, title, count(*) FROM attempts
                   WHERE run IN (SELECT run FROM runs WHERE spec = ?1)
                   GROUP BY run, task_id, occurrence, title";
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query([spec])?;
        let mut counts = Vec::new();
        while let Some(row) = rows.next()? {
            counts.push((task_from_row(row, 1)?, row.get(4)?));
        }
        Ok(counts)
    }
}

/// Stores an attempt, or updates it with new fields.
pub(crate) fn record_attempt(conn: &Connection, attempt: &Attempt) -> Result<(), RecordError> {
    let run = run_number(conn, &attempt.key.run)?;
    let earlier = find(conn, run, &attempt.key)?;
    let merged = match &earlier {
        Some(earlier) => attempt.clone().merged_over(earlier.clone()),
        None => attempt.clone(),
    };
    if earlier.as_ref() == Some(&merged) {
        return Ok(());
    }
    let sql = format!(
        "INSERT OR REPLACE INTO attempts ({COLUMNS})
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    );
    conn.prepare_cached(&sql)
        .and_then(|mut s| s.execute(params_from_iter(with_sum(columns(run, &merged)))))
        .map_err(StoreError::from)?;
    Ok(())
}

fn find(conn: &Connection, run: i64, key: &AttemptKey) -> Result<Option<Attempt>, StoreError> {
    let columns = params_from_iter(key_columns(run, key));
    Ok(read(conn, KEY, columns)?.pop())
}

pub(crate) fn exists(conn: &Connection, run: i64, key: &AttemptKey) -> Result<bool, StoreError> {
    Ok(conn
        .prepare_cached(&format!("SELECT 1 FROM attempts WHERE {KEY}"))?
        .exists(params_from_iter(key_columns(run, key)))?)
}

fn read(conn: &Connection, which: &str, params: impl Params) -> Result<Vec<Attempt>, StoreError> {
    let columns = COLUMNS.replace(", ", ", rows.");
    let sql = format!(
        "SELECT rows.{columns}, runs.id FROM attempts AS rows JOIN runs USING (run)
         WHERE {which} {IN_ORDER}"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(params)?;
    let mut attempts = Vec::new();
    while let Some(row) = rows.next()? {
        attempts.push(from_row(row)?);
    }
    Ok(attempts)
}

pub(crate) fn key_columns(run: i64, key: &AttemptKey) -> Vec<Value> {
    let mut columns = vec![run.into()];
    columns.extend(task_columns(&key.task));
    columns.push(key.number.into());
    columns
}

/// Reads the key from a row that starts with its columns.
pub(crate) fn key_from_row(row: &Row<'_>, run_id: usize) -> Result<AttemptKey, StoreError> {
    Ok(AttemptKey {
        run: RunId::named(row.get::<_, String>(run_id)?),
        task: task_from_row(row, 1)?,
        number: row.get(4)?,
    })
}

fn columns(run: i64, attempt: &Attempt) -> Vec<Value> {
    let mut columns = key_columns(run, &attempt.key);
    columns.extend([
        attempt.agent.clone().into(),
        attempt.started_ms.into(),
        attempt.ended_ms.into(),
        attempt.session.clone().into(),
        attempt.exit_code.into(),
        attempt.signal.into(),
        attempt.outcome.clone().into(),
        attempt.verify.clone().into(),
        attempt.log.clone().into(),
        attempt.snapshot_before.clone().into(),
        attempt.snapshot_after.clone().into(),
        attempt.cost_microdollars.map(whole).into(),
        attempt.input_tokens.map(whole).into(),
        attempt.output_tokens.map(whole).into(),
    ]);
    columns
}

fn from_row(row: &Row<'_>) -> Result<Attempt, StoreError> {
    check_sum(row, "attempts", SUMMED)?;
    Ok(Attempt {
        key: key_from_row(row, SUMMED + 1)?,
        agent: row.get(5)?,
        started_ms: row.get(6)?,
        ended_ms: row.get(7)?,
        session: row.get(8)?,
        exit_code: row.get(9)?,
        signal: row.get(10)?,
        outcome: row.get(11)?,
        verify: row.get(12)?,
        log: row.get(13)?,
        snapshot_before: row.get(14)?,
        snapshot_after: row.get(15)?,
        cost_microdollars: row.get(16)?,
        input_tokens: row.get(17)?,
        output_tokens: row.get(18)?,
    })
}
