//! Runs: beginning, ending and finding them.

use std::collections::BTreeMap;
use std::fmt;

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};
use serde::{Deserialize, Serialize};

use crate::mention::index_rest;
use crate::row::{RowCounts, check_sum, with_sum};
use crate::schema::REGREEN;
use crate::{StepNo, Store, StoreError};

/// A run to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRun {
    /// The spec whose tasks are run, as the caller names it.
    pub spec: String,
    /// When it starts.
    pub started_ms: i64,
    /// The name of the work tree, if its repository has several. Runs that start in several of them
    /// at once keep their snapshots in one place.
    pub tree: Option<String>,
}

/// A stored run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// The spec whose tasks are run.
    pub spec: String,
    /// The version of regreen that started it.
    pub regreen: String,
    /// When it started.
    pub started_ms: i64,
    /// Its last step.
    pub last_step: StepNo,
    /// `None` while it can be resumed.
    pub end: Option<RunEnd>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    /// When it ended.
    pub ended_ms: i64,
    /// The outcome, in the engine's words.
    pub outcome: String,
    /// The exit code of regreen, if it ended by itself.
    pub exit_code: Option<i32>,
}

impl Run {
    pub(crate) fn new(id: RunId, new: &NewRun) -> Self {
        Self {
            id,
            spec: new.spec.clone(),
            regreen: REGREEN.to_owned(),
            started_ms: new.started_ms,
            last_step: StepNo::NONE,
            end: None,
        }
    }

    /// The number of columns that the checksum covers; the others change.
    pub(crate) const SUMMED: usize = 4;
    pub(crate) const COLUMNS: &str = "id, spec, regreen, started_ms, sum";

    pub(crate) fn columns(&self) -> Vec<Value> {
        vec![
            self.id.as_str().to_owned().into(),
            self.spec.clone().into(),
            self.regreen.clone().into(),
            self.started_ms.into(),
        ]
    }

    /// Reads a run from `COLUMNS, last_step`.
    pub(crate) fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        check_sum(row, "runs", Self::SUMMED)?;
        Ok(Self {
            id: RunId::named(row.get::<_, String>(0)?),
            spec: row.get(1)?,
            regreen: row.get(2)?,
            started_ms: row.get(3)?,
            last_step: StepNo(row.get(5)?),
            end: None,
        })
    }
}

impl RunEnd {
    pub(crate) const COLUMNS: &str = "run, ended_ms, outcome, exit_code, sum";

    pub(crate) fn columns(&self, run: i64) -> Vec<Value> {
        vec![
            run.into(),
            self.ended_ms.into(),
            self.outcome.clone().into(),
            self.exit_code.into(),
        ]
    }

    pub(crate) fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        check_sum(row, "run_ends", 4)?;
        Ok(Self {
            ended_ms: row.get(1)?,
            outcome: row.get(2)?,
            exit_code: row.get(3)?,
        })
    }
}

/// The id of a run: its start time in UTC to the second (`20261116-024930`), followed by the name
/// of a linked work tree (`20261116-024930-in-login`) and by a number if several started in that
/// second (`20261116-024930-02`). It sorts by time, can name a folder, and is unique even if an
/// earlier file was lost.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(String);

