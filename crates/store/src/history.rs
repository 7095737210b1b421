use rusqlite::Connection;

use crate::{Attempt, AttemptKey, FailureRow, Fault, RunError, Store, attempts, failures};

/// What people may ask about later. Stored with the step it follows from; storing it again
/// changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryRow {
    Attempt(Attempt),
    Failure(FailureRow),
}

/// Why a row of history was not stored.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("attempt {} of task {} in run {} is not known", .0.number, .0.task, .0.run)]
    NoSuchAttempt(Box<AttemptKey>),
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl Store {
    /// Stores rows outside a step, all or none: for what is learnt when no run is going on.
    ///
    /// # Errors
    /// If a row names what is not there, or the file cannot be written.
    pub fn record(&mut self, rows: &[HistoryRow]) -> Result<(), RecordError> {
        let tx = self.write()?;
        for row in rows {
            record(&tx, row)?;
        }
        tx.commit().map_err(Fault::from)?;
        Ok(())
    }
}

pub(crate) fn record(conn: &Connection, row: &HistoryRow) -> Result<(), RecordError> {
    match row {
        HistoryRow::Attempt(attempt) => attempts::record(conn, attempt),
        HistoryRow::Failure(failure) => failures::record(conn, failure),
    }
}
