//! Reading what is stored of tasks, to learn from it about tasks to come.

use regreen_model::TaskFeatures;
use rusqlite::Row;

use super::{History, HistoryError};
use crate::forecast::TaskCase;
use crate::{FirstAttempt, Forecast, TaskIdentity};

/// Older tasks say little about those to come.
const MAX_CASES: u32 = 2_000;

impl History {
    /// Learns what the most recent tasks say about tasks to come.
    ///
    /// # Errors
    /// Returns an error if the file can't be read.
    pub fn forecast(&self) -> Result<Forecast, HistoryError> {
        Ok(Forecast::learn(&self.task_cases()?, |_| true))
    }

    /// Returns the most recent tasks of runs.
    pub(super) fn task_cases(&self) -> Result<Vec<TaskCase>, HistoryError> {
        let mut statement = self.conn.prepare(
            "SELECT run, agents.text, path, specs.text, title, started_ms, ended_ms, first_pass,
                    time_ms, words, files, kinds.text, works.text, verify, is_vague, attempt_ms,
                    timed_out, verify_ms
             FROM runs JOIN tasks USING (run) JOIN workspaces USING (workspace)
             JOIN names AS agents ON agents.name = agent JOIN names AS specs ON specs.name = spec
             LEFT JOIN names AS kinds ON kinds.name = file_kind
             LEFT JOIN names AS works ON works.name = work
             WHERE source = 'run' ORDER BY ended_ms DESC, run DESC LIMIT ?1",
        )?;
        let rows = statement.query_map([MAX_CASES], |row| {
            Ok(TaskCase {
                run: row.get(0)?,
                agent: row.get(1)?,
                identity: TaskIdentity {
                    workspace: row.get(2)?,
                    spec: row.get(3)?,
                    title: row.get(4)?,
                },
                started_ms: row.get(5)?,
                ended_ms: row.get(6)?,
                failed_first: !row.get::<_, bool>(7)?,
                time_ms: row.get(8)?,
                features: features_in(row, 9)?,
                first_attempt: first_attempt_in(row, 15)?,
                verify_ms: row.get(17)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// Returns the features in the columns from `at`: words, files, file kind, work, Verify, vague.
pub(super) fn features_in(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<TaskFeatures>> {
    let Some(words) = row.get(at)? else {
        return Ok(None);
    };
    Ok(Some(TaskFeatures {
        words,
        files: row.get(at + 1)?,
        file_kind: row.get(at + 2)?,
        work: row.get(at + 3)?,
        verify: row.get(at + 4)?,
        is_vague: row.get(at + 5)?,
    }))
}

/// Returns the first attempt in the columns from `at`: its time, and whether it timed out.
pub(super) fn first_attempt_in(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<FirstAttempt>> {
    let Some(time_ms) = row.get(at)? else {
        return Ok(None);
    };
    Ok(Some(FirstAttempt {
        time_ms,
        timed_out: row.get(at + 1)?,
    }))
}
