//! A run as text: one line for the run, then one line per step.

use std::io::{self, BufRead, Lines};

use serde::{Deserialize, Serialize};

use crate::journal::append_step;
use crate::run::{insert_end, insert_run, is_taken};
use crate::{AppendError, Run, RunEnd, RunError, RunId, Step, StepNo, Store, StoreError};

/// The version of the format; higher ones are refused.
const FORMAT: u32 = 1;

/// The first line of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingHeader {
    /// The version of the format.
    pub regreen_journal: u32,
    /// The run's id.
    pub run: RunId,
    /// The spec whose tasks were run.
    pub spec: String,
    /// The version of regreen that started the run.
    pub regreen: String,
    /// When the run started.
    pub started_ms: i64,
    /// How the run ended, if it has.
    pub end: Option<RunEnd>,
}

impl From<Run> for RecordingHeader {
    fn from(run: Run) -> Self {
        Self {
            regreen_journal: FORMAT,
            run: run.id,
            spec: run.spec,
            regreen: run.regreen,
            started_ms: run.started_ms,
            end: run.end,
        }
    }
}

/// Why a line could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// There is no such run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The file can't be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A step can't be serialized.
    #[error("cannot encode a step as JSON: {0}")]
    NotJson(#[from] serde_json::Error),
}

/// Why a recording could not be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// Reading failed.
    #[error("cannot read the recording: {0}")]
    Io(#[from] io::Error),
    /// A line is invalid.
    #[error("cannot parse line {line} of the recording: {error}")]
    BadLine {
        /// The line number, 1-based.
        line: usize,
        /// The error.
        error: serde_json::Error,
    },
    /// The recording is empty.
    #[error("the recording is empty")]
    Empty,
    /// A newer regreen wrote it.
    #[error("the recording has format {found}; this regreen supports format {FORMAT}")]
    Newer {
        /// The version of its format.
        found: u32,
    },
}

/// Why a recording was not stored. No part of it was.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The run already exists.
    #[error("the journal already has a run {0}")]
    Exists(RunId),
    /// The recording can't be read.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// A step doesn't fit the one before it.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The file can't be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A recording that is being read: its header, and as an iterator its steps.
#[derive(Debug)]
pub struct Recording<R> {
    /// Its first line.
    pub header: RecordingHeader,
    lines: Lines<R>,
    line: usize,
}

impl<R: BufRead> Recording<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// Returns an error if the first line isn't a header that this version knows.
    pub fn read(reader: R) -> Result<Self, RecordingError> {
        let mut lines = reader.lines();
        let first = lines.next().ok_or(RecordingError::Empty)??;
        let header: RecordingHeader = parse(1, &first)?;
        match header.regreen_journal {
            ..=FORMAT => Ok(Self {
                header,
                lines,
                line: 1,
            }),
            found => Err(RecordingError::Newer { found }),
        }
    }
}

impl<R: BufRead> Iterator for Recording<R> {
    type Item = Result<Step, RecordingError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.line += 1;
        let text = self.lines.next()?;
        Some(
            text.map_err(Into::into)
                .and_then(|text| parse(self.line, &text)),
        )
    }
}

fn parse<T: for<'d> Deserialize<'d>>(line: usize, text: &str) -> Result<T, RecordingError> {
    serde_json::from_str(text).map_err(|error| RecordingError::BadLine { line, error })
}

impl Store {
    /// Returns the lines of a run's recording, without line endings.
    ///
    /// # Errors
    /// Returns an error if there is no such run, or the file can't be read.
    pub fn export(
        &self,
        run: &RunId,
    ) -> Result<impl Iterator<Item = Result<String, ExportError>>, ExportError> {
        let header = RecordingHeader::from(self.run(run)?);
        let steps = self.steps(run, StepNo::NONE)?;
        let first = std::iter::once(one_line(&header));
        Ok(first.chain(steps.map(|step| one_line(&step?))))
    }

    /// Stores a recorded run under its own id as a finished one: it can be inspected but not
    /// resumed.
    ///
    /// # Errors
    /// Returns an error if the run already exists, or the recording can't be read.
    pub fn import<R: BufRead>(&mut self, recording: Recording<R>) -> Result<RunId, ImportError> {
        let header = recording.header.clone();
        let tx = self.write()?;
        if is_taken(&tx, &header.run)? {
            return Err(ImportError::Exists(header.run));
        }
        let number = insert_run(&tx, &imported_run(&header))?;
        let mut last_ms = header.started_ms;
        for step in recording {
            let step = step?;
            last_ms = step.now_ms;
            append_step(&tx, &header.run, &step)?;
        }
        let end = header.end.unwrap_or_else(|| imported_end(last_ms));
        insert_end(&tx, number, &end)?;
        tx.commit().map_err(StoreError::from)?;
        Ok(header.run)
    }
}

/// Serializes a value on one line. JSON strings contain no line breaks, and whitespace outside of
/// them may be replaced.
fn one_line(value: &impl Serialize) -> Result<String, ExportError> {
    Ok(serde_json::to_string(value)?.replace(['\n', '\r'], " "))
}

fn imported_run(header: &RecordingHeader) -> Run {
    Run {
        id: header.run.clone(),
        spec: header.spec.clone(),
        regreen: header.regreen.clone(),
        started_ms: header.started_ms,
        last_step: StepNo::NONE,
        end: None,
    }
}

fn imported_end(ended_ms: i64) -> RunEnd {
    RunEnd {
        ended_ms,
        outcome: "imported".to_owned(),
        exit_code: None,
    }
}
