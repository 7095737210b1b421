//! Runs: beginning, ending and finding them.

use std::collections::BTreeMap;
use std::fmt;

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};
use serde::{Deserialize, Serialize};

use crate::row::{Tally, check_sum, with_sum};
use crate::schema::REGREEN;
use crate::{Fault, StepNo, Store};

/// What is said when a run begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRun {
    /// Whose tasks are run, in the caller's own way of naming specs.
    pub spec: String,
    pub started_ms: i64,
}

/// A run as the store knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub id: RunId,
    pub spec: String,
    /// The version of regreen that began it.
    pub regreen: String,
    pub started_ms: i64,
    pub last_step: StepNo,
    /// `None` while it can still be resumed.
    pub end: Option<RunEnd>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    pub ended_ms: i64,
    /// In the engine's words.
    pub outcome: String,
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

    /// What the sum covers; the rest changes.
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

    /// From `COLUMNS, last_step`.
    pub(crate) fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
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

    pub(crate) fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        check_sum(row, "run_ends", 4)?;
        Ok(Self {
            ended_ms: row.get(1)?,
            outcome: row.get(2)?,
            exit_code: row.get(3)?,
        })
    }
}

/// The name of a run: when it started, to the second and in UTC (`20261116-024930`), with a
/// number behind it if that second saw several (`20261116-024930-02`). Sorts by time, is a
/// good folder name, and no two runs share one, also when the file before was lost.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(String);

impl RunId {
    /// The name as somebody typed it; whether there is such a run is another question.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The `n`th name for this second, counted from 1.
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

/// Why something about a run could not be read or stored.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("the journal knows no run {0}")]
    NoSuchRun(RunId),
    #[error("run {0} has ended already")]
    Ended(RunId),
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl From<rusqlite::Error> for RunError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Fault(error.into())
    }
}

impl Store {
    /// # Errors
    /// If the file cannot be written.
    pub fn begin_run(&mut self, new: &NewRun) -> Result<RunId, Fault> {
        let tx = self.write()?;
        let id = free_id(&tx, new.started_ms)?;
        insert_run(&tx, &Run::new(id.clone(), new))?;
        tx.commit()?;
        Ok(id)
    }

    /// The newest run of this spec, if it has not ended. Older ones that never ended were
    /// given up when a newer one began.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn unfinished_run(&self, spec: &str) -> Result<Option<RunId>, Fault> {
        let _moment = self.moment()?;
        let newest = newest_run_where(&self.conn, |run| run.spec == spec)?;
        Ok(newest.filter(|run| run.end.is_none()).map(|run| run.id))
    }

    /// Ending a run twice in the same way changes nothing.
    ///
    /// # Errors
    /// If there is no such run, or it ended in another way.
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

    /// The newest runs, newest first.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn runs(&self, limit: usize) -> Result<Vec<Run>, Fault> {
        let _moment = self.moment()?;
        let mut runs = Vec::new();
        newest_run_where(&self.conn, |run| {
            if runs.len() < limit {
                runs.push(run.clone());
            }
            runs.len() >= limit
        })?;
        Ok(runs)
    }

    /// # Errors
    /// If there is no such run.
    pub fn run(&self, id: &RunId) -> Result<Run, RunError> {
        let _moment = self.moment()?;
        newest_run_where(&self.conn, |run| run.id == *id)?
            .ok_or_else(|| RunError::NoSuchRun(id.clone()))
    }
}

/// Looks at whole rows instead of searching an index: a row whose name or spec was damaged is
/// then noticed rather than passed over, and so is one that is missing.
fn newest_run_where(
    conn: &Connection,
    mut wanted: impl FnMut(&Run) -> bool,
) -> Result<Option<Run>, Fault> {
    let mut number = Tally::read(conn)?.runs;
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
        Err(Fault::damaged(format!(
            "the run with number {number} is missing"
        )))
    }
}

pub(crate) fn insert_run(conn: &Connection, run: &Run) -> Result<i64, Fault> {
    let mut tally = Tally::read(conn)?;
    tally.runs += 1;
    let sql = format!(
        "INSERT INTO runs ({}, run) VALUES (?, ?, ?, ?, ?, ?)",
        Run::COLUMNS
    );
    let mut columns = with_sum(run.columns());
    columns.push(tally.runs.into());
    conn.execute(&sql, params_from_iter(columns))?;
    tally.write(conn)?;
    Ok(tally.runs)
}

pub(crate) fn insert_end(conn: &Connection, run: i64, end: &RunEnd) -> Result<(), Fault> {
    let sql = format!(
        "INSERT INTO run_ends ({}) VALUES (?, ?, ?, ?, ?)",
        RunEnd::COLUMNS
    );
    conn.execute(&sql, params_from_iter(with_sum(end.columns(run))))?;
    let mut tally = Tally::read(conn)?;
    tally.ends += 1;
    tally.write(conn)
}

/// All ends by the number of their run: only of all of them can be told that none is missing.
fn read_ends(conn: &Connection) -> Result<BTreeMap<i64, RunEnd>, Fault> {
    let sql = format!("SELECT {} FROM run_ends", RunEnd::COLUMNS);
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    let mut ends = BTreeMap::new();
    while let Some(row) = rows.next()? {
        ends.insert(row.get(0)?, RunEnd::from_row(row)?);
    }
    let (said, found) = (Tally::read(conn)?.ends, ends.len());
    if usize::try_from(said) == Ok(found) {
        Ok(ends)
    } else {
        Err(Fault::damaged(format!(
            "{said} runs have ended, but {found} ends are listed"
        )))
    }
}

/// The number that stands for the run inside the file.
pub(crate) fn run_number(conn: &Connection, id: &RunId) -> Result<i64, RunError> {
    let sql = format!("SELECT {}, run FROM runs WHERE id = ?1", Run::COLUMNS);
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([id.as_str()])?;
    let Some(row) = rows.next()? else {
        return Err(why_not_found(conn, id));
    };
    // The index may lead to another run's row.
    check_sum(row, "runs", Run::SUMMED)?;
    if row.get_ref(0)?.as_str().ok() != Some(id.as_str()) {
        return Err(Fault::damaged(format!("run {id} is another one")).into());
    }
    Ok(row.get(5)?)
}

fn why_not_found(conn: &Connection, id: &RunId) -> RunError {
    match newest_run_where(conn, |run| run.id == *id) {
        Ok(None) => RunError::NoSuchRun(id.clone()),
        Ok(Some(_)) => Fault::damaged(format!("run {id} is listed, but cannot be found")).into(),
        Err(fault) => fault.into(),
    }
}

fn free_id(conn: &Connection, started_ms: i64) -> Result<RunId, Fault> {
    let second: String = conn.query_row(
        "SELECT strftime('%Y%m%d-%H%M%S', ?1 / 1000, 'unixepoch')",
        [started_ms],
        |row| row.get(0),
    )?;
    let mut n = 1;
    loop {
        let id = RunId::nth_of_second(&second, n);
        if !is_taken(conn, &id)? {
            return Ok(id);
        }
        n += 1;
    }
}

pub(crate) fn is_taken(conn: &Connection, id: &RunId) -> Result<bool, Fault> {
    Ok(conn
        .prepare_cached("SELECT 1 FROM runs WHERE id = ?1")?
        .exists([id.as_str()])?)
}
