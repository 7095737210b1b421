//! `cargo xtask bench long-history`: commands beside hundreds of runs, and beside a plan of 10,000 tasks.
//!
//! One run is really made, with tasks that fail several times. Its journal is then stored hundreds of
//! times under other names, as if the spec had been run again and again.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use regreen_store::{HistoryRow, Recording, RunId, Store};

use super::promise::{Promise, Report};
use super::run_loop::costs::{Costs, measure as cost_of};
use super::run_loop::project::{Kind, Project};
use super::run_loop::{Doing as _, LoopError, finish};
use crate::repository::Product;

const TASKS: usize = 20;
const COPIES: usize = 500;
const LARGE_PLAN: usize = 10_000;
const ROUNDS: usize = 3;
const COMMAND: Duration = Duration::from_millis(100);
const RESUME: Duration = Duration::from_millis(200);

const BESIDE_HISTORY: [(&str, &[&str]); 7] = [
    ("ms of `status` after 501 runs", &["status"]),
    ("ms of `why` after 501 runs", &["why", "1.10"]),
    ("ms of `log` after 501 runs", &["log", "1.10"]),
    ("ms of `ps` after 501 runs", &["ps"]),
    ("ms of `report` after 501 runs", &["report"]),
    (
        "ms of `failures --limit 20` after 501 runs",
        &["failures", "--limit", "20"],
    ),
    ("ms of `stats` after 501 runs", &["stats"]),
];
const BESIDE_LARGE_PLAN: [(&str, &[&str]); 3] = [
    ("ms of `status` of 10,000 tasks", &["status"]),
    ("ms of `why` of 10,000 tasks", &["why", "1.10"]),
    ("ms of `lint` of 10,000 tasks", &["lint"]),
];

pub(crate) fn run(product: &Product) -> ExitCode {
    let program = match product.program() {
        Ok(program) => program,
        Err(code) => return code,
    };
    match measure(&program) {
        Ok(report) => report.print(),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

pub(super) fn measure(program: &Path) -> Result<Report, LoopError> {
    let mut report = Report::default();
    let project = Project::with_plan(&failing_plan())?;
    finish(project.call(program, FAILING).args(AGENT))?;
    let (last, steps) =
        multiply(&project.path(".regreen/regreen.db")).map_err(LoopError::Failed)?;
    let logs = project.path(".regreen/runs");
    let first = fs::read_dir(&logs).doing("find the logs")?.flatten().next();
    let first = first
        .ok_or_else(|| LoopError::Failed("the run".to_owned()))?
        .path();
    symlink(first, logs.join(last.as_str())).doing("give the last copy its logs")?;
    report.fact("steps in the journal", steps.to_string());
    for (what, words) in BESIDE_HISTORY {
        report
            .promises
            .push(timed(&project, program, what, words, COMMAND)?);
    }
    let project = Project::new(Kind::Plain, LARGE_PLAN, 0)?;
    let only = ["run", "--only", "1.10"];
    let what = "ms of a `run --only` among 10,000 tasks";
    let resumed = cost_of(project.call(program, &only).args(AGENT), 1)?;
    for (what, words) in BESIDE_LARGE_PLAN {
        report
            .promises
            .push(timed(&project, program, what, words, COMMAND)?);
    }
    report
        .promises
        .push(Promise::at_most(what, millis(resumed.cpu), millis(RESUME)));
    Ok(report)
}

const AGENT: [&str; 2] = ["--agent", "command:/bin/echo TASK_COMPLETE"];
const FAILING: &[&str] = &[
    "run",
    "--no-recovery-mode",
    "--max-task-iterations=9",
    "--max-global-iterations=1000",
    "--final-check=off",
];

/// Tasks whose check fails six times, twice for each attempt.
fn failing_plan() -> String {
    let mut plan = "# A plan that takes long\n\n".to_owned();
    for n in 1..=TASKS {
        let _ = write!(
            plan,
            "- [ ] 1.{n} Try again until it works\n  \
               - **Verify**: `echo again >> tried.{n}; test $(wc -l < tried.{n}) -gt 6`\n\n"
        );
    }
    plan
}

/// Returns the processor time of a call: the least of several rounds.
fn timed(
    project: &Project,
    program: &Path,
    what: &'static str,
    words: &[&str],
    most: Duration,
) -> Result<Promise, LoopError> {
    let rounds = (0..ROUNDS).map(|_| cost_of(&mut project.call(program, words), 1));
    let costs = Costs::least(rounds.collect::<Result<_, _>>()?);
    Ok(Promise::at_most(what, millis(costs.cpu), millis(most)))
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Stores the only run of a journal again and again. Returns the last copy, and the number of steps then.
fn multiply(file: &Path) -> Result<(RunId, u64), String> {
    let store = Store::open(file, 0);
    let mut store = store.map_err(|error| error.to_string())?;
    let run = store.runs(1).map_err(|error| error.to_string())?.remove(0);
    let lines: Result<Vec<String>, _> = store
        .export(&run.id)
        .map_err(|error| error.to_string())?
        .collect();
    let recording = lines.map_err(|error| error.to_string())?.join("\n");
    let rows = rows_of(&store, &run.id)?;
    let mut last = run.id.clone();
    for n in 1..=COPIES {
        let name = format!("{}-copy-{n}", run.id);
        let copy = recording.replace(run.id.as_str(), &name);
        let copy = Recording::read(copy.as_bytes()).map_err(|error| error.to_string())?;
        let id = store.import(copy).map_err(|error| error.to_string())?;
        let rows: Vec<HistoryRow> = rows.iter().map(|row| in_run(row, &id)).collect();
        store.record(&rows).map_err(|error| error.to_string())?;
        last = id;
    }
    store.close().map_err(|error| error.to_string())?;
    Ok((last, run.last_step.0 * (COPIES as u64 + 1)))
}

fn rows_of(store: &Store, run: &RunId) -> Result<Vec<HistoryRow>, String> {
    let attempts = store
        .attempts_in_run(run)
        .map_err(|error| error.to_string())?;
    let failures = store
        .failures_in_run(run)
        .map_err(|error| error.to_string())?;
    let attempts = attempts.into_iter().map(HistoryRow::Attempt);
    Ok(attempts
        .chain(failures.into_iter().map(HistoryRow::Failure))
        .collect())
}

fn in_run(row: &HistoryRow, run: &RunId) -> HistoryRow {
    let mut row = row.clone();
    match &mut row {
        HistoryRow::Attempt(attempt) => attempt.key.run = run.clone(),
        HistoryRow::Failure(failure) => failure.attempt.run = run.clone(),
    }
    row
}
