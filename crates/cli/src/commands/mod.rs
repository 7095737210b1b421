//! One file per command.

mod completions;
mod config;
mod explain;
mod init;
mod lint;
mod man;
mod run;
mod tasks;

use crate::arguments::Command;
use crate::exit::Exit;
use crate::problem::Problem;

pub use lint::here;

pub fn run(command: Command) -> Result<Exit, Problem> {
    match command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Lint(arguments) => lint::run(&arguments),
        Command::Init(arguments) => init::run(&arguments),
        Command::Explain(arguments) => explain::run(arguments),
        Command::Config(arguments) => config::run(&arguments),
        Command::Tasks(command) => tasks::run(&command),
        Command::Completions { shell } => completions::run(shell),
        Command::Man { command } => man::run(&command),
    }
}
