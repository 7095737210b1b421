//! One file per command.

mod agents;
mod choose;
mod completions;
mod config;
mod delegate;
mod demo;
mod explain;
mod failures;
mod hook;
mod init;
mod inspect;
mod lint;
mod man;
mod replay;
mod run;
mod stop;
mod tasks;
mod undo;

use regreen_model::ChoiceKind;

use crate::arguments::{Command, Hook};
use crate::exit::Exit;
use crate::problem::Problem;

pub use demo::ProjectError;

pub fn run(command: Command) -> Result<Exit, Problem> {
    match command {
        Command::Demo => demo::run(),
        Command::Run(arguments) => run::run(&arguments),
        Command::Delegate(arguments) => delegate::run(&arguments),
        Command::Status(arguments) => inspect::status(&arguments),
        Command::Why(arguments) => inspect::why(&arguments),
        Command::Failures(arguments) => failures::run(&arguments),
        Command::Log(arguments) => inspect::log(&arguments),
        Command::Diff(arguments) => inspect::diff(&arguments),
        Command::Journal(arguments) => inspect::journal(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Undo(arguments) => undo::run(&arguments),
        Command::Skip(arguments) => choose::run(&arguments, ChoiceKind::Skip),
        Command::Done(arguments) => choose::run(&arguments, ChoiceKind::Done),
        Command::Retry(arguments) => choose::run(&arguments, ChoiceKind::Retry),
        Command::Stop => stop::run(),
        Command::Lint(arguments) => lint::run(&arguments),
        Command::Init(arguments) => init::run(&arguments),
        Command::Explain(arguments) => explain::run(arguments),
        Command::Config(arguments) => config::run(&arguments),
        Command::Agents(flags) => agents::run(flags),
        Command::Hook(Hook::Stop) => hook::stop(),
        Command::Tasks(command) => tasks::run(&command),
        Command::Completions { shell } => completions::run(shell),
        Command::Man { command } => man::run(&command),
    }
}
