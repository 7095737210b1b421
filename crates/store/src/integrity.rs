//! Checking the whole file, and copying it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::choice::choices_where;
use crate::{CommandSeq, RunError, RunId, StepNo, Store, StoreError};

/// Why no copy was made.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The name is already taken.
    #[error("{} already exists", .0.display())]
    Exists(PathBuf),
    /// The name is not UTF-8.
    #[error("{} is not a name SQLite can use", .0.display())]
    BadName(PathBuf),
    /// The file can't be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Store {
    /// Reads the whole file and checks its consistency: pages, indexes, checksums, row counts and
    /// pending commands. Opening a file doesn't do this, because it takes as long as reading all of
    /// it.
    ///
    /// # Errors
    /// Returns [`StoreError::Damaged`] with the first problem found.
    pub fn check(&self) -> Result<(), StoreError> {
        let _reading = self.read_transaction()?;
        check_pages(&self.conn)?;
        for run in self.runs(usize::MAX)? {
            self.check_run(&run.id).map_err(as_damaged)?;
        }
        choices_where(&self.conn, |_| true)?;
        self.delegations_since(i64::MIN)?;
        Ok(())
    }

    fn check_run(&self, run: &RunId) -> Result<(), RunError> {
        let mut pending = BTreeSet::new();
        for step in self.steps(run, StepNo::NONE)? {
            let step = step?;
            if let Some(answered) = step.answers {
                pending.remove(&answered);
            }
            pending.extend(step.commands.iter().map(|command| command.seq));
        }
        self.check_pending(run, &pending)?;
        self.attempts_in_run(run)?;
        self.failures_in_run(run)?;
        Ok(())
    }

    fn check_pending(&self, run: &RunId, expected: &BTreeSet<CommandSeq>) -> Result<(), RunError> {
        let listed = self.outstanding(run)?;
        if listed.iter().map(|c| c.seq).eq(expected.iter().copied()) {
            Ok(())
        } else {
            Err(StoreError::damaged(format!(
                "run {run} has other pending commands than are listed"
            ))
            .into())
        }
    }

    /// Writes a compact copy of the file in its current state. This works during runs.
    ///
    /// # Errors
    /// Returns an error if the name is already taken, or the copy can't be written.
    pub fn copy_to(&self, path: &Path) -> Result<(), CopyError> {
        if path.symlink_metadata().is_ok() {
            return Err(CopyError::Exists(path.to_owned()));
        }
        let name = path.to_str();
        let name = name.ok_or_else(|| CopyError::BadName(path.to_owned()))?;
        self.conn
            .execute("VACUUM INTO ?1", [name])
            .map_err(StoreError::from)?;
        Ok(())
    }
}

fn check_pages(conn: &Connection) -> Result<(), StoreError> {
    let first: String = conn.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if first == "ok" {
        Ok(())
    } else {
        Err(StoreError::Damaged(first))
    }
}

/// A run that is listed but can't be found is damage as well.
fn as_damaged(error: RunError) -> StoreError {
    match error {
        RunError::Store(error) => error,
        RunError::NoSuchRun(_) | RunError::Ended(_) => StoreError::damaged(error.to_string()),
    }
}
