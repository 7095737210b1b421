//! Beginning, ending and finding runs.

use rusqlite::{Connection, OptionalExtension, params_from_iter};

use crate::row_sum::with_sum;
use crate::{Fault, NewRun, Run, RunEnd, RunId, Store};

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
        let newest = self.newest_run_where(|run| run.spec == spec)?;
        Ok(newest.filter(|run| run.end.is_none()).map(|run| run.id))
    }

    /// Ending a run twice in the same way changes nothing.
    ///
    /// # Errors
    /// If there is no such run, or it ended in another way.
    pub fn end_run(&mut self, id: &RunId, end: &RunEnd) -> Result<(), RunError> {
        let tx = self.write()?;
        let run = run_number(&tx, id)?;
        match read_end(&tx, run)? {
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
        let mut runs = Vec::new();
        self.newest_run_where(|run| {
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
        self.newest_run_where(|run| run.id == *id)?
            .ok_or_else(|| RunError::NoSuchRun(id.clone()))
    }

    /// Looks at whole rows instead of searching an index: a row whose name or spec was
    /// damaged is then noticed rather than passed over.
    fn newest_run_where(&self, mut wanted: impl FnMut(&Run) -> bool) -> Result<Option<Run>, Fault> {
        let sql = format!(
            "SELECT {}, last_step, run FROM runs ORDER BY run DESC",
            Run::COLUMNS
        );
        let mut statement = self.conn.prepare_cached(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let mut run = Run::from_row(row)?;
            run.end = read_end(&self.conn, row.get(6)?)?;
            if wanted(&run) {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }
}

pub(crate) fn insert_run(conn: &Connection, run: &Run) -> Result<i64, Fault> {
    let sql = format!("INSERT INTO runs ({}) VALUES (?, ?, ?, ?, ?)", Run::COLUMNS);
    conn.execute(&sql, params_from_iter(with_sum(run.columns())))?;
    Ok(conn.last_insert_rowid())
}

pub(crate) fn insert_end(conn: &Connection, run: i64, end: &RunEnd) -> Result<(), Fault> {
    let sql = format!(
        "INSERT INTO run_ends ({}) VALUES (?, ?, ?, ?, ?)",
        RunEnd::COLUMNS
    );
    conn.execute(&sql, params_from_iter(with_sum(end.columns(run))))?;
    Ok(())
}

fn read_end(conn: &Connection, run: i64) -> Result<Option<RunEnd>, Fault> {
    let sql = format!("SELECT {} FROM run_ends WHERE run = ?1", RunEnd::COLUMNS);
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([run])?;
    rows.next()?.map(RunEnd::from_row).transpose()
}

/// The number that stands for the run inside the file.
pub(crate) fn run_number(conn: &Connection, id: &RunId) -> Result<i64, RunError> {
    conn.prepare_cached("SELECT run FROM runs WHERE id = ?1")?
        .query_row([id.as_str()], |row| row.get(0))
        .optional()?
        .ok_or_else(|| RunError::NoSuchRun(id.clone()))
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
