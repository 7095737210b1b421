//! A run of 10,000 tasks with more than 100,000 events, as a workspace that has been used for a long time has it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use regreen_model::{
    AttemptReport, Ending, Event, FailureRecord, PickedTask, PromptKind, RunConfig, RunOutcome,
    TaskId, TaskKey, Verdict,
};
use regreen_store::{NewRun, RunEnd, RunId, Step, StepNo, Store, VersionedJson};

use super::Result;

pub(super) const TASKS: u32 = 10_000;
/// Each of these tasks has failed once.
const FAILS_EVERY: u32 = 7;

/// Returns the task list.
pub(super) fn tasks() -> String {
    let mut text = "# Large\n\n".to_owned();
    for number in 1..=TASKS {
        let _ = writeln!(text, "- [x] {} {}", id(number), title(number));
    }
    text
}

/// Adds the run to the database of a workspace in which the spec was run before. Returns the number of events.
pub(super) fn add_run(database: &Path) -> Result<usize> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
    let now = u64::try_from(now)?;
    let mut store = Store::open(database, i64::try_from(now)?)?;
    let spec = store.runs(1)?.first().ok_or("no run")?.spec.clone();
    let began = now - 60_000;
    let new = NewRun {
        spec,
        started_ms: i64::try_from(began)?,
        tree: None,
    };
    let run = store.begin_run(&new)?;
    let mut journal = Journal {
        store,
        run,
        last: StepNo::NONE,
        events: 0,
    };
    journal.add(began, &[started(&journal.run)])?;
    for number in 1..=TASKS {
        journal.add(began + u64::from(number), &of_task(number)?)?;
    }
    let outcome = RunOutcome::AllGreen;
    journal.add(now, &[Event::RunEnded { outcome }])?;
    let end = RunEnd {
        ended_ms: i64::try_from(now)?,
        outcome: "all_green".to_owned(),
        exit_code: Some(0),
    };
    let Journal {
        mut store,
        run,
        events,
        ..
    } = journal;
    store.end_run(&run, &end)?;
    store.close()?;
    Ok(events)
}

struct Journal {
    store: Store,
    run: RunId,
    last: StepNo,
    events: usize,
}

impl Journal {
    fn add(&mut self, now: u64, events: &[Event]) -> Result<()> {
        self.last = self.last.next();
        self.events += events.len();
        let stored = events
            .iter()
            .map(|event| VersionedJson::new("event", 1, event));
        let step = Step {
            number: self.last,
            now_ms: i64::try_from(now)?,
            answers: None,
            input: VersionedJson::new("input", 1, &())?,
            events: stored.collect::<std::result::Result<_, _>>()?,
            commands: Vec::new(),
        };
        self.store.append_unsynced(&self.run, &step, &[])?;
        Ok(())
    }
}

fn started(run: &RunId) -> Event {
    Event::RunStarted {
        run: run.to_string(),
        config: RunConfig::default(),
        after_limit: false,
        lost: Vec::new(),
        earlier: Vec::new(),
        environment: Vec::new(),
    }
}

fn id(number: u32) -> String {
    format!("{}.{}", 1 + number / 100, 1 + number % 100)
}

fn title(number: u32) -> String {
    format!("Add the form for case {number} and validate its input")
}

/// Returns the events of a task, which fails at first if its turn has come.
fn of_task(number: u32) -> Result<Vec<Event>> {
    let task = TaskKey {
        id: TaskId::parse(&id(number)).ok_or("no id")?,
        occurrence: 0,
        title: title(number),
    };
    let seq = u64::from(number) * 10;
    let mut events = vec![
        Event::PlanAsked { seq },
        Event::TaskPicked {
            task: Box::new(picked(&task, number)),
        },
    ];
    let failures = u32::from(number.is_multiple_of(FAILS_EVERY));
    for attempt in 1..=failures + 1 {
        events.extend(attempt_at(&task, seq, attempt, attempt <= failures));
    }
    events.extend([
        Event::TickAsked {
            seq: seq + 7,
            task: task.clone(),
            done: true,
        },
        Event::CommitAsked {
            seq: seq + 8,
            task: task.clone(),
        },
        Event::Committed {
            task: task.clone(),
            hash: Some("0123456789abcdef".to_owned()),
        },
        Event::RecordAsked {
            seq: seq + 9,
            task: task.clone(),
        },
        Event::TaskDone {
            task,
            marks: BTreeSet::new(),
            hash: Some("0123456789abcdef".to_owned()),
        },
    ]);
    Ok(events)
}

fn attempt_at(task: &TaskKey, seq: u64, attempt: u32, fails: bool) -> Vec<Event> {
    let report = AttemptReport {
        signalled: true,
        files_changed: 2,
        ending: Ending {
            exit_code: Some(0),
            duration_ms: 4_000,
            ..Ending::default()
        },
        ..AttemptReport::default()
    };
    let error = "AssertionError: expected 'name is required', got ''".to_owned();
    let verdict = if fails {
        Verdict::Red {
            error: error.clone(),
        }
    } else {
        Verdict::Green
    };
    let mut events = vec![
        Event::AttemptStarted {
            seq: seq + 1,
            task: task.clone(),
            attempt,
            prompt: PromptKind::First,
            timeout_ms: 60_000,
        },
        Event::AttemptEnded {
            task: task.clone(),
            attempt,
            charged: true,
            counted: Some(true),
            report: Box::new(report),
        },
        Event::VerifyStarted {
            seq: seq + 2,
            task: task.clone(),
            attempt,
            again: false,
            first: false,
        },
        Event::VerifyEnded {
            task: task.clone(),
            attempt,
            verdict,
            diagnosis: None,
            tests: None,
            took_ms: 900,
        },
    ];
    events.extend(fails.then(|| Event::TaskFailed {
        task: task.clone(),
        attempt,
        failure: FailureRecord::new(error),
        only_red: true,
    }));
    events
}

fn picked(task: &TaskKey, number: u32) -> PickedTask {
    PickedTask {
        task: task.clone(),
        root: task.clone(),
        index: number - 1,
        total: TASKS,
        is_verify: false,
        is_red: false,
        is_group: false,
        verify: Vec::new(),
        commit: None,
        services: Vec::new(),
        features: None,
        failed_before: None,
        has_fixes: false,
        declines_commit: false,
        has_own_verify: true,
    }
}
