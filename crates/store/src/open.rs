use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, MAIN_DB, OpenFlags, TransactionBehavior};

use crate::{Fault, Store, schema};

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
