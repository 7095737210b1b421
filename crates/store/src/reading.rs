//! Opening the file to look at it.

use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::open::{PATIENCE, be_careful, beside};
use crate::{Fault, OpenError, Store, schema};

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
        let conn = connect(path)?;
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
fn connect(path: &Path) -> Result<Connection, Fault> {
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
