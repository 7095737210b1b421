//! Removing what people want forgotten, what is old, and what is too much.

use rusqlite::Connection;

use super::feed::workspace_number;
use super::{History, HistoryError};
use crate::Workspace;

/// What to forget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForgetScope {
    /// The runs of one workspace.
    Workspace(Workspace),
    /// Everything.
    All,
}

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// For how long, in milliseconds.
    pub keep_ms: u64,
    /// How many bytes the rows may take.
    pub max_bytes: u64,
}

impl Retention {
    /// About half a million failures.
    pub const MAX_BYTES: u64 = 100 * 1024 * 1024;

    /// Removes the oldest runs, those too old and those too many.
    pub(super) fn apply(&self, conn: &Connection, now_ms: i64) -> rusqlite::Result<()> {
        let oldest = now_ms.saturating_sub_unsigned(self.keep_ms);
        let mut removed = conn
            .prepare_cached("DELETE FROM runs WHERE ended_ms < ?1")?
            .execute([oldest])?;
        while used_bytes(conn)? > self.max_bytes {
            let fewer = remove_oldest_tenth(conn)?;
            removed += fewer;
            if fewer == 0 {
                break;
            }
        }
        if removed > 0 {
            remove_unused(conn)?;
        }
        Ok(())
    }
}

fn used_bytes(conn: &Connection) -> rusqlite::Result<u64> {
    let field = |name: &str| conn.pragma_query_value(None, name, |row| row.get::<_, u64>(0));
    let pages = field("page_count")?.saturating_sub(field("freelist_count")?);
    Ok(pages * field("page_size")?)
}

fn remove_oldest_tenth(conn: &Connection) -> rusqlite::Result<usize> {
    conn.execute(
        "DELETE FROM runs WHERE run IN (
             SELECT run FROM runs ORDER BY ended_ms
             LIMIT (SELECT (count(*) + 9) / 10 FROM runs))",
        [],
    )
}

/// Removes the clusters and names that no run refers to any longer.
fn remove_unused(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch(
        "DELETE FROM clusters WHERE cluster NOT IN (SELECT cluster FROM failures);
         DELETE FROM names WHERE name NOT IN (
             SELECT spec FROM runs UNION SELECT agent FROM runs
             UNION SELECT response FROM failures WHERE response IS NOT NULL
             UNION SELECT response FROM advice
             UNION SELECT file_kind FROM tasks WHERE file_kind IS NOT NULL
             UNION SELECT work FROM tasks WHERE work IS NOT NULL);",
    )
}

impl History {
    /// Forgets runs, and never learns those that started before `now_ms` again. Returns how many
    /// runs were forgotten. The freed space is overwritten.
    ///
    /// # Errors
    /// Returns an error if the file can't be written.
    pub fn forget(&mut self, scope: &ForgetScope, now_ms: i64) -> Result<usize, HistoryError> {
        self.conn.pragma_update(None, "secure_delete", true)?;
        let tx = self.conn.transaction()?;
        let removed = match scope {
            ForgetScope::All => {
                let removed = tx.execute("DELETE FROM runs", [])?;
                tx.execute("DELETE FROM workspaces", [])?;
                tx.execute(
                    "INSERT INTO forgotten (one, before_ms) VALUES (1, ?1)
                     ON CONFLICT DO UPDATE SET before_ms = ?1",
                    [now_ms],
                )?;
                removed
            }
            ForgetScope::Workspace(workspace) => {
                let number = workspace_number(&tx, workspace)?;
                tx.execute(
                    "UPDATE workspaces SET since_ms = ?1 WHERE workspace = ?2",
                    (now_ms, number),
                )?;
                tx.execute("DELETE FROM runs WHERE workspace = ?1", [number])?
            }
        };
        remove_unused(&tx)?;
        tx.commit()?;
        Ok(removed)
    }
}
