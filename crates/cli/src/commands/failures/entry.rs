use std::collections::BTreeMap;
use std::path::Path;

use regreen_model::{Event, Failure, FailureKind, FailureRecord, TaskKey, Timestamp};
use regreen_overview::{Response, answered_task, response_to};
use regreen_runtime::{JournalError, is_delegation_running};
use regreen_store::{AttemptKey, Delegation, FailureRow, RunId, StepNo, Store, StoredEvent};
use serde::Serialize;

use super::Wanted;
use crate::problem::Problem;

/// One failure of a run or a delegation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Entry {
    /// ISO 8601, in UTC.
    pub(super) time: String,
    #[serde(flatten)]
    pub(super) place: Place,
    pub(super) category: String,
    pub(super) kind: String,
    pub(super) message: String,
    pub(super) blocked_on: Option<String>,
    pub(super) files_modified: Vec<String>,
    /// The response to it.
    pub(super) tried: Option<String>,
    /// Whether it helped; `None` if unknown.
    pub(super) helped: Option<bool>,
}

/// Where it failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "where", rename_all = "snake_case")]
pub(super) enum Place {
    Run {
        run: String,
        task: String,
        title: String,
        attempt: u32,
    },
    Delegation {
        delegation: String,
        attempt: u32,
        prompt: String,
        timeout_ms: u64,
        log: String,
    },
}

impl Entry {
    /// Returns the last failures of a kind since then, newest last. There may be a few more than the
    /// wanted number.
    pub(super) fn last(store: &Store, root: &Path, wanted: &Wanted) -> Result<Vec<Self>, Problem> {
        let since_ms = i64::try_from(wanted.since.as_millis()).unwrap_or(i64::MAX);
        let mut entries = of_runs(store, since_ms, wanted)?;
        let delegations = store
            .delegations_since(since_ms)
            .map_err(Problem::journal)?;
        let ended = delegations.into_iter().map(|row| as_it_ended(row, root));
        let failed = ended.filter(|row| row.kind.as_ref().is_some_and(|kind| wanted.has(kind)));
        entries.extend(failed.map(of_delegation));
        entries.sort_by(|a, b| a.time.cmp(&b.time));
        Ok(entries)
    }
}

fn of_runs(store: &Store, since_ms: i64, wanted: &Wanted) -> Result<Vec<Entry>, Problem> {
    let kind = wanted.kind.map(FailureKind::name);
    let rows = store.last_failures(since_ms, kind, wanted.most);
    let rows = rows.map_err(Problem::journal)?;
    let reads_whole_runs = rows.len() > FEW;
    let mut whole: Option<(RunId, EventsOfTasks)> = None;
    let mut entries = Vec::new();
    for row in rows {
        let AttemptKey { run, task, number } = &row.attempt;
        let done = if reads_whole_runs {
            if whole.as_ref().is_none_or(|(known, _)| known != run) {
                whole = Some((run.clone(), events_of(store, run)?));
            }
            let of_task = whole.as_ref().and_then(|(_, events)| events.get(task));
            response_to(of_task.map_or(&[][..], Vec::as_slice), task, *number)
        } else {
            response_to(&events_naming(store, run, task)?, task, *number)
        };
        entries.push(of_row(row, done));
    }
    Ok(entries)
}

/// Up to this many failures are looked up one by one; for more, whole runs are read.
const FEW: usize = 100;

/// What a run did about failures, by task: a run can have thousands of tasks, and of failures.
type EventsOfTasks = BTreeMap<TaskKey, Vec<Event>>;

fn events_of(store: &Store, run: &RunId) -> Result<EventsOfTasks, Problem> {
    let events = store.events(run, StepNo::NONE).map_err(JournalError::from);
    let mut of_tasks = EventsOfTasks::new();
    for stored in events.map_err(Problem::from_journal)? {
        let event = decode(&stored.map_err(Problem::journal)?)?;
        if let Some(task) = answered_task(&event) {
            of_tasks.entry(task.clone()).or_default().push(event);
        }
    }
    Ok(of_tasks)
}

fn events_naming(store: &Store, run: &RunId, task: &TaskKey) -> Result<Vec<Event>, Problem> {
    let events = store.events_naming(run, std::slice::from_ref(task));
    let events = events.map_err(JournalError::from);
    let events = events.map_err(Problem::from_journal)?;
    events.iter().map(decode).collect()
}

fn decode(stored: &StoredEvent) -> Result<Event, Problem> {
    let event = stored.event.decode();
    event.map_err(|error| Problem::from_journal(error.into()))
}

fn of_row(row: FailureRow, done: Response) -> Entry {
    // If another version stored another format, the columns still say something.
    let note: Option<FailureRecord> = serde_json::from_str(&row.report).ok();
    let found: Option<Failure> = note.and_then(|note| note.diagnosis).map(|found| *found);
    Entry {
        time: iso(row.at_ms),
        place: Place::Run {
            run: row.attempt.run.to_string(),
            task: row.attempt.task.id.to_string(),
            title: row.attempt.task.title,
            attempt: row.attempt.number,
        },
        category: row.category,
        kind: row.kind,
        message: row.message,
        blocked_on: row.blocked_on,
        files_modified: found.map(|found| found.files_modified).unwrap_or_default(),
        tried: done.what,
        helped: done.helped,
    }
}

/// An attempt without an end whose process is gone counts as interrupted.
fn as_it_ended(row: Delegation, root: &Path) -> Delegation {
    let log = root.join(&row.log);
    if row.outcome.is_some() || log.parent().is_some_and(is_delegation_running) {
        return row;
    }
    let kind = FailureKind::Interrupted;
    Delegation {
        category: Some(kind.category().name().to_owned()),
        kind: Some(kind.name().to_owned()),
        message: Some("regreen or the machine stopped during the attempt".to_owned()),
        ..row
    }
}

fn of_delegation(row: Delegation) -> Entry {
    Entry {
        time: iso(row.at_ms),
        place: Place::Delegation {
            delegation: row.id,
            attempt: row.number,
            prompt: row.prompt,
            timeout_ms: row.timeout_ms,
            log: row.log,
        },
        category: row.category.unwrap_or_default(),
        kind: row.kind.unwrap_or_default(),
        message: row.message.unwrap_or_default(),
        blocked_on: row.blocked_on,
        files_modified: row.files,
        tried: row.tried,
        helped: row.helped,
    }
}

fn iso(ms: i64) -> String {
    Timestamp::from_millis(u64::try_from(ms).unwrap_or(0)).iso8601()
}
