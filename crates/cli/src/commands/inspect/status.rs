//! `regreen status`: where a spec stands.

mod page;

use regreen_documents::TaskFile;
use regreen_engine::{Phase, State};
use regreen_model::{Event, Mark, OutlineRow, TaskKey, Timestamp};
use regreen_runtime::{Places, TreeLock, TreeLockError, folded, now, outline};
use regreen_store::Run;
use regreen_workspace::{RealDisk, read_text};
use serde::Serialize;

use crate::arguments::Status as Arguments;
use crate::exit::Exit;
use crate::history::History;
use crate::output;
use crate::problem::Problem;
use crate::workplace::Workplace;

pub fn run(arguments: &Arguments) -> Result<Exit, Problem> {
    let workplace = Workplace::find(arguments.spec.as_deref())?;
    let status = Status::of(&workplace.places)?;
    let text = match arguments.json {
        true => serde_json::to_string_pretty(&status).unwrap_or_default() + "\n",
        false => output::printable(&status.to_page()),
    };
    output::print(&text)?;
    Ok(Exit::AllGreen)
}

/// Where a spec stands: its plan, its newest run, and what that has used up.
#[derive(Debug, Serialize)]
struct Status {
    v: u8,
    spec: String,
    file: String,
    originals: Counts,
    fixes: Counts,
    run: Option<RunStatus>,
    tasks: Vec<TaskStatus>,
}

#[derive(Debug, Serialize)]
struct Counts {
    done: usize,
    total: usize,
}

#[derive(Debug, Serialize)]
struct RunStatus {
    id: String,
    agent: String,
    /// How it ended or why it paused; `null` while it is at work, or if it was killed.
    outcome: Option<String>,
    /// The process that is at work.
    holder: Option<String>,
    attempts_used: u32,
    attempts_limit: u32,
    waited_ms: u64,
    max_wait_ms: u64,
}

#[derive(Debug, Serialize)]
struct TaskStatus {
    id: String,
    title: String,
    /// Fixes stand below their task.
    depth: u16,
    done: bool,
    optional: bool,
    skipped: bool,
    attempts: u32,
    attempts_used: u32,
    attempts_limit: u32,
    marks: Vec<Mark>,
    commit: Option<String>,
    /// What is being done, and since when.
    current: Option<Current>,
    /// Why its last attempt failed.
    failure: Option<String>,
}

#[derive(Debug, Serialize)]
struct Current {
    what: &'static str,
    since: Option<String>,
    #[serde(skip)]
    for_ms: Option<u64>,
}

impl Status {
    fn of(places: &Places) -> Result<Self, Problem> {
        let file = TaskFile::read(read_text(&RealDisk, &places.spec.tasks)?.text);
        let rows = outline(&file);
        let history = History::open(places)?;
        let run = history.runs()?.pop();
        let state = match (&run, history.store()) {
            (Some(run), Some(store)) => {
                folded(store, &run.id)
                    .map_err(|error| Problem::Run(error.into()))?
                    .0
            }
            _ => State::default(),
        };
        let holder = TreeLock::holder(&places.root);
        let starts = match &run {
            Some(run) => attempt_starts(&history, run)?,
            None => Vec::new(),
        };
        let counted = |is_wanted: fn(&&OutlineRow) -> bool| Counts {
            done: rows.iter().filter(is_wanted).filter(|row| row.done).count(),
            total: rows.iter().filter(is_wanted).count(),
        };
        Ok(Self {
            v: 1,
            spec: places.spec.name.clone(),
            file: places.shown(&places.spec.tasks),
            originals: counted(|row| row.is_original() && !row.optional),
            fixes: counted(|row| !row.is_original()),
            tasks: rows
                .iter()
                .map(|row| task_status(row, &state, &starts, holder.is_some()))
                .collect(),
            run: run.map(|run| run_status(&run, &state, holder)),
        })
    }
}

/// When the attempts of a run began that are of interest: the last of each task.
fn attempt_starts(history: &History, run: &Run) -> Result<Vec<(TaskKey, Timestamp)>, Problem> {
    let events = history.events(run)?;
    let starts = events.into_iter().filter_map(|(at, event)| match event {
        Event::AttemptStarted { task, .. } => Some((task, at)),
        _ => None,
    });
    Ok(starts.collect())
}

fn run_status(run: &Run, state: &State, holder: Option<TreeLockError>) -> RunStatus {
    RunStatus {
        id: run.id.to_string(),
        agent: state.config.agent.clone(),
        outcome: state
            .outcome
            .as_ref()
            .map(|outcome| outcome.name().to_owned()),
        holder: holder.map(|held| held.to_string()),
        attempts_used: state.iterations,
        attempts_limit: state.iteration_limit(),
        waited_ms: state.waited_ms,
        max_wait_ms: state.config.max_wait_ms,
    }
}

fn task_status(
    row: &OutlineRow,
    state: &State,
    starts: &[(TaskKey, Timestamp)],
    is_at_work: bool,
) -> TaskStatus {
    let task = state.tasks.get(&row.key);
    let started = starts
        .iter()
        .rev()
        .find(|(key, _)| *key == row.key)
        .map(|(_, at)| *at);
    let what = task.map(|task| doing(&task.phase)).filter(|_| is_at_work);
    TaskStatus {
        id: row.key.id.to_string(),
        title: row.key.title.clone(),
        depth: row.depth,
        done: row.done,
        optional: row.optional,
        skipped: state.skipped.contains(&row.key),
        attempts: task.map_or(0, |task| task.attempts),
        attempts_used: task.map_or(0, |task| task.iterations),
        attempts_limit: state.config.limits.task_iterations,
        marks: task
            .map(|task| task.marks.iter().copied().collect())
            .unwrap_or_default(),
        commit: task.and_then(|task| task.hash.clone()),
        current: what.flatten().map(|what| Current {
            what,
            since: started.map(Timestamp::iso8601),
            for_ms: started.map(|at| now().since(at)),
        }),
        failure: task
            .filter(|_| !row.done)
            .and_then(|task| task.failure.as_ref())
            .map(|failure| failure.error.clone()),
    }
}

fn doing(phase: &Phase) -> Option<&'static str> {
    match phase {
        Phase::Open | Phase::Closed => None,
        Phase::Attempting { .. } => Some("attempt"),
        Phase::Verifying { .. } | Phase::JudgingClaims { .. } => Some("verifying"),
        Phase::Waiting { .. } => Some("waiting"),
        Phase::Budgeting { .. } | Phase::Inserting { .. } | Phase::Modifying { .. } => {
            Some("planning")
        }
        Phase::Superseding { .. }
        | Phase::TickingFixes { .. }
        | Phase::Noting { .. }
        | Phase::Ticking { .. }
        | Phase::Committing { .. }
        | Phase::Recording { .. } => Some("saving"),
    }
}
