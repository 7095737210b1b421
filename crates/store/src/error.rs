use rusqlite::{Error, ErrorCode, ffi};

/// What can go wrong with the file itself, whatever was asked of it.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("another process is writing to the journal")]
    Busy,
    #[error("the disk is full; the journal could not be written")]
    DiskFull,
    #[error("the journal or its folder is not writable")]
    NotWritable,
    /// Somebody changed the file, or the disk did. It can be set aside.
    #[error("the journal is damaged: {0}")]
    Damaged(String),
    #[error("the journal cannot be used: {0}")]
    Other(#[source] Error),
}

impl Fault {
    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged(what.into())
    }

    /// What the person in front of it can do.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Busy => "wait until the other process has ended, then try again",
            Self::DiskFull => "free some space and start again; nothing stored so far is lost",
            Self::NotWritable => "give your user write permission on the folder and its files",
            Self::Damaged(_) => {
                "set the file aside and start again: the task file and the state file are \
                 enough to go on"
            }
            Self::Other(_) => "look at the disk and at the file's permissions, then try again",
        }
    }
}

/// The only place that reads SQLite's error codes.
impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match &error {
            Error::SqliteFailure(code, text) => match from_code(*code, text.as_deref()) {
                Some(fault) => fault,
                None => Self::Other(error),
            },
            // Every statement here is a constant that fits the schema, and every column is
            // read as what it was stored as: if that fails, the file is not what it was. Rows
            // that need not be there are asked for as such.
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

fn from_code(code: ffi::Error, text: Option<&str>) -> Option<Fault> {
    match (code.code, code.extended_code) {
        // The file that readers and the writer share could not grow.
        (ErrorCode::DiskFull, _) | (_, ffi::SQLITE_IOERR_SHMSIZE) => Some(Fault::DiskFull),
        (_, ffi::SQLITE_IOERR_SHORT_READ | ffi::SQLITE_IOERR_CORRUPTFS)
        | (
            ErrorCode::DatabaseCorrupt
            | ErrorCode::NotADatabase
            | ErrorCode::Unknown
            | ErrorCode::ConstraintViolation
            | ErrorCode::TypeMismatch
            | ErrorCode::TooBig,
            _,
        ) => Some(Fault::damaged(
            text.map_or_else(|| code.to_string(), str::to_owned),
        )),
        (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _) => Some(Fault::Busy),
        (ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen, _) => {
            Some(Fault::NotWritable)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(code: i32) -> Fault {
        Error::SqliteFailure(ffi::Error::new(code), None).into()
    }

    #[test]
    fn codes_that_mean_the_same_to_a_person_are_one_fault() {
        assert!(matches!(fault(ffi::SQLITE_FULL), Fault::DiskFull));
        assert!(matches!(fault(ffi::SQLITE_IOERR_SHMSIZE), Fault::DiskFull));
        assert!(matches!(fault(ffi::SQLITE_BUSY_SNAPSHOT), Fault::Busy));
        assert!(matches!(fault(ffi::SQLITE_NOTADB), Fault::Damaged(_)));
        assert!(matches!(fault(ffi::SQLITE_READONLY), Fault::NotWritable));
        assert!(matches!(fault(ffi::SQLITE_IOERR_READ), Fault::Other(_)));
    }
}
