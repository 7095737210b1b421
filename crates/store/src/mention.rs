//! Where runs name tasks: the index that leads from a task to its events.
//!
//! The events are the truth, and the index only says which of them to read. It is written for whole
//! stretches of steps, in the transaction of the last of them.

use std::collections::BTreeSet;

use regreen_model::{TaskId, TaskKey};
use rusqlite::{Connection, OptionalExtension, Params};

use crate::journal::last_step;
use crate::names::named_tasks;
use crate::row::{task_columns, task_from_row};
use crate::run::run_number;
use crate::step::{events_between, read_events};
use crate::{RunError, RunId, StepNo, Store, StoreError, StoredEvent};

/// The number of steps in a stretch. It is part of the format.
const STRETCH: u64 = 32;

impl Store {
    /// Returns the events of a run around those that name one of the tasks, in order: they come in
    /// stretches of steps, each with the next one. What is left out between two of them names
    /// none of the tasks.
    ///
    /// # Errors
    /// Returns an error if there is no such run, or the file can't be read.
    pub fn events_naming(
        &self,
        run: &RunId,
        tasks: &[TaskKey],
    ) -> Result<Vec<StoredEvent>, RunError> {
        let _reading = self.read_transaction()?;
        let number = run_number(&self.conn, run)?;
        let last = last_step(&self.conn, number)?;
        let mut wanted = BTreeSet::new();
        for task in tasks {
            let found = stretches_naming(&self.conn, number, task)?;
            wanted.extend(found.into_iter().flat_map(|stretch| [stretch, stretch + 1]));
        }
        let unindexed = indexed_until(&self.conn, number, last)?;
        wanted.extend((unindexed < last).then_some(unindexed.0 / STRETCH));
        let mut events = Vec::new();
        for stretch in wanted.into_iter().filter(|first| first * STRETCH < last.0) {
            let after = StepNo(stretch * STRETCH);
            let until = StepNo(last.0.min(after.0 + STRETCH));
            events.extend(events_between(&self.conn, number, after, until)?);
        }
        Ok(events)
    }

    /// Returns the recorded tasks of a spec's runs that have this id or title, the one that was
    /// named last at the end.
    ///
    /// # Errors
    /// Returns an error if the file can't be read.
    pub fn tasks_named(
        &self,
        spec: &str,
        id: &TaskId,
        title: Option<&str>,
    ) -> Result<Vec<TaskKey>, StoreError> {
        let sql = "SELECT task_id, occurrence, title FROM named_tasks JOIN mentions USING (task)
                   WHERE (task_id = ?2 OR title = ?3)
                     AND run IN (SELECT run FROM runs WHERE spec = ?1)
                   GROUP BY task ORDER BY max(run * 4294967296 + stretch), task";
        let is_wanted = |task: &TaskKey| task.id == *id || Some(task.title.as_str()) == title;
        self.recorded(spec, sql, (spec, id.as_str(), title), is_wanted)
    }

    /// Returns all recorded tasks of a spec's runs.
    ///
    /// # Errors
    /// Returns an error if the file can't be read.
    pub fn all_tasks_named(&self, spec: &str) -> Result<Vec<TaskKey>, StoreError> {
        let sql = "SELECT task_id, occurrence, title FROM named_tasks WHERE EXISTS
                   (SELECT 1 FROM mentions JOIN runs USING (run)
                    WHERE mentions.task = named_tasks.task AND runs.spec = ?1)";
        self.recorded(spec, sql, [spec], |_| true)
    }

    /// Returns the tasks that a query finds in the index, and those that are not indexed yet.
    fn recorded(
        &self,
        spec: &str,
        sql: &str,
        params: impl Params,
        is_wanted: impl Fn(&TaskKey) -> bool,
    ) -> Result<Vec<TaskKey>, StoreError> {
        let _reading = self.read_transaction()?;
        let mut tasks = indexed_tasks(&self.conn, sql, params)?;
        for (run, last) in runs_not_ended(&self.conn, spec)? {
            let after = indexed_until(&self.conn, run, last)?;
            let mut latest = names_between(&self.conn, run, after, last)?;
            latest.retain(&is_wanted);
            tasks.retain(|task| !latest.contains(task));
            tasks.extend(latest);
        }
        Ok(tasks)
    }
}

