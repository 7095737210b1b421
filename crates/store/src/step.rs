//! The steps of a run, read in order without keeping them all in memory.

use std::collections::VecDeque;
use std::fmt;

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::journal::last_step;
use crate::row::{check_sum, json, whole, with_sum};
use crate::run::run_number;
use crate::{AppendError, RunError, RunId, Store, StoreError};

/// The number of a step in its run, counted from 1; 0 means before the first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct StepNo(pub u64);

impl StepNo {
    /// Before the first step.
    pub const NONE: Self = Self(0);

    /// Returns the number of the step after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for StepNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of a command within its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommandSeq(pub u64);

impl fmt::Display for CommandSeq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A command as issued by a step. It is pending until a later step answers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssuedCommand {
    /// Its number.
    pub seq: CommandSeq,
    /// The command itself.
    pub command: VersionedJson,
}

/// One step of the engine: an input with its time, and the events and commands that followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Its number.
    pub number: StepNo,
    /// When it was taken.
    pub now_ms: i64,
    /// The command that the input answers.
    pub answers: Option<CommandSeq>,
    /// The input.
    pub input: VersionedJson,
    /// The events.
    pub events: Vec<VersionedJson>,
    /// The commands.
    pub commands: Vec<IssuedCommand>,
}

/// An event with its step and time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// The step it happened in.
    pub step: StepNo,
    /// When it happened.
    pub now_ms: i64,
    /// The event itself.
    pub event: VersionedJson,
}

/// An input, event, command or state in stored form: JSON that only its owner understands, with the
/// name and version of its format.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VersionedJson {
    /// The name of the format.
    pub kind: String,
    /// The version of the format.
    pub version: u32,
    body: Box<RawValue>,
}

impl VersionedJson {
    /// Serializes `body`.
    ///
    /// # Errors
    /// Returns an error if `body` can't be represented in JSON, for example a map whose keys aren't
    /// strings.
    pub fn new(
        kind: impl Into<String>,
        version: u32,
        body: &impl Serialize,
    ) -> Result<Self, serde_json::Error> {
        Ok(Self {
            kind: kind.into(),
            version,
            body: to_raw_value(body)?,
        })
    }

    /// Returns the JSON text exactly as given.
    #[must_use]
    pub fn body(&self) -> &str {
        self.body.get()
    }

    /// Deserializes the body.
    ///
    /// # Errors
    /// Returns an error if the JSON isn't a `T`.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.body())
    }
}

impl PartialEq for VersionedJson {
    fn eq(&self, other: &Self) -> bool {
        (&self.kind, self.version, self.body()) == (&other.kind, other.version, other.body())
    }
}

impl Eq for VersionedJson {}

const COLUMNS: &str = "run, step, now_ms, answers, input, events, commands, sum";
const SUMMED: usize = 7;

/// How many steps are fetched at a time.
const PAGE: u64 = 32;

impl Store {
    /// Returns the steps after `after`, up to the current last one.
    ///
    /// # Errors
    /// Returns an error if there is no such run, or the file is damaged.
    pub fn steps(&self, run: &RunId, after: StepNo) -> Result<Steps<'_>, RunError> {
        self.rows(run, after, step_in)
    }

    fn rows<T>(
        &self,
        run: &RunId,
        after: StepNo,
        read: ReadRow<T>,
    ) -> Result<Steps<'_, T>, RunError> {
        let _reading = self.read_transaction()?;
        let run = run_number(&self.conn, run)?;
        Ok(Steps {
            conn: &self.conn,
            run,
            at: after,
            last: last_step(&self.conn, run)?,
            page: VecDeque::new(),
            read,
        })
    }

    /// Returns the events of the steps after `after`, in order.
    ///
    /// # Errors
    /// Returns an error if there is no such run, or the file is damaged.
    pub fn events(
        &self,
        run: &RunId,
        after: StepNo,
    ) -> Result<impl Iterator<Item = Result<StoredEvent, StoreError>>, RunError> {
        let steps = self.rows(run, after, events_in)?;
        Ok(steps.flat_map(|events| {
            let (events, error) = match events {
                Ok(events) => (Some(events), None),
                Err(error) => (None, Some(Err(error))),
            };
            events.into_iter().flatten().map(Ok).chain(error)
        }))
    }
}

/// Reads what is needed of a row whose checksum is right.
type ReadRow<T> = fn(&Row<'_>) -> Result<T, StoreError>;

/// Steps in order, or a part of each, fetched a few at a time. The iterator ends after the first
/// error.
#[derive(Debug)]
pub struct Steps<'s, T = Step> {
    conn: &'s Connection,
    run: i64,
    at: StepNo,
    last: StepNo,
    page: VecDeque<(StepNo, T)>,
    read: ReadRow<T>,
}

