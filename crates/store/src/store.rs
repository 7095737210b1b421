//! The open file, for writing or only for reading.

use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{io, thread};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, MAIN_DB, OpenFlags, Transaction, TransactionBehavior};

use crate::StoreError;
use crate::schema::{FileFormat, JOURNAL};

/// The open file. Only one process writes at a time; others may read meanwhile.
#[derive(Debug)]
pub struct Store {
    pub(crate) conn: Connection,
    pub(crate) left_open: bool,
    durability: Durability,
}

/// Whether a transaction ends with a disk sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Durability {
    Synced,
    /// The next transaction with a sync includes it.
    Later,
}

impl Durability {
    fn name(self) -> &'static str {
        match self {
            Self::Synced => "FULL",
            Self::Later => "NORMAL",
        }
    }
}

impl Store {
    /// Returns whether the file had been left open before we opened it: its last user died, or is
    /// still running. The holder of the working tree's lock knows which, and may want to
    /// [`check`](Self::check).
    #[must_use]
    pub fn was_left_open(&self) -> bool {
        self.left_open
    }

    /// Closes the file, merging the write-ahead log into it. Dropping the store does the same but
    /// can't report errors.
    ///
    /// # Errors
    /// Returns an error if that fails. Nothing that was stored is lost.
    pub fn close(self) -> Result<(), StoreError> {
        self.conn.close().map_err(|(_, error)| error.into())
    }

    /// Starts a transaction, so that several reads see the same state while another process writes.
    /// `None` if already in a transaction.
    pub(crate) fn read_transaction(&self) -> Result<Option<Transaction<'_>>, StoreError> {
        if !self.conn.is_autocommit() {
            return Ok(None);
        }
        let reading = TransactionBehavior::Deferred;
        Ok(Some(Transaction::new_unchecked(&self.conn, reading)?))
    }

    /// Starts a transaction that is on the disk when it has been committed.
    pub(crate) fn write(&mut self) -> Result<Transaction<'_>, StoreError> {
        self.begin(Durability::Synced)
    }

    /// Starts a transaction that a power cut may undo until the next one of [`Store::write`].
    pub(crate) fn write_unsynced(&mut self) -> Result<Transaction<'_>, StoreError> {
        self.begin(Durability::Later)
    }

    /// The setting is only changed if it differs: SQLite compiles a statement for each change.
    fn begin(&mut self, wanted: Durability) -> Result<Transaction<'_>, StoreError> {
        if self.durability != wanted {
            self.conn.pragma_update(None, SYNCHRONOUS, wanted.name())?;
            self.durability = wanted;
        }
        Ok(self.conn.transaction()?)
    }
}

/// Transactions take about a millisecond; a process that holds the file longer won't release it
/// soon.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_millis(500);
const BUSY_RETRIES: u32 = 50;

/// The size of SQLite's cache in KB, negative as SQLite wants it. A writer appends, and hardly reads what it
/// has written; SQLite's own 2 MB would be an eighth of a run's memory.
const CACHE: i32 = -512;

/// The setting for whether a transaction ends with a disk sync.
const SYNCHRONOUS: &str = "synchronous";

/// Why the file can't be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder does not exist.
    #[error("the folder of {} does not exist", path.display())]
    NoFolder {
        /// The file to be opened.
        path: PathBuf,
    },
    /// It is a pipe, a device, a socket or a folder.
    #[error("{} is not a file", _0.display())]
    NotAFile(PathBuf),
    /// This user may not read the file.
    #[error("cannot read the journal")]
    NotReadable(#[source] io::Error),
    /// A newer regreen wrote it.
    #[error(
        "the journal has version {found}, written by regreen {regreen}; this regreen supports \
         version {known} and older"
    )]
    Newer {
        /// The version of the file.
        found: u32,
        /// The newest version that this regreen knows.
        known: u32,
        /// The regreen that wrote it.
        regreen: String,
    },
    /// The file can't be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl OpenError {
    /// Returns advice for the user.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            Self::NoFolder { .. } => "create the folder first",
            Self::NotAFile(_) => {
                "move it away; the task file and the state file are enough to resume"
            }
            Self::NotReadable(_) => "give your user read permission on the folder and its files",
            Self::Newer { .. } => "use that version of regreen, or a newer one",
            Self::Store(error) => error.advice(),
        }
    }
}

impl Store {
    /// Opens the file, creating or migrating it if necessary.
    ///
    /// # Errors
    /// Returns an error if it can't be read and written, or isn't a journal that this version
    /// knows.
    pub fn open(path: &Path, now_ms: i64) -> Result<Self, OpenError> {
        refuse_what_is_not_a_file(path)?;
        let left_open = leftover_log(path);
        let conn = JOURNAL.open(path, now_ms)?;
        Ok(Self {
            conn,
            left_open,
            durability: Durability::Synced,
        })
    }
}

impl FileFormat {
    /// Opens a file of this format, creating or migrating it if necessary. Several processes can
    /// use it at once: readers never wait, and writers wait for each other for half a second.
    ///
    /// # Errors
    /// Returns an error if it can't be read and written, or isn't of this format in a version that
    /// this regreen knows.
    pub fn open(&self, path: &Path, now_ms: i64) -> Result<Connection, OpenError> {
        refuse_what_is_not_a_file(path)?;
        let mut conn = connect(path)?;
        prepare(&mut conn)?;
        self.bring_up_to_date(&mut conn, now_ms)?;
        Ok(conn)
    }

