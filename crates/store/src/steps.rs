//! Steps as rows, and reading them in order without holding them all.

use std::collections::VecDeque;

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use crate::column::{json, whole};
use crate::journal::last_step;
use crate::row_sum::{check_sum, with_sum};
use crate::runs::run_number;
use crate::{AppendError, CommandSeq, Fault, RunError, RunId, Step, StepNo, Store, StoredEvent};

const COLUMNS: &str = "run, step, now_ms, answers, input, events, commands, sum";
const SUMMED: usize = 7;

/// How many steps are fetched, and held, at a time.
const PAGE: u64 = 32;

impl Store {
    /// The steps after `after`, up to the last one there is now.
    ///
    /// # Errors
    /// If there is no such run, or the file is damaged.
    pub fn steps(&self, run: &RunId, after: StepNo) -> Result<Steps<'_>, RunError> {
        let _moment = self.moment()?;
        let run = run_number(&self.conn, run)?;
        Ok(Steps {
            conn: &self.conn,
            run,
            at: after,
            last: last_step(&self.conn, run)?,
            page: VecDeque::new(),
        })
    }

    /// The events of the steps after `after`, in order.
    ///
    /// # Errors
    /// If there is no such run, or the file is damaged.
    pub fn events(
        &self,
        run: &RunId,
        after: StepNo,
    ) -> Result<impl Iterator<Item = Result<StoredEvent, Fault>>, RunError> {
        let steps = self.steps(run, after)?;
        Ok(steps.flat_map(|step| {
            let (events, fault) = match step {
                Ok(step) => (Some(step.into_events()), None),
                Err(fault) => (None, Some(Err(fault))),
            };
            events.into_iter().flatten().map(Ok).chain(fault)
        }))
    }
}

/// Steps in order, fetched a few at a time. Ends after the first fault.
#[derive(Debug)]
pub struct Steps<'s> {
    conn: &'s Connection,
    run: i64,
    at: StepNo,
    last: StepNo,
    page: VecDeque<Step>,
}

impl Steps<'_> {
    fn next_step(&mut self) -> Result<Step, Fault> {
        if self.page.is_empty() {
            self.page = read_steps(self.conn, self.run, self.at, PAGE)?;
        }
        let wanted = self.at.next();
        match self.page.pop_front() {
            Some(step) if step.number == wanted => Ok(step),
            _ => Err(Fault::damaged(format!("step {wanted} is missing"))),
        }
    }
}

impl Iterator for Steps<'_> {
    type Item = Result<Step, Fault>;

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

pub(crate) fn read_step(conn: &Connection, run: i64, step: StepNo) -> Result<Option<Step>, Fault> {
    let before = StepNo(step.0.saturating_sub(1));
    let found = read_steps(conn, run, before, 1)?.pop_front();
    Ok(found.filter(|found| found.number == step))
}

fn read_steps(
    conn: &Connection,
    run: i64,
    after: StepNo,
    count: u64,
) -> Result<VecDeque<Step>, Fault> {
    let sql =
        format!("SELECT {COLUMNS} FROM steps WHERE run = ?1 AND step > ?2 ORDER BY step LIMIT ?3");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query((run, after.0, count))?;
    let mut steps = VecDeque::new();
    while let Some(row) = rows.next()? {
        steps.push_back(from_row(row, run)?);
    }
    Ok(steps)
}

fn from_row(row: &Row<'_>, run: i64) -> Result<Step, Fault> {
    check_sum(row, "steps", SUMMED)?;
    if row.get::<_, i64>(0)? != run {
        return Err(Fault::damaged("a step is listed under another run"));
    }
    Ok(Step {
        number: StepNo(row.get(1)?),
        now_ms: row.get(2)?,
        answers: row.get::<_, Option<u64>>(3)?.map(CommandSeq),
        input: json(row, 4)?,
        events: json(row, 5)?,
        commands: json(row, 6)?,
    })
}