impl<T> Steps<'_, T> {
    fn next_step(&mut self) -> Result<T, StoreError> {
        if self.page.is_empty() {
            self.page = read_rows(self.conn, self.run, self.at, PAGE, self.read)?;
        }
        let wanted = self.at.next();
        match self.page.pop_front() {
            Some((number, step)) if number == wanted => Ok(step),
            _ => Err(StoreError::damaged(format!("step {wanted} is missing"))),
        }
    }
}

impl<T> Iterator for Steps<'_, T> {
    type Item = Result<T, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.last {
            return None;
        }
        let step = self.next_step();
        self.at = if step.is_ok() {
            self.at.next()
        } else {
            self.last
        };
        Some(step)
    }
}

pub(crate) fn insert_step(conn: &Connection, run: i64, step: &Step) -> Result<(), AppendError> {
    let sql = format!("INSERT INTO steps ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    conn.prepare_cached(&sql)?
        .execute(params_from_iter(with_sum(columns(run, step)?)))?;
    Ok(())
}

fn columns(run: i64, step: &Step) -> Result<Vec<Value>, AppendError> {
    Ok(vec![
        run.into(),
        whole(step.number.0),
        step.now_ms.into(),
        step.answers.map_or(Value::Null, |seq| whole(seq.0)),
        serde_json::to_string(&step.input)?.into(),
        serde_json::to_string(&step.events)?.into(),
        serde_json::to_string(&step.commands)?.into(),
    ])
}

pub(crate) fn read_step(
    conn: &Connection,
    run: i64,
    step: StepNo,
) -> Result<Option<Step>, StoreError> {
    let before = StepNo(step.0.saturating_sub(1));
    let found = read_rows(conn, run, before, 1, step_in)?.pop_front();
    let found = found.filter(|(number, _)| *number == step);
    Ok(found.map(|(_, step)| step))
}

fn read_rows<T>(
    conn: &Connection,
    run: i64,
    after: StepNo,
    count: u64,
    read: ReadRow<T>,
) -> Result<VecDeque<(StepNo, T)>, StoreError> {
    let sql =
        format!("SELECT {COLUMNS} FROM steps WHERE run = ?1 AND step > ?2 ORDER BY step LIMIT ?3");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query((run, after.0, count))?;
    let mut steps = VecDeque::new();
    while let Some(row) = rows.next()? {
        check_row(row, run)?;
        steps.push_back((StepNo(row.get(1)?), read(row)?));
    }
    Ok(steps)
}

fn check_row(row: &Row<'_>, run: i64) -> Result<(), StoreError> {
    check_sum(row, "steps", SUMMED)?;
    if row.get::<_, i64>(0)? == run {
        Ok(())
    } else {
        Err(StoreError::damaged("a step is listed under another run"))
    }
}

fn step_in(row: &Row<'_>) -> Result<Step, StoreError> {
    Ok(Step {
        number: StepNo(row.get(1)?),
        now_ms: row.get(2)?,
        answers: row.get::<_, Option<u64>>(3)?.map(CommandSeq),
        input: json(row, 4)?,
        events: json(row, 5)?,
        commands: json(row, 6)?,
    })
}

/// Returns the events of the steps after `after`, up to `until`.
pub(crate) fn events_between(
    conn: &Connection,
    run: i64,
    after: StepNo,
    until: StepNo,
) -> Result<Vec<StoredEvent>, StoreError> {
    let count = until.0 - after.0;
    let rows = read_rows(conn, run, after, count, events_in)?;
    Ok(rows.into_iter().flat_map(|(_, events)| events).collect())
}

/// Passes on the events of the steps after `after`, up to `until`, as stored.
pub(crate) fn read_events(
    conn: &Connection,
    run: i64,
    after: StepNo,
    until: StepNo,
    mut take: impl FnMut(&str),
) -> Result<(), StoreError> {
    let sql = "SELECT events FROM steps WHERE run = ?1 AND step > ?2 AND step <= ?3";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query((run, after.0, until.0))?;
    while let Some(row) = rows.next()? {
        take(row.get_ref(0)?.as_str().unwrap_or_default());
    }
    Ok(())
}

/// Reads only the events: inputs and commands are most of a step, and resuming needs neither.
fn events_in(row: &Row<'_>) -> Result<Vec<StoredEvent>, StoreError> {
    let (step, now_ms) = (StepNo(row.get(1)?), row.get(2)?);
    let events: Vec<VersionedJson> = json(row, 5)?;
    let events = events.into_iter().map(|event| StoredEvent {
        step,
        now_ms,
        event,
    });
    Ok(events.collect())
}
