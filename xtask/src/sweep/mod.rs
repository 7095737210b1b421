//! `cargo xtask sweep`: long versions of tests that CI runs in short.

mod kills;
mod output;

use std::process::{Command, ExitCode};

use clap::Subcommand;

use crate::repository;

#[derive(Debug, Subcommand)]
pub(crate) enum Sweep {
    /// Kills runs at random moments, each once with SIGKILL, and lets the next go on.
    ///
    /// The end must be that of a run that nobody disturbed, nothing may be done twice, and
    /// nothing that was started may live on. There are two plans, one of which needs healing;
    /// each is run in git and outside.
    Kills(kills::Arguments),
    /// Lets agents and a Verify print a gigabyte each.
    ///
    /// All of it must be in the log, and regreen must stay below 64 MB of memory.
    Output(output::Arguments),
}

pub(crate) fn run(sweep: &Sweep) -> ExitCode {
    match sweep {
        Sweep::Kills(arguments) => kills::run(arguments),
        Sweep::Output(arguments) => output::run(arguments),
    }
}

/// The call of one of regreen's tests, which says what it sees.
fn test(name: &str) -> Command {
    let mut cargo = repository::cargo(&["test", "--quiet", "--package", "regreen"]);
    cargo.args(["--test", name, "--", "--nocapture", "--test-threads=1"]);
    cargo
}
