//! The repository's own commands: `cargo xtask --help`.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool for contributors"
)]

mod agents_e2e;
mod bench;
mod browser;
mod fuzz_documents;
mod python;
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
    /// Runs everything that must pass before a change is merged.
    ///
    /// Formatting, clippy with warnings as errors, all tests including the architecture guards, doc
    /// tests, and the rules for dependencies. Stops at the first failure with its exit code.
    Test,
    /// Compares how regreen, comrak and tree-sitter-md read generated task files.
    ///
    /// Every difference must have an explanation that holds; any other is shrunk, shown, and fails
    /// the command.
    FuzzDocuments(fuzz_documents::Arguments),
    /// Runs the real agents against a scripted model on this machine.
    ///
    /// Installs their programs at known versions into the build folder, which needs a network; no
    /// agent reaches one. Prints the result of every scenario, and fails if one is wrong.
    AgentsE2e(agents_e2e::Arguments),
    /// Uses the dashboard in a real browser.
    ///
    /// Installs Debian's chromium if it is missing. A run is watched, a question answered, a blamed
    /// line found and a report opened, on a desktop and on a phone, without an error of the browser
    /// and without a violation that axe-core finds. A run of 10,000 tasks must be shown fast, with little memory.
    Browser(browser::Arguments),
    /// Builds the Python package with regreen in it, and tests it.
    ///
    /// Installs the tools at known versions into the build folder, which needs a network the first time.
    /// The tests run with nothing but the wheel installed, and mypy checks the package and a user of it.
    Python(python::Arguments),
    /// Simulates runs, and checks the invariants after every step.
    ///
    /// A violation is shrunk, shown with a journal for `regreen replay`, and fails the command.
    Simulate(simulate::Arguments),
    /// Measures release builds.
    ///
    /// Without a name, runs all benchmarks, fails if more than 20 % more instructions are executed than the
    /// baseline says, and writes the tables of docs/benchmarks.md.
    Bench(bench::Arguments),
    /// Runs long versions of tests that CI runs in a short form.
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
        Command::Browser(arguments) => browser::run(&arguments),
        Command::Python(arguments) => python::run(&arguments),
        Command::Simulate(arguments) => simulate::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
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
