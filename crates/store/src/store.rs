//! The open file, to write or only to read.

use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{io, thread};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, MAIN_DB, OpenFlags, Transaction, TransactionBehavior};

use crate::{Fault, schema};

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

/// Transactions take about a millisecond; whoever holds the file longer is not about to let go.
pub(crate) const PATIENCE: Duration = Duration::from_millis(500);
const LOOKS: u32 = 50;

/// What the disk is asked for at the end of a transaction.
pub(crate) const SYNCHRONOUS: &str = "synchronous";
pub(crate) const FULL: &str = "FULL";

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("there is no folder for {}", path.display())]
    NoFolder { path: PathBuf },
    #[error("the journal cannot be read")]
    NotReadable(#[source] io::Error),
    #[error(
        "the journal has version {found}, written by regreen {regreen}; this regreen knows \
         version {known} and older"
    )]
    Newer {
        found: u32,
        known: u32,
        regreen: String,
    },
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl OpenError {
    /// What the person in front of it can do.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            Self::NoFolder { .. } => "make the folder first",
            Self::NotReadable(_) => "give your user read permission on the folder and its files",
            Self::Newer { .. } => "use that version of regreen, or a newer one",
            Self::Fault(fault) => fault.advice(),
        }
    }
}

impl Store {
    /// Opens the file, making or updating it where needed.
    ///
    /// # Errors
    /// If it cannot be read and written, or not be understood.
    pub fn open(path: &Path, now_ms: i64) -> Result<Self, OpenError> {
        let left_open = leftover_log(path);
        let mut conn = connect(path)?;
        prepare(&mut conn)?;
        schema::bring_up_to_date(&mut conn, now_ms)?;
        Ok(Self { conn, left_open })
    }
}

/// SQLite removes its write-ahead log when the last user closes the file.
fn leftover_log(path: &Path) -> bool {
    let log = beside(path, "-wal");
    log.metadata().is_ok_and(|found| found.len() > 0)
}

/// `regreen.db-wal` for `regreen.db`.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn connect(path: &Path) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    match Connection::open_with_flags(path, flags) {
        // SQLite opens a file it may not write as one to read only, without a word.
        Ok(conn) if conn.is_readonly(MAIN_DB).map_err(Fault::from)? => {
            Err(Fault::NotWritable.into())
        }
        Ok(conn) => Ok(conn),
        Err(error) => Err(why_not_opened(path, error)),
    }
}

fn why_not_opened(path: &Path, error: rusqlite::Error) -> OpenError {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) {
        return OpenError::NoFolder {
            path: path.to_owned(),
        };
    }
    Fault::from(error).into()
}

fn prepare(conn: &mut Connection) -> Result<(), Fault> {
    conn.busy_timeout(PATIENCE)?;
    // Reading first and writing later in one transaction could not wait for its turn.
    conn.set_transaction_behavior(TransactionBehavior::Immediate);
    keep_a_log(conn)?;
    // A step that was reported as stored is on the disk: WAL alone promises that only
    // with FULL. Where fsync stops at the drive's cache (macOS), ask for more.
    conn.pragma_update(None, SYNCHRONOUS, FULL)?;
    conn.pragma_update(None, "fullfsync", true)?;
    conn.pragma_update(None, "foreign_keys", true)?;
    be_careful(conn)
}

/// Notice a damaged page when it is read instead of trusting it.
pub(crate) fn be_careful(conn: &Connection) -> Result<(), Fault> {
    conn.pragma_update(None, "cell_size_check", true)?;
    conn.pragma_update(None, "trusted_schema", false)?;
    Ok(())
}

/// SQLite waits its turn for everything but this, the first time a file is opened.
fn keep_a_log(conn: &Connection) -> Result<(), Fault> {
    let mut looks = 0;
    loop {
        let set = conn.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()));
        match set.map_err(Fault::from) {
            Err(Fault::Busy) if looks < LOOKS => thread::sleep(PATIENCE / LOOKS),
            done => return done,
        }
        looks += 1;
    }
}

impl Store {
    /// Opens the file to look at it; `None` if there is none. Nothing is made or changed, so
    /// that it works where nothing may be written; whoever writes meanwhile is not disturbed.
    ///
    /// # Errors
    /// If it cannot be read, or not be understood.
    pub fn open_to_read(path: &Path, now_ms: i64) -> Result<Option<Self>, OpenError> {
        match File::open(path) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(OpenError::NotReadable(error)),
        }
        let conn = connect_to_read(path)?;
        conn.busy_timeout(PATIENCE).map_err(Fault::from)?;
        be_careful(&conn)?;
        let conn = understood(conn, now_ms)?;
        Ok(Some(Self {
            conn,
            left_open: false,
        }))
    }
}

/// A file without a write-ahead log is closed, and holds all there is. SQLite would make a
/// log even to read it, unless it is told that nobody writes. If somebody begins to just now,
/// what they write goes into their log first, and we see the file as it was.
fn connect_to_read(path: &Path) -> Result<Connection, Fault> {
    let is_closed = !beside(path, "-wal").exists();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Ok(Connection::open_with_flags(uri(path, is_closed), flags)?)
}

fn uri(path: &Path, is_closed: bool) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte));
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    if is_closed {
        uri.push_str("?immutable=1");
    }
    uri
}

/// The file as this version reads it: an older one as a copy in memory that is up to date.
fn understood(conn: Connection, now_ms: i64) -> Result<Connection, OpenError> {
    if schema::is_up_to_date(&conn)? {
        return Ok(conn);
    }
    let mut copy = Connection::open_in_memory().map_err(Fault::from)?;
    copy_into(&conn, &mut copy)?;
    schema::bring_up_to_date(&mut copy, now_ms)?;
    Ok(copy)
}

fn copy_into(conn: &Connection, copy: &mut Connection) -> Result<(), Fault> {
    match Backup::new(conn, copy)?.step(i32::MAX)? {
        StepResult::Done => Ok(()),
        _ => Err(Fault::Busy),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_taken_for_a_setting() {
        assert_eq!(
            uri(Path::new("/a b/c?mode=rwc#%/ä.db"), true),
            "file:/a%20b/c%3Fmode%3Drwc%23%25/%C3%A4.db?immutable=1"
        );
    }
}
