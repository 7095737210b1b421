//! Adding steps, and the commands they leave pending.

use rusqlite::{Connection, OptionalExtension, Transaction};

use crate::history::record_row;
use crate::mention::index_complete;
use crate::run::run_number;
use crate::step::{insert_step, read_step};
use crate::{
    CommandSeq, HistoryRow, IssuedCommand, RecordError, RunError, RunId, Step, StepNo, Store,
    StoreError,
};

/// Why a step was not stored. No part of it was.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// The run is unknown or has ended.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The step leaves a gap, or is already stored.
    #[error("step {got} cannot follow step {last} of run {run}")]
    OutOfOrder {
        /// The run.
        run: RunId,
        /// Its last step.
        last: StepNo,
        /// The step that was refused.
        got: StepNo,
    },
    /// The step answers a command that isn't pending.
    #[error("command {0} is not pending")]
    NotPending(CommandSeq),
    /// The step issues a command that is already pending.
    #[error("command {0} is already pending")]
    AlreadyPending(CommandSeq),
    /// A row of history was refused.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Part of the step can't be serialized.
    #[error("cannot encode the step as JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    /// The file can't be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<rusqlite::Error> for AppendError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

impl Store {
    /// Stores a step and the history rows that follow from it, all or nothing. When this returns,
    /// they are on the disk.
    ///
    /// # Errors
    /// Returns an error if the step doesn't follow the last one, contradicts the pending commands,
    /// or can't be written.
    pub fn append(
        &mut self,
        run: &RunId,
        step: &Step,
        history: &[HistoryRow],
    ) -> Result<(), AppendError> {
        append_in(self.write()?, run, step, history)
    }

    /// Stores a step that could be produced again, as atomically as any other. It survives the
    /// death of this process, but a power failure may lose it until [`Store::append`] stores the
    /// next step.
    ///
    /// # Errors
    /// Fails like [`Store::append`].
    pub fn append_unsynced(
        &mut self,
        run: &RunId,
        step: &Step,
        history: &[HistoryRow],
    ) -> Result<(), AppendError> {
        append_in(self.write_unsynced()?, run, step, history)
    }

    /// Returns the commands that no step has answered, ordered by number.
    ///
    /// # Errors
    /// Returns an error if there is no such run, or the file is damaged.
    pub fn outstanding(&self, run: &RunId) -> Result<Vec<IssuedCommand>, RunError> {
        let _reading = self.read_transaction()?;
        let number = run_number(&self.conn, run)?;
        let pending = pending_commands(&self.conn, number)?;
        let mut commands = Vec::with_capacity(pending.len());
        for (seq, step) in pending {
            commands.push(issued(&self.conn, number, seq, step)?);
        }
        Ok(commands)
    }
}

fn append_in(
    tx: Transaction<'_>,
    run: &RunId,
    step: &Step,
    history: &[HistoryRow],
) -> Result<(), AppendError> {
    append_step(&tx, run, step)?;
    for row in history {
        record_row(&tx, row)?;
    }
    tx.commit()?;
    Ok(())
}

/// Appends a step without committing, for importing many at once.
pub(crate) fn append_step(conn: &Connection, run: &RunId, step: &Step) -> Result<(), AppendError> {
    let number = advance(conn, run, step)?;
    insert_step(conn, number, step)?;
    index_complete(conn, number, step.number)?;
    update_pending(conn, number, step)
}

/// Advances the run by exactly one step, or returns why this isn't the next one.
fn advance(conn: &Connection, run: &RunId, step: &Step) -> Result<i64, AppendError> {
    let sql = "UPDATE runs SET last_step = ?2, owed = owed + ?3
               WHERE id = ?1 AND last_step = ?2 - 1
                 AND NOT EXISTS (SELECT 1 FROM run_ends WHERE run_ends.run = runs.run)
               RETURNING run";
    let growth =
        i64::try_from(step.commands.len()).unwrap_or(i64::MAX) - i64::from(step.answers.is_some());
    conn.prepare_cached(sql)?
        .query_row((run.as_str(), step.number.0, growth), |row| row.get(0))
        .optional()?
        .map_or_else(|| Err(rejection(conn, run, step.number)), Ok)
}

