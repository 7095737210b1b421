use rusqlite::Row;
use rusqlite::types::Value;
use serde::{Deserialize, Serialize};

use crate::row_sum::check_sum;
use crate::schema::REGREEN;
use crate::{Fault, RunId, StepNo};

/// What is said when a run begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRun {
    /// Whose tasks are run, in the caller's own way of naming specs.
    pub spec: String,
    pub started_ms: i64,
}

/// A run as the store knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub id: RunId,
    pub spec: String,
    /// The version of regreen that began it.
    pub regreen: String,
    pub started_ms: i64,
    pub last_step: StepNo,
    /// `None` while it can still be resumed.
    pub end: Option<RunEnd>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    pub ended_ms: i64,
    /// In the engine's words.
    pub outcome: String,
    pub exit_code: Option<i32>,
}

impl Run {
    pub(crate) fn new(id: RunId, new: &NewRun) -> Self {
        Self {
            id,
            spec: new.spec.clone(),
            regreen: REGREEN.to_owned(),
            started_ms: new.started_ms,
            last_step: StepNo::NONE,
            end: None,
        }
    }

    /// What the sum covers; the rest changes.
    pub(crate) const SUMMED: usize = 4;
    pub(crate) const COLUMNS: &str = "id, spec, regreen, started_ms, sum";

    pub(crate) fn columns(&self) -> Vec<Value> {
        vec![
            self.id.as_str().to_owned().into(),
            self.spec.clone().into(),
            self.regreen.clone().into(),
            self.started_ms.into(),
        ]
    }

    /// From `COLUMNS, last_step`.
    pub(crate) fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        check_sum(row, "runs", Self::SUMMED)?;
        Ok(Self {
            id: RunId::named(row.get::<_, String>(0)?),
            spec: row.get(1)?,
            regreen: row.get(2)?,
            started_ms: row.get(3)?,
            last_step: StepNo(row.get(5)?),
            end: None,
        })
    }
}

impl RunEnd {
    pub(crate) const COLUMNS: &str = "run, ended_ms, outcome, exit_code, sum";

    pub(crate) fn columns(&self, run: i64) -> Vec<Value> {
        vec![
            run.into(),
            self.ended_ms.into(),
            self.outcome.clone().into(),
            self.exit_code.into(),
        ]
    }

    pub(crate) fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        check_sum(row, "run_ends", 4)?;
        Ok(Self {
            ended_ms: row.get(1)?,
            outcome: row.get(2)?,
            exit_code: row.get(3)?,
        })
    }
}
