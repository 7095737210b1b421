use rusqlite::{Connection, Row, params_from_iter};

use crate::journal::last_step;
use crate::row::{check_sum, json, whole, with_sum};
use crate::run::run_number;
use crate::{RunError, RunId, StepNo, Store, StoreError, VersionedJson};

const COLUMNS: &str = "run, step, version, state, sum";
const SUMMED: usize = 4;

/// The newest one, and one as a fallback.
const KEPT: u32 = 2;

/// The state after a step, so that resuming need not replay everything. It is only a cache: the
/// events are the truth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The step it was taken after.
    pub step: StepNo,
    /// The state itself.
    pub state: VersionedJson,
}

/// Why a snapshot was not stored.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// There is no such run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The run has no such step.
    #[error("run {run} has no step {step}")]
    NoSuchStep {
        /// The run.
        run: RunId,
        /// The missing step.
        step: StepNo,
    },
    /// The state can't be serialized.
    #[error("cannot encode the state as JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    /// The file can't be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<rusqlite::Error> for SnapshotError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

impl Store {
    /// Stores a snapshot and keeps the previous one as well.
    ///
    /// # Errors
    /// Returns an error if the run has no such step, or the file can't be written.
    pub fn save_snapshot(&mut self, run: &RunId, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        let tx = self.write()?;
        let number = run_number(&tx, run)?;
        if snapshot.step > last_step(&tx, number)? {
            let (run, step) = (run.clone(), snapshot.step);
            return Err(SnapshotError::NoSuchStep { run, step });
        }
        insert(&tx, number, snapshot)?;
        prune(&tx, number)?;
        tx.commit()?;
        Ok(())
    }

    /// Returns the newest readable snapshot; `None` if all events must be replayed.
    ///
    /// # Errors
    /// Returns an error if there is no such run, or the file is too damaged.
    pub fn latest_snapshot(&self, run: &RunId) -> Result<Option<Snapshot>, RunError> {
        let _reading = self.read_transaction()?;
        let number = run_number(&self.conn, run)?;
        let last = last_step(&self.conn, number)?;
        let sql = format!("SELECT {COLUMNS} FROM snapshots WHERE run = ?1 ORDER BY step DESC");
        let mut statement = self.conn.prepare_cached(&sql)?;
        let mut rows = statement.query([number])?;
        while let Some(row) = rows.next()? {
            // A snapshot that doesn't match its checksum is skipped: the events contain everything.
            match from_row(row, number) {
                Ok(snapshot) if snapshot.step <= last => return Ok(Some(snapshot)),
                _ => {}
            }
        }
        Ok(None)
    }
}

fn insert(conn: &Connection, run: i64, snapshot: &Snapshot) -> Result<(), SnapshotError> {
    let sql = format!("INSERT OR REPLACE INTO snapshots ({COLUMNS}) VALUES (?, ?, ?, ?, ?)");
    let columns = with_sum(vec![
        run.into(),
        whole(snapshot.step.0),
        snapshot.state.version.into(),
        serde_json::to_string(&snapshot.state)?.into(),
    ]);
    conn.prepare_cached(&sql)?
        .execute(params_from_iter(columns))?;
    Ok(())
}

fn prune(conn: &Connection, run: i64) -> Result<(), StoreError> {
    let sql = "DELETE FROM snapshots WHERE run = ?1 AND step NOT IN
               (SELECT step FROM snapshots WHERE run = ?1 ORDER BY step DESC LIMIT ?2)";
    conn.prepare_cached(sql)?.execute((run, KEPT))?;
    Ok(())
}

fn from_row(row: &Row<'_>, run: i64) -> Result<Snapshot, StoreError> {
    check_sum(row, "snapshots", SUMMED)?;
    if row.get::<_, i64>(0)? != run {
        return Err(StoreError::damaged(
            "a snapshot is listed under another run",
        ));
    }
    Ok(Snapshot {
        step: StepNo(row.get(1)?),
        state: json(row, 3)?,
    })
}