fn rejection(conn: &Connection, run: &RunId, got: StepNo) -> AppendError {
    let number = match run_number(conn, run) {
        Ok(number) => number,
        Err(error) => return error.into(),
    };
    match last_step(conn, number) {
        Ok(last) if got == last.next() => RunError::Ended(run.clone()).into(),
        Ok(last) => AppendError::OutOfOrder {
            run: run.clone(),
            last,
            got,
        },
        Err(error) => error.into(),
    }
}

/// Returns the last step of a run, checking that the run and its steps agree on it.
pub(crate) fn last_step(conn: &Connection, run: i64) -> Result<StepNo, StoreError> {
    let sql = "SELECT last_step, coalesce((SELECT max(step) FROM steps WHERE run = ?1), 0)
               FROM runs WHERE run = ?1";
    let (expected, found): (u64, u64) = conn
        .prepare_cached(sql)?
        .query_row([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if expected == found {
        Ok(StepNo(expected))
    } else {
        Err(StoreError::damaged(format!(
            "a run of {expected} steps ends with step {found}"
        )))
    }
}

fn update_pending(conn: &Connection, run: i64, step: &Step) -> Result<(), AppendError> {
    if let Some(answered) = step.answers {
        let removed = conn
            .prepare_cached("DELETE FROM owed WHERE run = ?1 AND seq = ?2")?
            .execute((run, answered.0))?;
        if removed == 0 {
            return Err(AppendError::NotPending(answered));
        }
    }
    for command in &step.commands {
        insert_pending(conn, run, command.seq, step.number)?;
    }
    Ok(())
}

fn insert_pending(
    conn: &Connection,
    run: i64,
    seq: CommandSeq,
    step: StepNo,
) -> Result<(), AppendError> {
    let added = conn
        .prepare_cached("INSERT OR IGNORE INTO owed (run, seq, step) VALUES (?1, ?2, ?3)")?
        .execute((run, seq.0, step.0))?;
    if added == 1 {
        Ok(())
    } else {
        Err(AppendError::AlreadyPending(seq))
    }
}

fn pending_commands(conn: &Connection, run: i64) -> Result<Vec<(CommandSeq, StepNo)>, StoreError> {
    let pending = conn
        .prepare_cached("SELECT seq, step FROM owed WHERE run = ?1 ORDER BY seq")?
        .query_map([run], |row| {
            Ok((CommandSeq(row.get(0)?), StepNo(row.get(1)?)))
        })?
        .collect::<Result<Vec<_>, _>>()?;
    let expected: usize = conn
        .prepare_cached("SELECT owed FROM runs WHERE run = ?1")?
        .query_row([run], |row| row.get(0))?;
    if pending.len() == expected {
        Ok(pending)
    } else {
        Err(StoreError::damaged(format!(
            "a run has {expected} pending commands, but {} are listed",
            pending.len()
        )))
    }
}

fn issued(
    conn: &Connection,
    run: i64,
    seq: CommandSeq,
    step: StepNo,
) -> Result<IssuedCommand, StoreError> {
    if is_answered(conn, run, seq, step)? {
        return Err(StoreError::damaged(format!(
            "command {seq} is answered, but listed as pending"
        )));
    }
    read_step(conn, run, step)?
        .and_then(|step| step.commands.into_iter().find(|c| c.seq == seq))
        .ok_or_else(|| StoreError::damaged(format!("step {step} did not issue command {seq}")))
}

/// Returns whether a step answers the command. Pending commands are recent, so there are few steps
/// to search.
fn is_answered(
    conn: &Connection,
    run: i64,
    seq: CommandSeq,
    issued_by: StepNo,
) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM steps WHERE run = ?1 AND step > ?2 AND answers = ?3";
    Ok(conn
        .prepare_cached(sql)?
        .exists((run, issued_by.0, seq.0))?)
}
