//! The formats of regreen's SQLite files: their versions, and the migrations between them.

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};
use rusqlite_migration::{HookError, M, Migrations};

use crate::mention::index_all;
use crate::row::insert_row_counts;
use crate::{OpenError, StoreError};

/// The format of one of regreen's SQLite files.
#[derive(Clone, Copy, Debug)]
pub struct FileFormat {
    /// Distinguishes the file from other programs' files, and from our others.
    pub application_id: i64,
    /// The migrations in order; the nth leads to version n. A released one never changes, and later
    /// ones only add to its result. The first one creates the table `schema_history`, whose shape
    /// is that of the journal.
    pub migrations: &'static [Migration],
}

/// The way from one version of a format to the next.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    sql: &'static str,
    /// A step that SQL alone can't do, such as our checksums.
    then: fn(&Connection) -> Result<(), rusqlite::Error>,
}

impl Migration {
    /// Creates a migration that SQL alone can do.
    #[must_use]
    pub const fn sql(sql: &'static str) -> Self {
        Self {
            sql,
            then: |_| Ok(()),
        }
    }
}

/// "rgrn": the journal, and the history of the workspace beside it.
pub(crate) const JOURNAL: FileFormat = FileFormat {
    application_id: 0x7267_726e,
    migrations: &[
        Migration::sql(include_str!("../sql/0001_journal.sql")),
        Migration::sql(include_str!("../sql/0002_history.sql")),
        Migration {
            sql: include_str!("../sql/0003_tally_and_choices.sql"),
            then: insert_row_counts,
        },
        Migration::sql(include_str!("../sql/0004_delegations.sql")),
        Migration {
            sql: include_str!("../sql/0005_mentions.sql"),
            then: index_all,
        },
    ],
};

/// The version of regreen that is written into files.
pub(crate) const REGREEN: &str = env!("CARGO_PKG_VERSION");

impl FileFormat {
    fn newest_version(&self) -> u32 {
        u32::try_from(self.migrations.len()).unwrap_or(u32::MAX)
    }

    /// Migrates the file to the version that this regreen expects.
    pub(crate) fn bring_up_to_date(
        &self,
        conn: &mut Connection,
        now_ms: i64,
    ) -> Result<(), OpenError> {
        if !self.is_up_to_date(conn)? {
            self.migrate(conn, now_ms)?;
        }
        Ok(())
    }

    /// Returns whether the file has the version that this regreen expects; a newer one is an error.
    pub(crate) fn is_up_to_date(&self, conn: &Connection) -> Result<bool, OpenError> {
        let (found, known) = (self.recognised_version(conn)?, self.newest_version());
        if found > known {
            return Err(OpenError::Newer {
                found,
                known,
                regreen: version_writer(conn, found)?,
            });
        }
        Ok(found == known)
    }

    /// Returns the version of the file; 0 if nothing was written to it yet.
    ///
    /// Everything is read in one transaction, because another process may be creating the file.
    fn recognised_version(&self, conn: &Connection) -> Result<u32, StoreError> {
        let reading = Transaction::new_unchecked(conn, TransactionBehavior::Deferred)?;
        let version: u32 = header_field(&reading, "user_version")?;
        let application: i64 = header_field(&reading, "application_id")?;
        let tables: u32 =
            reading.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0))?;
        match (application, version, tables) {
            (0, 0, 0) => Ok(0),
            (id, 1.., 1..) if id == self.application_id => confirmed_version(&reading, version),
            _ => Err(StoreError::damaged("it was not created by regreen")),
        }
    }

    fn migrate(&self, conn: &mut Connection, now_ms: i64) -> Result<(), StoreError> {
        match self.migrations(now_ms).to_latest(conn) {
            Ok(()) => Ok(()),
            // Another process may have migrated it in the meantime.
            Err(_) if self.recognised_version(conn)? == self.newest_version() => Ok(()),
            Err(error) => Err(migration_error(error)),
        }
    }

    fn migrations(&self, now_ms: i64) -> Migrations<'static> {
        let steps = self.migrations.iter().copied().zip(1_u32..);
        Migrations::new(
            steps
                .map(|(Migration { sql, then }, version)| {
                    M::up_with_hook(sql, move |tx: &Transaction<'_>| {
                        then(tx)?;
                        record(tx, version, now_ms).map_err(HookError::from)
                    })
                })
                .collect(),
        )
    }
}

/// Checks that header and history agree. Otherwise, a changed header would look like another
/// version of regreen.
fn confirmed_version(conn: &Connection, version: u32) -> Result<u32, StoreError> {
    let recorded: Option<u32> =
        conn.query_row("SELECT max(version) FROM schema_history", [], |r| r.get(0))?;
    if recorded == Some(version) {
        Ok(version)
    } else {
        Err(StoreError::damaged(
            "header and history name different versions",
        ))
    }
}

fn header_field<T: rusqlite::types::FromSql>(
    conn: &Connection,
    name: &str,
) -> Result<T, StoreError> {
    Ok(conn.pragma_query_value(None, name, |row| row.get(0))?)
}

fn version_writer(conn: &Connection, version: u32) -> Result<String, StoreError> {
    let found = conn
        .query_row(
            "SELECT regreen FROM schema_history WHERE version = ?1",
            [version],
            |row| row.get(0),
        )
        .optional()?;
    Ok(found.unwrap_or_default())
}

fn record(conn: &Connection, version: u32, now_ms: i64) -> Result<(), rusqlite::Error> {
    conn.execute(
        "INSERT INTO schema_history (version, regreen, applied_ms) VALUES (?1, ?2, ?3)",
        (version, REGREEN, now_ms),
    )?;
    Ok(())
}

fn migration_error(error: rusqlite_migration::Error) -> StoreError {
    match error {
        rusqlite_migration::Error::RusqliteError { err, .. } => err.into(),
        other => StoreError::damaged(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_migrations_apply_to_an_empty_file() {
        JOURNAL.migrations(0).validate().unwrap();
    }
}
