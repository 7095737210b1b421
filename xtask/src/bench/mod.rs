//! `cargo xtask bench`: measurements of release builds.

mod diagnosis;
mod run_loop;
mod watching;

use std::process::ExitCode;

use clap::Subcommand;

use crate::repository;

#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// Measures decoding the output of agents.
    ///
    /// Prints speed and time per event, and fails if a promised speed is not reached.
    Agents,
    /// Measures reading and editing task files of up to 100,000 tasks.
    ///
    /// Prints a table of medians, and fails if a promised time is exceeded.
    Documents,
    /// Measures how fast `regreen explain` reads a log, compared with grep and ripgrep.
    ///
    /// Prints speed, memory and the time for a small log, and fails if a promise is not kept.
    Diagnosis(diagnosis::Arguments),
    /// Measures making a fix task and writing it into a file of 1,000 tasks.
    ///
    /// Prints the median and the worst of many rounds, and fails if a promise is not kept.
    Healing,
    /// Measures a history of 100,000 generated failures in 50 repositories.
    ///
    /// Prints how well clusters match the causes, the time of statistics, the size of the file, and how
    /// good predictions for unseen tasks are, and fails if a promise is not kept.
    History,
    /// Measures the overhead of `regreen run` over a shell loop that starts the same programs.
    ///
    /// Prints CPU time, syncs, memory and start-up, and fails if a promise is not kept.
    Loop(run_loop::Arguments),
    /// Measures how much a dashboard and `regreen attach` slow a run.
    ///
    /// Prints the times with and without them, and fails if the promise is not kept.
    Watching(watching::Arguments),
}

pub(crate) fn run(bench: &Bench) -> ExitCode {
    match bench {
        Bench::Agents => run_bench("regreen-agents", "decoding"),
        Bench::Diagnosis(arguments) => diagnosis::run(arguments),
        Bench::Documents => run_bench("xtask", "documents"),
        Bench::Healing => run_bench("xtask", "healing"),
        Bench::History => run_bench("xtask", "history"),
        Bench::Loop(arguments) => run_loop::run(arguments),
        Bench::Watching(arguments) => watching::run(arguments),
    }
}

fn run_bench(package: &str, name: &str) -> ExitCode {
    let arguments = ["bench", "--quiet", "--package", package, "--bench", name];
    repository::run_cargo(&arguments)
}
