use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::Fault;

/// The open file. One process writes at a time; others may read meanwhile.
#[derive(Debug)]
pub struct Store {
    pub(crate) conn: Connection,
    pub(crate) left_open: bool,
}

impl Store {
    /// Whether the file had been left open when we opened it: its last user died, or is still
    /// at work. Whoever holds the lock of the working tree knows which, and may want `check`.
    #[must_use]
    pub fn was_left_open(&self) -> bool {
        self.left_open
    }

    /// Closes the file, folding the write-ahead log into it. Dropping the store does the same
    /// but cannot say what went wrong.
    ///
    /// # Errors
    /// If that fails; nothing that was stored is lost by it.
    pub fn close(self) -> Result<(), Fault> {
        self.conn.close().map_err(|(_, error)| error.into())
    }

    /// What is read until this is dropped is read at one moment, however many questions it
    /// takes and whoever writes meanwhile. `None` within such a moment.
    pub(crate) fn moment(&self) -> Result<Option<Transaction<'_>>, Fault> {
        if !self.conn.is_autocommit() {
            return Ok(None);
        }
        let reading = TransactionBehavior::Deferred;
        Ok(Some(Transaction::new_unchecked(&self.conn, reading)?))
    }

    pub(crate) fn write(&mut self) -> Result<Transaction<'_>, Fault> {
        Ok(self.conn.transaction()?)
    }
}