    /// Opens a file of this format only for reading; `None` if it doesn't exist. Nothing is created
    /// or changed.
    ///
    /// # Errors
    /// Returns an error if it can't be read, or isn't of this format in a version that this regreen
    /// knows.
    pub fn open_read_only(
        &self,
        path: &Path,
        now_ms: i64,
    ) -> Result<Option<Connection>, OpenError> {
        refuse_what_is_not_a_file(path)?;
        match File::open(path) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(OpenError::NotReadable(error)),
        }
        let conn = connect_read_only(path)?;
        conn.busy_timeout(BUSY_TIMEOUT).map_err(StoreError::from)?;
        detect_damaged_pages(&conn)?;
        self.migrated_copy_if_older(conn, now_ms).map(Some)
    }

    /// Returns a connection to the file as this version reads it. An older file becomes a migrated
    /// copy in memory.
    fn migrated_copy_if_older(
        &self,
        conn: Connection,
        now_ms: i64,
    ) -> Result<Connection, OpenError> {
        if self.is_up_to_date(&conn)? {
            return Ok(conn);
        }
        let mut copy = Connection::open_in_memory().map_err(StoreError::from)?;
        copy_into(&conn, &mut copy)?;
        self.bring_up_to_date(&mut copy, now_ms)?;
        Ok(copy)
    }
}

/// Refuses folders, and pipes and devices, on which SQLite would wait forever.
fn refuse_what_is_not_a_file(path: &Path) -> Result<(), OpenError> {
    for file in [path.to_owned(), beside(path, "-wal"), beside(path, "-shm")] {
        if file.metadata().is_ok_and(|found| !found.is_file()) {
            return Err(OpenError::NotAFile(file));
        }
    }
    Ok(())
}

/// Returns whether a write-ahead log exists. SQLite removes it when the last user closes the file.
fn leftover_log(path: &Path) -> bool {
    let log = beside(path, "-wal");
    log.metadata().is_ok_and(|found| found.len() > 0)
}

/// Returns `regreen.db-wal` for `regreen.db`.
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
        // SQLite silently opens a file as read-only if it may not write to it.
        Ok(conn) if conn.is_readonly(MAIN_DB).map_err(StoreError::from)? => {
            Err(StoreError::NotWritable.into())
        }
        Ok(conn) => Ok(conn),
        Err(error) => Err(open_error(path, error)),
    }
}

fn open_error(path: &Path, error: rusqlite::Error) -> OpenError {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) {
        return OpenError::NoFolder {
            path: path.to_owned(),
        };
    }
    StoreError::from(error).into()
}

fn prepare(conn: &mut Connection) -> Result<(), StoreError> {
    conn.busy_timeout(BUSY_TIMEOUT)?;
    // A transaction that reads first and writes later couldn't wait for its turn.
    conn.set_transaction_behavior(TransactionBehavior::Immediate);
    enable_write_ahead_log(conn)?;
    // A step reported as stored must be on the disk, which WAL guarantees only with FULL. Where
    // fsync stops at the drive's cache (macOS), ask for more.
    conn.pragma_update(None, SYNCHRONOUS, Durability::Synced.name())?;
    conn.pragma_update(None, "fullfsync", true)?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "cache_size", CACHE)?;
    detect_damaged_pages(conn)
}

/// Makes SQLite detect damaged pages when it reads them.
pub(crate) fn detect_damaged_pages(conn: &Connection) -> Result<(), StoreError> {
    conn.pragma_update(None, "cell_size_check", true)?;
    conn.pragma_update(None, "trusted_schema", false)?;
    Ok(())
}

/// Retries, because SQLite doesn't wait for other processes here when a file is first opened.
fn enable_write_ahead_log(conn: &Connection) -> Result<(), StoreError> {
    let mut retries = 0;
    loop {
        let set = conn.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()));
        match set.map_err(StoreError::from) {
            Err(StoreError::Busy) if retries < BUSY_RETRIES => {
                thread::sleep(BUSY_TIMEOUT / BUSY_RETRIES);
            }
            done => return done,
        }
        retries += 1;
    }
}

impl Store {
    /// Opens the file only for reading; `None` if it doesn't exist. Nothing is created or changed,
    /// so this works where nothing may be written, and doesn't disturb a process that writes.
    ///
    /// # Errors
    /// Returns an error if it can't be read, or isn't a journal that this version knows.
    pub fn open_read_only(path: &Path, now_ms: i64) -> Result<Option<Self>, OpenError> {
        let conn = JOURNAL.open_read_only(path, now_ms)?;
        Ok(conn.map(|conn| Self {
            conn,
            left_open: false,
            durability: Durability::Synced,
        }))
    }
}

/// Connects for reading. A file without a write-ahead log is closed and complete, but SQLite would
/// create a log even to read it unless told that the file is immutable. If another process starts
/// writing just now, its changes go into its log first, and we see the old state.
fn connect_read_only(path: &Path) -> Result<Connection, StoreError> {
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

fn copy_into(conn: &Connection, copy: &mut Connection) -> Result<(), StoreError> {
    match Backup::new(conn, copy)?.step(i32::MAX)? {
        StepResult::Done => Ok(()),
        _ => Err(StoreError::Busy),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_in_a_path_are_escaped_in_the_uri() {
        assert_eq!(
            uri(Path::new("/a b/c?mode=rwc#%/ä.db"), true),
            "file:/a%20b/c%3Fmode%3Drwc%23%25/%C3%A4.db?immutable=1"
        );
    }
}
