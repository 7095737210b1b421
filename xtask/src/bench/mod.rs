//! `cargo xtask bench`: measurements of release builds.

mod all;
mod diagnosis;
mod instructions;
mod long_history;
mod page;
mod promise;
mod run_loop;
mod watching;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::repository::{self, Product};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    bench: Option<Bench>,
    #[command(flatten)]
    all: all::Arguments,
}

#[derive(Debug, Subcommand)]
enum Bench {
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
    /// Counts the instructions of regreen's own process, which other work on the machine doesn't change.
    ///
    /// Needs valgrind. Fails if a count is more than 20 % above the baseline in
    /// xtask/benches/instructions.toml.
    Instructions(instructions::Arguments),
    /// Measures commands beside 500 earlier runs, and beside a plan of 10,000 tasks.
    ///
    /// Prints processor times, and fails if a promise is not kept.
    LongHistory(Product),
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let Some(bench) = &arguments.bench else {
        return all::run(&arguments.all);
    };
    match bench {
        Bench::Agents => run_bench("regreen-agents", "decoding"),
        Bench::Diagnosis(arguments) => diagnosis::run(arguments),
        Bench::Documents => run_bench("xtask", "documents"),
        Bench::Healing => run_bench("xtask", "healing"),
        Bench::History => run_bench("xtask", "history"),
        Bench::Loop(arguments) => run_loop::run(arguments),
        Bench::Watching(arguments) => watching::run(arguments),
        Bench::Instructions(arguments) => instructions::run(arguments),
        Bench::LongHistory(product) => long_history::run(product),
    }
}

fn run_bench(package: &str, name: &str) -> ExitCode {
    let arguments = ["bench", "--quiet", "--package", package, "--bench", name];
    repository::run_cargo(&arguments)
}