/// Indexes the stretch that ends with this step, if one does.
pub(crate) fn index_complete(conn: &Connection, run: i64, step: StepNo) -> Result<(), StoreError> {
    match step.0 % STRETCH {
        0 => index(conn, run, StepNo(step.0 - STRETCH), step),
        _ => Ok(()),
    }
}

/// Indexes the last steps of a run that ends.
pub(crate) fn index_rest(conn: &Connection, run: i64) -> Result<(), StoreError> {
    let last = last_step(conn, run)?;
    index(conn, run, StepNo(last.0 - last.0 % STRETCH), last)
}

/// Indexes all runs of a file that has no index yet.
pub(crate) fn index_all(conn: &Connection) -> Result<(), rusqlite::Error> {
    let mut runs = conn.prepare("SELECT run, last_step FROM runs")?;
    let runs = runs.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for run in runs {
        let (run, last): (i64, u64) = run?;
        for after in (0..last).step_by(32) {
            let until = StepNo(last.min(after + STRETCH));
            // What is damaged can't be indexed. Whoever reads it is told.
            let _ = index(conn, run, StepNo(after), until);
        }
    }
    Ok(())
}

fn index(conn: &Connection, run: i64, after: StepNo, until: StepNo) -> Result<(), StoreError> {
    for task in names_between(conn, run, after, until)? {
        let number = task_number(conn, &task)?;
        let sql = "INSERT OR IGNORE INTO mentions (task, run, stretch) VALUES (?1, ?2, ?3)";
        conn.prepare_cached(sql)?
            .execute((number, run, after.0 / STRETCH))?;
    }
    Ok(())
}

fn names_between(
    conn: &Connection,
    run: i64,
    after: StepNo,
    until: StepNo,
) -> Result<BTreeSet<TaskKey>, StoreError> {
    let mut named = BTreeSet::new();
    read_events(conn, run, after, until, |events| {
        named_tasks(events, &mut named);
    })?;
    Ok(named)
}

fn task_number(conn: &Connection, task: &TaskKey) -> Result<i64, StoreError> {
    let sql = "SELECT task FROM named_tasks WHERE task_id = ? AND occurrence = ? AND title = ?";
    let known = conn
        .prepare_cached(sql)?
        .query_row(task_columns(task), |row| row.get(0))
        .optional()?;
    if let Some(known) = known {
        return Ok(known);
    }
    let sql = "INSERT INTO named_tasks (task_id, occurrence, title) VALUES (?, ?, ?)";
    Ok(conn.prepare_cached(sql)?.insert(task_columns(task))?)
}

fn stretches_naming(conn: &Connection, run: i64, task: &TaskKey) -> Result<Vec<u64>, StoreError> {
    let sql = "SELECT stretch FROM mentions JOIN named_tasks USING (task)
               WHERE task_id = ? AND occurrence = ? AND title = ? AND run = ?";
    let [id, occurrence, title] = task_columns(task);
    let stretches = conn
        .prepare_cached(sql)?
        .query_map((id, occurrence, title, run), |row| row.get(0))?
        .collect::<Result<Vec<u64>, _>>()?;
    Ok(stretches)
}

fn indexed_tasks(
    conn: &Connection,
    sql: &str,
    params: impl Params,
) -> Result<Vec<TaskKey>, StoreError> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut tasks = Vec::new();
    while let Some(row) = rows.next()? {
        tasks.push(task_from_row(row, 0)?);
    }
    Ok(tasks)
}

/// Returns the last step that is indexed.
fn indexed_until(conn: &Connection, run: i64, last: StepNo) -> Result<StepNo, StoreError> {
    let has_ended = conn
        .prepare_cached("SELECT 1 FROM run_ends WHERE run = ?1")?
        .exists([run])?;
    Ok(match has_ended {
        true => last,
        false => StepNo(last.0 - last.0 % STRETCH),
    })
}

fn runs_not_ended(conn: &Connection, spec: &str) -> Result<Vec<(i64, StepNo)>, StoreError> {
    let sql = "SELECT run, last_step FROM runs
               WHERE spec = ?1 AND run NOT IN (SELECT run FROM run_ends) ORDER BY run";
    let runs = conn
        .prepare_cached(sql)?
        .query_map([spec], |row| Ok((row.get(0)?, StepNo(row.get(1)?))))?
        .collect::<Result<Vec<_>, _>>()?;
    Ok(runs)
}
