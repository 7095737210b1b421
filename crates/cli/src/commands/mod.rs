//! The commands: their list, and one module for each.

mod agents;
mod choices;
mod config;
mod delegate;
mod demo;
mod explain;
mod failures;
mod generate;
mod hook;
mod init;
mod inspect;
mod lint;
mod replay;
mod run;
mod stop;
mod tasks;
mod undo;

use clap::Subcommand;
use clap_complete::Shell;
use regreen_model::ChoiceKind;

use self::config::Config;
use self::delegate::Delegate;
use self::hook::Hook;
use self::init::Init;
use self::tasks::Tasks;
use crate::arguments::{
    Explain, Failures, Journal, Lint, Log, OneAttempt, OneTask, Replay, Status, Why,
};
use crate::config::AgentFlags;
use crate::exit::Exit;
use crate::problem::Problem;

pub use self::demo::ProjectError;
pub use self::run::Run;

// A doc comment would be taken for the program's description.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// See a run that heals, in a small project of its own; needs no agent and no network
    Demo,
    /// Run a task list through an agent, checking every result
    Run(Run),
    /// Have an agent do one thing: prints its answer, or a report of why it failed
    Delegate(Delegate),
    /// Show where a spec stands: its tasks, its run, what is used up
    Status(Status),
    /// Tell the story of a task: its attempts, reports, Verify and changes, in order
    Why(Why),
    /// List how attempts failed, what was tried about it, and whether it helped
    Failures(Failures),
    /// Print what an attempt printed [default: the last attempt]
    Log(Log),
    /// Show what a task and its fixes changed, or one attempt of it
    Diff(OneAttempt),
    /// Print a run step by step, one line of JSON each, for `regreen replay`
    Journal(Journal),
    /// Show a journal as its run was shown
    Replay(Replay),
    /// Take back in the working tree what a task changed, and open it again; commits stay
    Undo(OneTask),
    /// Leave a task out of coming runs, until `retry` takes that back
    Skip(OneTask),
    /// Say that a task is done: ticks it, without verifying it
    Done(OneTask),
    /// Open a task, and try it again as if it had never been tried
    Retry(OneTask),
    /// Ask the run that is at work here to stop; it can go on later
    Stop,
    /// Show what regreen understands of a task file, and what it will ignore
    Lint(Lint),
    /// Make a new spec with a commented task list
    Init(Init),
    /// Say why a command or an agent failed, from what it printed
    Explain(Explain),
    /// Show every setting, and where its value comes from
    Config(Config),
    /// Show which agents are installed, and how each would be called
    Agents(AgentFlags),
    /// Answer the hooks of agents: whether a session may stop
    #[command(subcommand)]
    Hook(Hook),
    /// Read and edit task files, for scripts
    #[command(subcommand)]
    Tasks(Tasks),
    /// Print a completion script for a shell
    Completions {
        /// The shell to complete in
        shell: Shell,
    },
    /// Print the manual page
    Man {
        /// Of a command: `regreen man tasks list`
        command: Vec<String>,
    },
}

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
        Command::Skip(arguments) => choices::run(&arguments, ChoiceKind::Skip),
        Command::Done(arguments) => choices::run(&arguments, ChoiceKind::Done),
        Command::Retry(arguments) => choices::run(&arguments, ChoiceKind::Retry),
        Command::Stop => stop::run(),
        Command::Lint(arguments) => lint::run(&arguments),
        Command::Init(arguments) => init::run(&arguments),
        Command::Explain(arguments) => explain::run(arguments),
        Command::Config(arguments) => config::run(&arguments),
        Command::Agents(flags) => agents::run(flags),
        Command::Hook(Hook::Stop) => hook::stop(),
        Command::Tasks(command) => tasks::run(&command),
        Command::Completions { shell } => generate::completions(shell),
        Command::Man { command } => generate::man(&command),
    }
}
