//! Delegations as rows.

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use crate::row::{check_sum, json, whole, with_sum};
use crate::{Store, StoreError};

/// One attempt of a delegation, as people look for it later.
///
/// Category, kind and outcome are names here, not types: a file may contain names that a later
/// version of regreen added, and those are still worth showing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delegation {
    /// The name of the delegation.
    pub id: String,
    /// The number of the attempt, counted from 1.
    pub number: u32,
    /// When it began.
    pub at_ms: i64,
    /// The agent that ran.
    pub agent: String,
    /// The kind of prompt.
    pub prompt_kind: String,
    /// The prompt itself.
    pub prompt: String,
    /// The time limit of the attempt.
    pub timeout_ms: u64,
    /// The path of the log, relative to the workspace.
    pub log: String,
    /// The outcome; `None` while it is running.
    pub outcome: Option<String>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// The category of its failure.
    pub category: Option<String>,
    /// The kind of its failure.
    pub kind: Option<String>,
    /// Its failure in one sentence.
    pub message: Option<String>,
    /// The line that blocked it.
    pub blocked_on: Option<String>,
    /// The files that it changed.
    pub files: Vec<String>,
    /// The response to its failure.
    pub tried: Option<String>,
    /// Whether the next attempt succeeded; `None` if unknown.
    pub helped: Option<bool>,
}

const COLUMNS: &str = "id, number, at_ms, agent, prompt_kind, prompt, timeout_ms, log, outcome, \
                       duration_ms, category, kind, message, blocked_on, files, tried, helped, sum";
const SUMMED: usize = 17;

impl Store {
    /// Stores an attempt of a delegation, replacing an earlier record of it.
    ///
    /// # Errors
    /// Returns an error if the file can't be written.
    pub fn record_delegation(&mut self, attempt: &Delegation) -> Result<(), StoreError> {
        let tx = self.write()?;
        let places = vec!["?"; SUMMED + 1].join(", ");
        let sql = format!("INSERT OR REPLACE INTO delegations ({COLUMNS}) VALUES ({places})");
        tx.execute(&sql, params_from_iter(with_sum(columns(attempt))))?;
        tx.commit()?;
        Ok(())
    }

    /// Returns all attempts of delegations that began at or after a time, oldest first.
    ///
    /// # Errors
    /// Returns an error if the file can't be read.
    pub fn delegations_since(&self, since_ms: i64) -> Result<Vec<Delegation>, StoreError> {
        read(&self.conn, since_ms)
    }
}

fn read(conn: &Connection, since_ms: i64) -> Result<Vec<Delegation>, StoreError> {
    let sql =
        format!("SELECT {COLUMNS} FROM delegations WHERE at_ms >= ? ORDER BY at_ms, id, number");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([since_ms])?;
    let mut attempts = Vec::new();
    while let Some(row) = rows.next()? {
        attempts.push(from_row(row)?);
    }
    Ok(attempts)
}

fn columns(attempt: &Delegation) -> Vec<Value> {
    let files = serde_json::Value::from(attempt.files.clone()).to_string();
    vec![
        attempt.id.clone().into(),
        attempt.number.into(),
        attempt.at_ms.into(),
        attempt.agent.clone().into(),
        attempt.prompt_kind.clone().into(),
        attempt.prompt.clone().into(),
        whole(attempt.timeout_ms),
        attempt.log.clone().into(),
        attempt.outcome.clone().into(),
        attempt.duration_ms.map_or(Value::Null, whole),
        attempt.category.clone().into(),
        attempt.kind.clone().into(),
        attempt.message.clone().into(),
        attempt.blocked_on.clone().into(),
        files.into(),
        attempt.tried.clone().into(),
        attempt.helped.into(),
    ]
}

fn from_row(row: &Row<'_>) -> Result<Delegation, StoreError> {
    check_sum(row, "delegations", SUMMED)?;
    Ok(Delegation {
        id: row.get(0)?,
        number: row.get(1)?,
        at_ms: row.get(2)?,
        agent: row.get(3)?,
        prompt_kind: row.get(4)?,
        prompt: row.get(5)?,
        timeout_ms: row.get(6)?,
        log: row.get(7)?,
        outcome: row.get(8)?,
        duration_ms: row.get(9)?,
        category: row.get(10)?,
        kind: row.get(11)?,
        message: row.get(12)?,
        blocked_on: row.get(13)?,
        files: json(row, 14)?,
        tried: row.get(15)?,
        helped: row.get(16)?,
    })
}
