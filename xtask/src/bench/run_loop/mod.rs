//! `cargo xtask bench loop`: tasks that cost nothing, so that the remaining cost is regreen's own.
//!
//! The agent only says that it is done, and Verify is `true`, for 200 tasks in a file of 60 KB:
//! outside git, in git with a commit for each, and in a repository of 50,000 files. A shell loop
//! runs in alternation: it starts the same programs as often, and in git adds and commits
//! everything after each task. Other work on the machine can only add to a time, so the shortest of
//! several rounds counts; all are printed.

pub(super) mod costs;
pub(super) mod project;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use clap::Args;
use costs::{Costs, measure as cost_of};
use project::{Kind, Project};

use super::promise::{Promise, Report};
use crate::repository::Product;

/// Measuring growth with the file size needs fewer tasks.
const FEW: usize = 50;
const LARGE_FILE: usize = 2_000_000;
const STARTS: usize = 15;
/// A task in a repository of 50,000 files takes most of a second.
const TASKS_AMONG_MANY_FILES: usize = 4;

#[derive(Clone, Debug, Args)]
pub(crate) struct Arguments {
    /// Number of tasks to run.
    #[arg(long, default_value_t = 200, value_name = "N")]
    tasks: usize,
    /// Number of rounds.
    #[arg(long, default_value_t = 3, value_name = "N")]
    rounds: usize,
    #[command(flatten)]
    product: Product,
}

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub(super) enum LoopError {
    #[error("{doing}: {source}")]
    Io {
        doing: &'static str,
        source: std::io::Error,
    },
    #[error("{0} did not end well")]
    Failed(String),
}

pub(super) trait Doing<T> {
    fn doing(self, doing: &'static str) -> Result<T, LoopError>;
}

impl<T> Doing<T> for std::io::Result<T> {
    fn doing(self, doing: &'static str) -> Result<T, LoopError> {
        self.map_err(|source| LoopError::Io { doing, source })
    }
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let program = match arguments.product.program() {
        Ok(program) => program,
        Err(code) => return code,
    };
    match measure(arguments, &program) {
        Ok(report) => report.print(),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

impl Arguments {
    /// Returns what is measured unless told otherwise.
    pub(super) fn usual(program: &Path) -> Self {
        Self {
            tasks: 200,
            rounds: 3,
            product: Product::at(program),
        }
    }
}

/// The name of the fact that tells how much times vary.
pub(super) const SPREAD: &str = "spread of the bare loop's processor time";

pub(super) fn measure(arguments: &Arguments, program: &Path) -> Result<Report, LoopError> {
    let (tasks, rounds) = (arguments.tasks, arguments.rounds);
    let mut report = Report::default();
    let plain = Subject::new(program, Kind::Plain, tasks, 0);
    let over_bare = plain.over_bare(rounds, &mut report)?;
    report.fact(SPREAD, format!("{:.0} %", over_bare.spread));
    let in_git = Subject::new(program, Kind::Git, FEW, 0);
    let in_git_over_bare = in_git.over_bare(rounds, &mut report)?;
    let large_git = Subject::new(program, Kind::LargeGit, TASKS_AMONG_MANY_FILES, 0);
    let large_git = large_git.over_bare(1, &mut report)?;
    let few = Subject::new(program, Kind::Plain, FEW, 0).costs(rounds, &mut report)?;
    let large = Subject::new(program, Kind::Plain, FEW, LARGE_FILE).costs(rounds, &mut report)?;
    let one = Subject::new(program, Kind::Plain, 1, 0).over_bare(STARTS, &mut report)?;
    report.fact(
        "MB of memory with 2 MB of tasks",
        format!("{:.1}", large.memory),
    );
    // Most of the syncs in git are git's own, so nothing is promised.
    let syncs = in_git.syncs_each()?.map(|syncs| format!("{syncs:.1}"));
    report.fact(
        "syncs per task in git, with commits",
        syncs.unwrap_or_else(|| NO_STRACE.to_owned()),
    );
    let growth = (large.cpu_each() - few.cpu_each()) / (LARGE_FILE as f64 / 1e6);
    let start_up = start_up(program, &mut report)?;
    report.promises = vec![
        Promise::at_most(
            "ms of processor time per task over the bare loop",
            over_bare.costs.cpu_each(),
            OVER_BARE,
        ),
        Promise::at_most("times the bare loop", over_bare.times_bare, TIMES_BARE),
        Promise::at_most(
            "times the bare loop in git, with commits",
            in_git_over_bare.times_bare,
            TIMES_BARE_IN_GIT,
        ),
        Promise::at_most(
            "times the bare loop among 50,000 files",
            large_git.times_bare,
            TIMES_BARE_IN_GIT,
        ),
        Promise::at_most(
            "ms of processor time of a one-task run",
            one.costs.cpu_each(),
            ONE_TASK,
        ),
        Promise::at_most("syncs per task (strace)", plain.syncs_each()?, SYNCS),
        Promise::at_most(
            "MB of memory of a one-task run",
            one.costs.memory,
            MEMORY_OF_ONE,
        ),
        Promise::at_most("MB of memory at most", over_bare.costs.memory, MEMORY),
        Promise::at_most(
            "ms from the start to the first agent",
            start_up.as_secs_f64() * 1e3,
            START_UP,
        ),
        Promise::at_most("ms per task and MB of task file", growth, GROWTH),
    ];
    Ok(report)
}

const NO_STRACE: &str = "strace is not installed";

/// Milliseconds of processor time per task, over the bare loop.
const OVER_BARE: f64 = 6.0;
/// Processor time as a multiple of the bare loop's.
const TIMES_BARE: f64 = 1.4;
const TIMES_BARE_IN_GIT: f64 = 2.0;
/// Milliseconds of processor time.
const ONE_TASK: f64 = 15.0;
/// The number of syncs per task.
const SYNCS: f64 = 14.0;
/// The memory of regreen itself, in MB.
const MEMORY: f64 = 20.0;
const MEMORY_OF_ONE: f64 = 16.0;
/// Milliseconds.
const START_UP: f64 = 30.0;
/// Milliseconds of processor time per task and MB of task file.
const GROWTH: f64 = 10.0;

/// The costs beyond the bare loop, and the ratio of the two.
struct OverBare {
    costs: Costs,
    times_bare: f64,
    /// How much longer the longest round of the bare loop took than the shortest, in percent.
    spread: f64,
}

/// What is measured: a program, and the project it works in.
struct Subject<'p> {
    program: &'p Path,
    kind: Kind,
    tasks: usize,
    /// The size of the task file, filled up with finished tasks.
    bytes: usize,
}

impl<'p> Subject<'p> {
    fn new(program: &'p Path, kind: Kind, tasks: usize, bytes: usize) -> Self {
        Self {
            program,
            kind,
            tasks,
            bytes,
        }
    }

