//! `cargo xtask sweep`: long versions of tests that CI runs in short.

mod kills;

use std::process::ExitCode;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Sweep {
    /// Kills runs at random moments, each once with SIGKILL, and lets the next go on.
    ///
    /// The end must be that of a run that nobody disturbed, nothing may be done twice, and
    /// nothing that was started may live on. There are two plans, one of which needs healing;
    /// each is run in git and outside.
    Kills(kills::Arguments),
}

pub(crate) fn run(sweep: &Sweep) -> ExitCode {
    match sweep {
        Sweep::Kills(arguments) => kills::run(arguments),
    }
}