impl RunId {
    /// Wraps a name as typed or stored, without checking that the run exists.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the `n`th id for this second, counted from 1.
    pub(crate) fn nth_of_second(second: &str, n: u32) -> Self {
        match n {
            ..=1 => Self(second.to_owned()),
            _ => Self(format!("{second}-{n:02}")),
        }
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Why something about a run couldn't be read or stored.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// There is no such run.
    #[error("run {0} not found in the journal")]
    NoSuchRun(RunId),
    /// The run has already ended, with another outcome.
    #[error("run {0} has already ended")]
    Ended(RunId),
    /// The file can't be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<rusqlite::Error> for RunError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

impl Store {
    /// Starts a run and returns its id.
    ///
    /// # Errors
    /// Returns an error if the file can't be written.
    pub fn begin_run(&mut self, new: &NewRun) -> Result<RunId, StoreError> {
        let tx = self.write()?;
        let id = unused_id(&tx, new)?;
        insert_run(&tx, &Run::new(id.clone(), new))?;
        tx.commit()?;
        Ok(id)
    }

    /// Returns the newest run of this spec, if it hasn't ended. Older ones that never ended were
    /// abandoned when a newer one started.
    ///
    /// # Errors
    /// Returns an error if the file can't be read.
    pub fn unfinished_run(&self, spec: &str) -> Result<Option<RunId>, StoreError> {
        let _reading = self.read_transaction()?;
        let newest = newest_run_where(&self.conn, |run| run.spec == spec)?;
        Ok(newest.filter(|run| run.end.is_none()).map(|run| run.id))
    }

    /// Ends a run. Ending it twice with the same outcome changes nothing.
    ///
    /// # Errors
    /// Returns an error if there is no such run, or it ended with another outcome.
    pub fn end_run(&mut self, id: &RunId, end: &RunEnd) -> Result<(), RunError> {
        let tx = self.write()?;
        let run = run_number(&tx, id)?;
        match read_ends(&tx)?.remove(&run) {
            Some(stored) if stored == *end => return Ok(()),
            Some(_) => return Err(RunError::Ended(id.clone())),
            None => insert_end(&tx, run, end)?,
        }
        tx.commit()?;
        Ok(())
    }

    /// Returns the newest runs, newest first.
    ///
    /// # Errors
    /// Returns an error if the file can't be read.
    pub fn runs(&self, limit: usize) -> Result<Vec<Run>, StoreError> {
        let _reading = self.read_transaction()?;
        let mut runs = Vec::new();
        newest_run_where(&self.conn, |run| {
            if runs.len() < limit {
                runs.push(run.clone());
            }
            runs.len() >= limit
        })?;
        Ok(runs)
    }

    /// Returns a run.
    ///
    /// # Errors
    /// Returns an error if there is no such run.
    pub fn run(&self, id: &RunId) -> Result<Run, RunError> {
        let _reading = self.read_transaction()?;
        newest_run_where(&self.conn, |run| run.id == *id)?
            .ok_or_else(|| RunError::NoSuchRun(id.clone()))
    }
}

/// Reads whole rows instead of searching an index, so that a row with a damaged id or spec is
/// detected rather than skipped, and a missing one as well.
fn newest_run_where(
    conn: &Connection,
    mut wanted: impl FnMut(&Run) -> bool,
) -> Result<Option<Run>, StoreError> {
    let mut number = RowCounts::read(conn)?.runs;
    let mut ends = read_ends(conn)?;
    let sql = format!(
        "SELECT {}, last_step, run FROM runs ORDER BY run DESC",
        Run::COLUMNS
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let mut run = Run::from_row(row)?;
        if row.get::<_, i64>(6)? != number {
            break;
        }
        run.end = ends.remove(&number);
        if wanted(&run) {
            return Ok(Some(run));
        }
        number -= 1;
    }
    if number == 0 {
        Ok(None)
    } else {
        Err(StoreError::damaged(format!(
            "the run with number {number} is missing"
        )))
    }
}

pub(crate) fn insert_run(conn: &Connection, run: &Run) -> Result<i64, StoreError> {
    let mut counts = RowCounts::read(conn)?;
    counts.runs += 1;
    let sql = format!(
        "INSERT INTO runs ({}, run) VALUES (?, ?, ?, ?, ?, ?)",
        Run::COLUMNS
    );
    let mut columns = with_sum(run.columns());
    columns.push(counts.runs.into());
    conn.execute(&sql, params_from_iter(columns))?;
    counts.write(conn)?;
    Ok(counts.runs)
}

pub(crate) fn insert_end(conn: &Connection, run: i64, end: &RunEnd) -> Result<(), StoreError> {
    let sql = format!(
        "INSERT INTO run_ends ({}) VALUES (?, ?, ?, ?, ?)",
        RunEnd::COLUMNS
    );
    conn.execute(&sql, params_from_iter(with_sum(end.columns(run))))?;
    index_rest(conn, run)?;
    let mut counts = RowCounts::read(conn)?;
    counts.ends += 1;
    counts.write(conn)
}

/// Returns all ends by run number. Only reading all of them reveals a missing one.
fn read_ends(conn: &Connection) -> Result<BTreeMap<i64, RunEnd>, StoreError> {
    let sql = format!("SELECT {} FROM run_ends", RunEnd::COLUMNS);
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    let mut ends = BTreeMap::new();
    while let Some(row) = rows.next()? {
        ends.insert(row.get(0)?, RunEnd::from_row(row)?);
    }
    let (expected, found) = (RowCounts::read(conn)?.ends, ends.len());
    if usize::try_from(expected) == Ok(found) {
        Ok(ends)
    } else {
        Err(StoreError::damaged(format!(
            "{expected} runs have ended, but {found} ends are listed"
        )))
    }
}

/// Returns the number of the run inside the file.
pub(crate) fn run_number(conn: &Connection, id: &RunId) -> Result<i64, RunError> {
    let sql = format!("SELECT {}, run FROM runs WHERE id = ?1", Run::COLUMNS);
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([id.as_str()])?;
    let Some(row) = rows.next()? else {
        return Err(not_found(conn, id));
    };
    // The index may lead to another run's row.
    check_sum(row, "runs", Run::SUMMED)?;
    if row.get_ref(0)?.as_str().ok() != Some(id.as_str()) {
        return Err(StoreError::damaged(format!("run {id} is another one")).into());
    }
    Ok(row.get(5)?)
}

fn not_found(conn: &Connection, id: &RunId) -> RunError {
    match newest_run_where(conn, |run| run.id == *id) {
        Ok(None) => RunError::NoSuchRun(id.clone()),
        Ok(Some(_)) => {
            StoreError::damaged(format!("run {id} is listed, but cannot be found")).into()
        }
        Err(error) => error.into(),
    }
}

fn unused_id(conn: &Connection, new: &NewRun) -> Result<RunId, StoreError> {
    let mut second: String = conn.query_row(
        "SELECT strftime('%Y%m%d-%H%M%S', ?1 / 1000, 'unixepoch')",
        [new.started_ms],
        |row| row.get(0),
    )?;
    if let Some(tree) = &new.tree {
        second = format!("{second}-in-{tree}");
    }
    let mut n = 1;
    loop {
        let id = RunId::nth_of_second(&second, n);
        if !is_taken(conn, &id)? {
            return Ok(id);
        }
        n += 1;
    }
}

pub(crate) fn is_taken(conn: &Connection, id: &RunId) -> Result<bool, StoreError> {
    Ok(conn
        .prepare_cached("SELECT 1 FROM runs WHERE id = ?1")?
        .exists([id.as_str()])?)
}