    /// Returns the round with the least CPU time.
    fn costs(&self, rounds: usize, report: &mut Report) -> Result<Costs, LoopError> {
        let mut all = Vec::new();
        for _ in 0..rounds {
            let project = Project::new(self.kind, self.tasks, self.bytes)?;
            all.push(cost_of(&mut project.run(self.program), self.tasks)?);
        }
        let file = self.bytes.max(project::SMALL_FILE_PER_TASK * self.tasks) / 1000;
        report.fact(
            format!("ms each, {} tasks, {file} KB", self.tasks),
            listed(&all),
        );
        Ok(Costs::least(all))
    }

    /// Returns the costs beyond those of a shell loop that starts the same programs.
    fn over_bare(&self, rounds: usize, report: &mut Report) -> Result<OverBare, LoopError> {
        let mut bare = Vec::new();
        let mut all = Vec::new();
        for _ in 0..rounds {
            let project = Project::new(self.kind, self.tasks, self.bytes)?;
            bare.push(cost_of(&mut project.bare_loop(self.tasks), self.tasks)?);
            let project = Project::new(self.kind, self.tasks, self.bytes)?;
            all.push(cost_of(&mut project.run(self.program), self.tasks)?);
        }
        let what = format!("ms each, {} tasks, {}", self.tasks, self.kind.name());
        let rounds = format!("{} beside {}", listed(&all), listed(&bare));
        report.fact(what, rounds);
        let longest = bare.iter().map(Costs::cpu_each).fold(0.0, f64::max);
        let (bare, least) = (Costs::least(bare), Costs::least(all));
        Ok(OverBare {
            costs: least.less(&bare),
            times_bare: least.cpu_each() / bare.cpu_each(),
            spread: (longest / bare.cpu_each() - 1.0) * 100.0,
        })
    }

    /// Returns the number of syncs per task; `None` if unknown.
    fn syncs_each(&self) -> Result<Option<f64>, LoopError> {
        let project = Project::new(self.kind, FEW, self.bytes)?;
        let syncs = costs::count_syncs(&project.run(self.program))?;
        Ok(syncs.map(|syncs| syncs as f64 / FEW as f64))
    }
}

fn listed(costs: &[Costs]) -> String {
    let shown = costs.iter().map(|costs| format!("{:.2}", costs.cpu_each()));
    shown.collect::<Vec<_>>().join(", ")
}

/// Returns the time from the start of the program to the first line of the first agent. It includes
/// the start of the shell that the agent is.
fn start_up(program: &Path, report: &mut Report) -> Result<Duration, LoopError> {
    let mut all = Vec::new();
    for _ in 0..STARTS {
        let project = Project::new(Kind::Plain, 200, 0)?;
        all.push(project.time_to_first_agent(program)?);
    }
    all.sort_unstable();
    let shown = |time: Option<&Duration>| time.map_or(0.0, Duration::as_secs_f64) * 1e3;
    report.fact(
        format!("ms until the first agent, {STARTS} times"),
        format!(
            "{:.1} to {:.1}, in the middle {:.1}",
            shown(all.first()),
            shown(all.last()),
            shown(all.get(STARTS / 2)),
        ),
    );
    Ok(all.first().copied().unwrap_or_default())
}

/// Runs a command to its end, without its output.
pub(super) fn finish(command: &mut Command) -> Result<(), LoopError> {
    let output = command.output().doing("start a program")?;
    match output.status.success() {
        true => Ok(()),
        false => Err(LoopError::Failed(format!("{command:?}"))),
    }
}
