//! `cargo xtask bench`: measurements, of what is built for release.

mod diagnosis;
mod run_loop;

use std::process::ExitCode;

use clap::Subcommand;

use crate::repository;

#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// Decoding what agents print.
    ///
    /// Prints speed and time per event, and fails if a promised speed is not kept.
    Agents,
    /// Reading and editing task files of up to 100,000 tasks.
    ///
    /// Prints a table of medians and fails if a promised time is not kept.
    Documents,
    /// How fast `regreen explain` reads a log, beside grep and ripgrep.
    ///
    /// Prints speed, memory and the time for a small log, and fails if a promise is not kept.
    Diagnosis(diagnosis::Arguments),
    /// Making a fix task and writing it into a file of 1,000 tasks.
    ///
    /// Prints the middle and the worst of many rounds and fails if a promise is not kept.
    Healing,
    /// What `regreen run` costs beside a shell loop that starts the same programs.
    ///
    /// Prints processor time, syncs, memory and start-up, and fails if a promise is not kept.
    Loop(run_loop::Arguments),
}

pub(crate) fn run(bench: &Bench) -> ExitCode {
    match bench {
        Bench::Agents => run_bench("regreen-agents", "decoding"),
        Bench::Diagnosis(arguments) => diagnosis::run(arguments),
        Bench::Documents => run_bench("xtask", "documents"),
        Bench::Healing => run_bench("xtask", "healing"),
        Bench::Loop(arguments) => run_loop::run(arguments),
    }
}

fn run_bench(package: &str, name: &str) -> ExitCode {
    let arguments = ["bench", "--quiet", "--package", package, "--bench", name];
    repository::run_cargo(&arguments)
}
