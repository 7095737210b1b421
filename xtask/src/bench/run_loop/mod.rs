//! `cargo xtask bench loop`: tasks that cost nothing, so that the remaining cost is regreen's own.
//!
//! The agent only says that it is done, and Verify is `true`, for 200 tasks in a file of 60 KB:
//! outside git, in git with a commit for each, and in a repository of 50,000 files. A shell loop
//! runs in alternation: it starts the same programs as often, and in git adds and commits
//! everything after each task. Other work on the machine can only add to a time, so the shortest of
//! several rounds counts; all are printed.

mod bars;
pub(super) mod costs;
mod project;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use bars::Bars;
use clap::Args;
use costs::{Costs, measure};
use project::{Kind, Project};

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
    match compare(arguments, &program) {
        Ok(bars) => bars.print(),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn compare(arguments: &Arguments, program: &Path) -> Result<Bars, LoopError> {
    let tasks = arguments.tasks;
    let plain = Subject::new(program, Kind::Plain, tasks, 0);
    let over_bare = plain.over_bare(arguments.rounds)?;
    let in_git = Subject::new(program, Kind::Git, FEW, 0);
    let large_git = Subject::new(program, Kind::LargeGit, TASKS_AMONG_MANY_FILES, 0);
    let few = Subject::new(program, Kind::Plain, FEW, 0).costs(arguments.rounds)?;
    let large = Subject::new(program, Kind::Plain, FEW, LARGE_FILE).costs(arguments.rounds)?;
    let bars = Bars {
        over_bare: over_bare.cpu_each(),
        times_bare: over_bare.times_bare,
        times_bare_in_git: in_git.over_bare(arguments.rounds)?.times_bare,
        times_bare_among_many_files: large_git.over_bare(1)?.times_bare,
        syncs: plain.syncs_each()?,
        memory: over_bare.costs.memory,
        start_up: start_up(program)?,
        growth: (large.cpu_each() - few.cpu_each()) / (LARGE_FILE as f64 / 1e6),
    };
    println!("memory with 2 MB of tasks: {:.1} MB", large.memory);
    tell_of_git(program, arguments.rounds)?;
    Ok(bars)
}

/// Prints the costs with a commit for every task. Most of that is git's, so nothing is promised.
fn tell_of_git(program: &Path, rounds: usize) -> Result<(), LoopError> {
    let in_git = Subject::new(program, Kind::Git, FEW, 0);
    let costs = in_git.costs(rounds)?;
    let syncs = in_git.syncs_each()?;
    println!(
        "  that is {:.1} ms by the clock, and syncs: {}",
        costs.wall_each(),
        syncs.map_or("no strace".to_owned(), |syncs| format!("{syncs:.1}"))
    );
    Ok(())
}

/// The costs beyond the bare loop, and the ratio of the two.
struct OverBare {
    costs: Costs,
    times_bare: f64,
}

impl OverBare {
    fn cpu_each(&self) -> f64 {
        self.costs.cpu_each()
    }
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
    fn costs(&self, rounds: usize) -> Result<Costs, LoopError> {
        let mut all = Vec::new();
        for _ in 0..rounds {
            let project = Project::new(self.kind, self.tasks, self.bytes)?;
            all.push(measure(&mut project.run(self.program), self.tasks)?);
        }
        let file = self.bytes.max(project::SMALL_FILE_PER_TASK * self.tasks) / 1000;
        println!(
            "{} tasks, {file} KB, {:?}: {} ms of processor time each",
            self.tasks,
            self.kind,
            listed(&all)
        );
        Ok(Costs::least(all))
    }

    /// Returns the costs beyond those of a shell loop that starts the same programs.
    fn over_bare(&self, rounds: usize) -> Result<OverBare, LoopError> {
        let mut bare = Vec::new();
        let mut all = Vec::new();
        for _ in 0..rounds {
            let project = Project::new(self.kind, self.tasks, self.bytes)?;
            bare.push(measure(&mut project.bare_loop(self.tasks), self.tasks)?);
            let project = Project::new(self.kind, self.tasks, self.bytes)?;
            all.push(measure(&mut project.run(self.program), self.tasks)?);
        }
        let (tasks, kind) = (self.tasks, self.kind);
        println!("{tasks} tasks, {kind:?}, ms of processor time each:");
        println!("  bare loop  {}", listed(&bare));
        println!("  regreen    {}", listed(&all));
        let (bare, least) = (Costs::least(bare), Costs::least(all));
        let times_bare = least.cpu_each() / bare.cpu_each();
        println!("  that is {times_bare:.2} times the bare loop");
        Ok(OverBare {
            costs: least.less(&bare),
            times_bare,
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
fn start_up(program: &Path) -> Result<Duration, LoopError> {
    let mut all = Vec::new();
    for _ in 0..STARTS {
        let project = Project::new(Kind::Plain, 200, 0)?;
        all.push(project.time_to_first_agent(program)?);
    }
    all.sort_unstable();
    println!(
        "start-up, {STARTS} times: {:.1} to {:.1} ms, in the middle {:.1}",
        all.first().map_or(0.0, Duration::as_secs_f64) * 1e3,
        all.last().map_or(0.0, Duration::as_secs_f64) * 1e3,
        all.get(STARTS / 2).map_or(0.0, Duration::as_secs_f64) * 1e3,
    );
    Ok(all.first().copied().unwrap_or_default())
}

/// Runs a command to its end, without its output.
fn finish(command: &mut Command) -> Result<(), LoopError> {
    let output = command.output().doing("start a program")?;
    match output.status.success() {
        true => Ok(()),
        false => Err(LoopError::Failed(format!("{command:?}"))),
    }
}
