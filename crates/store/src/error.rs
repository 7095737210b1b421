use rusqlite::{Error, ErrorCode, ffi};

/// Errors of the file itself, which any operation may return.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process holds the file.
    #[error("another process is writing to the journal")]
    Busy,
    /// There is no space left.
    #[error("the disk is full; cannot write the journal")]
    DiskFull,
    /// This user may not write the file.
    #[error("the journal or its folder is not writable")]
    NotWritable,
    /// The file was changed by another program or by the disk. It can be moved aside.
    #[error("the journal is damaged: {0}")]
    Damaged(String),
    /// Anything else that SQLite reports.
    #[error("cannot use the journal: {0}")]
    Other(#[source] Error),
}

impl StoreError {
    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged(what.into())
    }

    /// Returns advice for the user.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Busy => "wait until the other process ends, then try again",
            Self::DiskFull => "free some space and start again; nothing stored so far is lost",
            Self::NotWritable => "give your user write permission on the folder and its files",
            Self::Damaged(_) => {
                "move the file away and start again; the task file and the state file are \
                 enough to resume"
            }
            Self::Other(_) => "check the disk and the file's permissions, then try again",
        }
    }
}

/// The only place that reads SQLite's error codes.
impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        match &error {
            Error::SqliteFailure(code, text) => match from_code(*code, text.as_deref()) {
                Some(known) => known,
                None => Self::Other(error),
            },
            // Every statement here is a constant that fits the schema, and every column is read
            // with the type it was stored with. If that fails, the file has changed. Optional rows
            // are queried as such.
            Error::SqlInputError { .. }
            | Error::QueryReturnedNoRows
            | Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::InvalidColumnType(..)
            | Error::Utf8Error(..) => Self::Damaged(error.to_string()),
            _ => Self::Other(error),
        }
    }
}

fn from_code(code: ffi::Error, text: Option<&str>) -> Option<StoreError> {
    match (code.code, code.extended_code) {
        // The file shared by readers and the writer couldn't grow.
        (ErrorCode::DiskFull, _) | (_, ffi::SQLITE_IOERR_SHMSIZE) => Some(StoreError::DiskFull),
        (_, ffi::SQLITE_IOERR_SHORT_READ | ffi::SQLITE_IOERR_CORRUPTFS)
        | (
            ErrorCode::DatabaseCorrupt
            | ErrorCode::NotADatabase
            | ErrorCode::Unknown
            | ErrorCode::ConstraintViolation
            | ErrorCode::TypeMismatch
            | ErrorCode::TooBig,
            _,
        ) => Some(StoreError::damaged(
            text.map_or_else(|| code.to_string(), str::to_owned),
        )),
        (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _) => Some(StoreError::Busy),
        (ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen, _) => {
            Some(StoreError::NotWritable)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(code: i32) -> StoreError {
        Error::SqliteFailure(ffi::Error::new(code), None).into()
    }

    #[test]
    fn sqlite_codes_with_the_same_remedy_are_one_error() {
        assert!(matches!(error(ffi::SQLITE_FULL), StoreError::DiskFull));
        assert!(matches!(
            error(ffi::SQLITE_IOERR_SHMSIZE),
            StoreError::DiskFull
        ));
        assert!(matches!(error(ffi::SQLITE_BUSY_SNAPSHOT), StoreError::Busy));
        assert!(matches!(error(ffi::SQLITE_NOTADB), StoreError::Damaged(_)));
        assert!(matches!(
            error(ffi::SQLITE_READONLY),
            StoreError::NotWritable
        ));
        assert!(matches!(
            error(ffi::SQLITE_IOERR_READ),
            StoreError::Other(_)
        ));
    }
}
