//! The shape of the file: its versions, and the way from one to the next.

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};
use rusqlite_migration::{HookError, M, Migrations};

use crate::row::insert_row_counts;
use crate::{OpenError, StoreError};

/// In the order they are applied; the nth leads to version n. Once released a file never
/// changes, and what it made is only ever added to.
const MIGRATIONS: [Migration; 4] = [
    Migration {
        sql: include_str!("../sql/0001_journal.sql"),
        then: |_| Ok(()),
    },
    Migration {
        sql: include_str!("../sql/0002_history.sql"),
        then: |_| Ok(()),
    },
    Migration {
        sql: include_str!("../sql/0003_tally_and_choices.sql"),
        then: insert_row_counts,
    },
    Migration {
        sql: include_str!("../sql/0004_delegations.sql"),
        then: |_| Ok(()),
    },
];

struct Migration {
    sql: &'static str,
    /// What SQL alone cannot do, such as our checksums.
    then: fn(&Connection) -> Result<(), rusqlite::Error>,
}

/// "rgrn": tells our file from any other program's.
const APPLICATION_ID: i64 = 0x7267_726e;

/// The version of regreen that is written into files.
pub(crate) const REGREEN: &str = env!("CARGO_PKG_VERSION");

pub(crate) fn newest_version() -> u32 {
    u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX)
}

/// Migrates the file to what this version expects.
pub(crate) fn bring_up_to_date(conn: &mut Connection, now_ms: i64) -> Result<(), OpenError> {
    if !is_up_to_date(conn)? {
        migrate(conn, now_ms)?;
    }
    Ok(())
}

/// Returns whether the file is what this version expects; a newer one is an error.
pub(crate) fn is_up_to_date(conn: &Connection) -> Result<bool, OpenError> {
    let found = recognised_version(conn)?;
    if found > newest_version() {
        return Err(OpenError::Newer {
            found,
            known: newest_version(),
            regreen: version_writer(conn, found)?,
        });
    }
    Ok(found == newest_version())
}

/// Returns the version of the file, 0 if nothing was written to it yet.
///
/// Everything is read in one transaction, because another process may be creating the file.
fn recognised_version(conn: &Connection) -> Result<u32, StoreError> {
    let reading = Transaction::new_unchecked(conn, TransactionBehavior::Deferred)?;
    let version: u32 = header_field(&reading, "user_version")?;
    let application: i64 = header_field(&reading, "application_id")?;
    let tables: u32 = reading.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0))?;
    match (application, version, tables) {
        (0, 0, 0) => Ok(0),
        (APPLICATION_ID, 1.., 1..) => confirmed_version(&reading, version),
        _ => Err(StoreError::damaged("it was not created by regreen")),
    }
}

/// Checks that header and history agree: a changed header would otherwise look like another
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

fn migrate(conn: &mut Connection, now_ms: i64) -> Result<(), StoreError> {
    match migrations(now_ms).to_latest(conn) {
        Ok(()) => Ok(()),
        // Another process may have migrated it since we looked.
        Err(_) if recognised_version(conn)? == newest_version() => Ok(()),
        Err(error) => Err(migration_error(error)),
    }
}

fn migrations(now_ms: i64) -> Migrations<'static> {
    let steps = MIGRATIONS.into_iter().zip(1_u32..);
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
        migrations(0).validate().unwrap();
    }
}
