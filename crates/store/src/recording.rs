//! A run as text: one line about it, then one line per step.

use std::io::{BufRead, Lines, self};

use serde::{Deserialize, Serialize};

use crate::journal::append_step;
use crate::run::{insert_end, insert_run, is_taken};
use crate::{AppendError, Fault, Run, RunEnd, RunError, RunId, Step, StepNo, Store};

/// The version of the text; higher ones are refused.
const FORMAT: u32 = 1;

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingHeader {
    pub regreen_journal: u32,
    pub run: RunId,
    pub spec: String,
    pub regreen: String,
    pub started_ms: i64,
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
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Fault(#[from] Fault),
    #[error("a step has no form in JSON: {0}")]
    NotJson(#[from] serde_json::Error),
}

/// Why a recording could not be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    #[error("the recording cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("line {line} of the recording is not understood: {error}")]
    BadLine {
        line: usize,
        error: serde_json::Error,
    },
    #[error("the recording is empty")]
    Empty,
    #[error("the recording has format {found}; this regreen knows format {FORMAT}")]
    Newer { found: u32 },
}

/// Why a recording was not stored. Nothing of it was.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("the journal has a run {0} already")]
    Exists(RunId),
    #[error(transparent)]
    Recording(#[from] RecordingError),
    #[error(transparent)]
    Append(#[from] AppendError),
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// A recording being read: its header, then, as an iterator, its steps.
#[derive(Debug)]
pub struct Recording<R> {
    pub header: RecordingHeader,
    lines: Lines<R>,
    line: usize,
}

impl<R: BufRead> Recording<R> {
    /// # Errors
    /// If the first line is no header that this version knows.
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
    /// The lines of a run's recording, without line ends.
    ///
    /// # Errors
    /// If there is no such run, or the file cannot be read.
    pub fn export(
        &self,
        run: &RunId,
    ) -> Result<impl Iterator<Item = Result<String, ExportError>>, ExportError> {
        let header = RecordingHeader::from(self.run(run)?);
        let steps = self.steps(run, StepNo::NONE)?;
        let first = std::iter::once(one_line(&header));
        Ok(first.chain(steps.map(|step| one_line(&step?))))
    }

    /// Stores a recorded run under its own name, as one that has ended: it can be looked at,
    /// but nobody will go on with it.
    ///
    /// # Errors
    /// If the run is there already, or the recording is not one.
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
        tx.commit().map_err(Fault::from)?;
        Ok(header.run)
    }
}

/// White space outside of strings may be anything, and inside there are no line ends in JSON.
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
