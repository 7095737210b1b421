//! `cargo xtask bench`: measurements, each a bench target of its own, built for release.

use std::process::ExitCode;

use clap::Subcommand;

use crate::repository;

#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// Reading and editing task files of up to 100,000 tasks.
    ///
    /// Prints a table of medians and fails if a promised time is not kept.
    Documents,
}

pub(crate) fn run(bench: &Bench) -> ExitCode {
    let name = match bench {
        Bench::Documents => "documents",
    };
    let arguments = ["bench", "--quiet", "--package", "xtask", "--bench", name];
    match repository::cargo(&arguments).status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cargo could not be started: {error}");
            ExitCode::FAILURE
        }
    }
}
