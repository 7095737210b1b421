//! The history's file: one per user, shared by all workspaces and processes.

mod cases;
mod export;
mod feed;
mod forget;
mod read;
mod recall;

use std::path::{Path, PathBuf};

use regreen_store::{FileFormat, Migration, OpenError, StoreError};
use rusqlite::Connection;

pub use export::{ExportError, ImportError};
pub use feed::Fed;
pub use forget::{ForgetScope, Retention};
pub use read::Filter;

const FORMAT: FileFormat = FileFormat {
    application_id: 0x7267_6869,
    migrations: &[
        Migration::sql(include_str!("../../sql/0001_history.sql")),
        Migration::sql(include_str!("../../sql/0002_recall.sql")),
        Migration::sql(include_str!("../../sql/0003_task_features.sql")),
    ],
};

/// The open file.
#[derive(Debug)]
pub struct History {
    conn: Connection,
}

/// Why the history can't be used.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// A newer regreen wrote it.
    #[error(
        "the history has version {found}, written by regreen {regreen}; this regreen supports \
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
    /// Other processes are writing to it.
    #[error("other processes are writing to the history")]
    Busy,
    /// There is no space left.
    #[error("the disk is full; cannot write the history")]
    DiskFull,
    /// This user may not use the file.
    #[error("cannot access the history")]
    NotAccessible,
    /// The file was changed by another program or by the disk.
    #[error("the history is damaged: {0}")]
    Damaged(String),
    /// It is not a regular file, or has no folder.
    #[error("{} is not a file", .0.display())]
    NotAFile(PathBuf),
    /// Anything else that SQLite reports.
    #[error("cannot use the history: {0}")]
    Other(#[source] rusqlite::Error),
}

impl HistoryError {
    /// Returns advice for the user.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Newer { .. } => "use that version of regreen, or a newer one",
            Self::Busy => "try again in a moment",
            Self::DiskFull => "free some space, then try again",
            Self::NotAccessible => "give your user read and write permission on the file",
            Self::Damaged(_) | Self::NotAFile(_) => {
                "move it away; regreen starts a new one, and learns again from the journals of \
                 your workspaces"
            }
            Self::Other(_) => "check the disk and the file's permissions, then try again",
        }
    }
}

impl From<StoreError> for HistoryError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Busy => Self::Busy,
            StoreError::DiskFull => Self::DiskFull,
            StoreError::NotWritable => Self::NotAccessible,
            StoreError::Damaged(why) => Self::Damaged(why),
            StoreError::Other(error) => Self::Other(error),
        }
    }
}

impl From<OpenError> for HistoryError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::NoFolder { path } | OpenError::NotAFile(path) => Self::NotAFile(path),
            OpenError::NotReadable(_) => Self::NotAccessible,
            OpenError::Newer {
                found,
                known,
                regreen,
            } => Self::Newer {
                found,
                known,
                regreen,
            },
            OpenError::Store(error) => error.into(),
        }
    }
}

impl From<rusqlite::Error> for HistoryError {
    fn from(error: rusqlite::Error) -> Self {
        StoreError::from(error).into()
    }
}

impl History {
    /// Opens the file, creating or migrating it if necessary.
    ///
    /// # Errors
    /// Returns an error if it can't be read and written, or isn't a history that this version
    /// knows.
    pub fn open(path: &Path, now_ms: i64) -> Result<Self, HistoryError> {
        let conn = FORMAT.open(path, now_ms)?;
        // Whatever a power cut takes is learnt again from the journals.
        conn.pragma_update(None, "synchronous", "NORMAL")?;
        Ok(Self { conn })
    }

    /// Opens the file only for reading; `None` if it doesn't exist.
    ///
    /// # Errors
    /// Returns an error if it can't be read, or isn't a history that this version knows.
    pub fn open_read_only(path: &Path, now_ms: i64) -> Result<Option<Self>, HistoryError> {
        let conn = FORMAT.open_read_only(path, now_ms)?;
        Ok(conn.map(|conn| Self { conn }))
    }
}
