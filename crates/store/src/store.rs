use rusqlite::{Connection, Transaction};

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

    pub(crate) fn write(&mut self) -> Result<Transaction<'_>, Fault> {
        Ok(self.conn.transaction()?)
    }
}
