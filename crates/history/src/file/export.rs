//! The whole history as lines of JSON, and back.

use std::io::{BufRead, Write};

use rusqlite::Row;
use serde::{Deserialize, Serialize};

use super::cases::{features_in, first_attempt_in};
use super::{Fed, History, HistoryError, Retention};
use crate::{Digest, DigestSource, FailureDigest, TaskDigest, Workspace};

/// The version of the format of a line.
const VERSION: u32 = 1;
/// A line that is longer wasn't exported.
const MAX_LINE: usize = 64 * 1024 * 1024;

/// One line: a run of a workspace.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    regreen_history: u32,
    #[serde(flatten)]
    workspace: Workspace,
    #[serde(flatten)]
    digest: Digest,
}

/// Why lines could not be imported. Those before it were.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The input can't be read.
    #[error("cannot read the input")]
    Read(#[source] std::io::Error),
    /// A line is not of an exported history.
    #[error("line {line} is not of an exported history: {why}")]
    NotALine {
        /// Its number, counted from 1.
        line: usize,
        /// The reason.
        why: String,
    },
    /// A newer regreen exported it.
    #[error("line {line} has version {found}; this regreen reads version {VERSION}")]
    Newer {
        /// Its number, counted from 1.
        line: usize,
        /// Its version.
        found: u32,
    },
    /// The history can't be written.
    #[error(transparent)]
    History(#[from] HistoryError),
}

/// Why the history could not be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The lines can't be written.
    #[error("cannot write the export")]
    Write(#[source] std::io::Error),
    /// The history can't be read.
    #[error(transparent)]
    History(#[from] HistoryError),
}

impl From<rusqlite::Error> for ExportError {
    fn from(error: rusqlite::Error) -> Self {
        Self::History(error.into())
    }
}

impl History {
    /// Writes every run as a line of JSON, oldest first. Returns how many there are.
    ///
    /// # Errors
    /// Returns an error if the file can't be read, or the lines can't be written.
    pub fn export(&self, to: &mut impl Write) -> Result<usize, ExportError> {
        let _reading = self.conn.unchecked_transaction()?;
        let mut statement = self.conn.prepare(
            "SELECT run, path, source, id, steps, specs.text, agents.text, started_ms, ended_ms
             FROM runs JOIN workspaces USING (workspace)
             JOIN names AS specs ON specs.name = spec JOIN names AS agents ON agents.name = agent
             ORDER BY started_ms, run",
        )?;
        let mut rows = statement.query([])?;
        let mut count = 0;
        while let Some(row) = rows.next()? {
            let line = self.line(row)?;
            // Names and numbers can all be represented in JSON.
            let json = serde_json::to_string(&line).unwrap_or_default();
            writeln!(to, "{json}").map_err(ExportError::Write)?;
            count += 1;
        }
        Ok(count)
    }

    fn line(&self, row: &Row<'_>) -> Result<Line, HistoryError> {
        let run: i64 = row.get(0)?;
        let source: String = row.get(2)?;
        Ok(Line {
            regreen_history: VERSION,
            workspace: Workspace { path: row.get(1)? },
            digest: Digest {
                source: if source == "run" {
                    DigestSource::Run
                } else {
                    DigestSource::Delegation
                },
                id: row.get(3)?,
                steps: row.get(4)?,
                spec: row.get(5)?,
                agent: row.get(6)?,
                started_ms: row.get(7)?,
                ended_ms: row.get(8)?,
                tasks: self.tasks_of(run)?,
                failures: self.failures_of(run)?,
            },
        })
    }

    fn tasks_of(&self, run: i64) -> Result<Vec<TaskDigest>, HistoryError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT id, title, at_ms, attempts, first_pass, passed, time_ms, cost_micro_usd,
                    words, files, kinds.text, works.text, verify, is_vague, attempt_ms, timed_out,
                    verify_ms
             FROM tasks LEFT JOIN names AS kinds ON kinds.name = file_kind
             LEFT JOIN names AS works ON works.name = work
             WHERE run = ?1 ORDER BY task",
        )?;
        let rows = statement.query_map([run], |row| {
            Ok(TaskDigest {
                id: row.get(0)?,
                title: row.get(1)?,
                at_ms: row.get(2)?,
                attempts: row.get(3)?,
                first_pass: row.get(4)?,
                passed: row.get(5)?,
                time_ms: row.get(6)?,
                cost_micro_usd: row.get(7)?,
                features: features_in(row, 8)?,
                first_attempt: first_attempt_in(row, 14)?,
                verify_ms: row.get(16)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn failures_of(&self, run: i64) -> Result<Vec<FailureDigest>, HistoryError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT task, at_ms, category, kind, example, lost_ms, lost_micro_usd, names.text,
                    helped, note, known,
                    (SELECT json_group_array(text) FROM advice JOIN names ON name = advice.response
                     WHERE advice.failure = failures.failure)
             FROM failures JOIN clusters USING (cluster) LEFT JOIN names ON name = response
             WHERE run = ?1 ORDER BY failure",
        )?;
        let rows = statement.query_map([run], |row| {
            Ok(FailureDigest {
                task: row.get(0)?,
                at_ms: row.get(1)?,
                category: row.get(2)?,
                kind: row.get(3)?,
                line: row.get(4)?,
                lost_ms: row.get(5)?,
                lost_micro_usd: row.get(6)?,
                response: row.get(7)?,
                helped: row.get(8)?,
                note: row.get(9)?,
                known: row.get(10)?,
                advice: serde_json::from_str(&row.get::<_, String>(11)?).unwrap_or_default(),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Adds exported runs to those that are known, also if they were forgotten before.
    ///
    /// # Errors
    /// Returns an error at the first line that can't be read or added; those before it were added.
    pub fn import(
        &mut self,
        from: impl BufRead,
        retention: &Retention,
        now_ms: i64,
    ) -> Result<Fed, ImportError> {
        let mut fed = Fed::default();
        for (text, line) in from.lines().zip(1..) {
            let text = text.map_err(ImportError::Read)?;
            if text.trim().is_empty() {
                continue;
            }
            let Line {
                workspace, digest, ..
            } = parse(&text, line)?;
            let more = self.add(&workspace, &[digest], retention, now_ms)?;
            fed.runs += more.runs;
            fed.failures += more.failures;
        }
        Ok(fed)
    }
}

fn parse(text: &str, line: usize) -> Result<Line, ImportError> {
    let not_a_line = |why: String| ImportError::NotALine { line, why };
    if text.len() > MAX_LINE {
        return Err(not_a_line("it is too long".to_owned()));
    }
    #[derive(Deserialize)]
    struct Version {
        regreen_history: u32,
    }
    let version: Version = serde_json::from_str(text).map_err(|e| not_a_line(e.to_string()))?;
    if version.regreen_history > VERSION {
        return Err(ImportError::Newer {
            line,
            found: version.regreen_history,
        });
    }
    serde_json::from_str(text).map_err(|e| not_a_line(e.to_string()))
}
