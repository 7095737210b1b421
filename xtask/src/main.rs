//! The repository's own commands: `cargo xtask --help`.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool for contributors"
)]

mod agents_e2e;
mod bench;
mod fuzz_documents;
mod repository;
mod simulate;
mod sweep;
mod test;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Checks, sweeps and measurements of this repository.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Everything that must be green before a change is merged.
    ///
    /// Formatting, clippy with warnings as errors, all tests (the guards of the architecture
    /// among them), doc tests, and the rules for dependencies. Stops at the first failure
    /// with its exit code.
    Test,
    /// Compares how regreen, comrak and tree-sitter-md read made-up task files.
    ///
    /// Every difference must have an explanation that holds; anything else is shown as
    /// small as it can be made, and fails the command.
    FuzzDocuments(fuzz_documents::Arguments),
    /// Runs the real agents against a scripted model on this machine.
    ///
    /// Installs their programs at known versions into the build folder, which needs a
    /// network; no agent reaches one. Prints what came of every cell and fails if one is not
    /// as it should be.
    AgentsE2e(agents_e2e::Arguments),
    /// Simulates runs, and checks after every step what must hold whatever happens.
    ///
    /// What does not hold is shown as small as it can be made, with a journal for
    /// `regreen replay`, and fails the command.
    Simulate(simulate::Arguments),
    /// Measures, in a release build.
    Bench {
        #[command(subcommand)]
        what: bench::Bench,
    },
    /// Long versions of tests that CI runs in short.
    Sweep {
        #[command(subcommand)]
        what: sweep::Sweep,
    },
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Test => test::run(),
        Command::FuzzDocuments(arguments) => fuzz_documents::run(&arguments),
        Command::AgentsE2e(arguments) => agents_e2e::run(&arguments),
        Command::Simulate(arguments) => simulate::run(&arguments),
        Command::Bench { what } => bench::run(&what),
        Command::Sweep { what } => sweep::run(&what),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
