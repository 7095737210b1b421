//! The list of commands, and a module for each.

mod accept_plan;
mod agents;
pub mod answer;
mod attach;
mod baseline;
mod bundle;
mod choices;
mod ci;
mod config;
mod delegate;
mod demo;
mod explain;
mod failures;
mod generate;
mod history;
mod hook;
mod init;
pub mod inspect;
mod lint;
#[cfg(feature = "mcp")]
mod mcp;
mod ps;
mod questions;
mod replay;
mod report;
mod rules;
mod run;
#[cfg(feature = "dashboard")]
mod serve;
mod stats;
pub mod stop;
mod tasks;
#[cfg(feature = "tui")]
mod tui;
mod undo;
mod use_spec;

use clap::Subcommand;
use clap_complete::Shell;
use regreen_model::ChoiceKind;
use regreen_supervisor::is_started_by_a_run;

use self::baseline::Baseline;
use self::ci::Ci;
use self::config::Config;
use self::delegate::Delegate;
use self::hook::Hook;
use self::init::Init;
use self::rules::Rules;
use self::tasks::Tasks;
use self::use_spec::Use;
#[cfg(feature = "dashboard")]
use crate::arguments::Serve;
use crate::arguments::{
    AcceptPlan, Answer, Attach, Bundle, Explain, Failures, HistoryCommand, Journal, Lint, Log,
    OneAttempt, OneTask, Ps, Questions, Replay, Report, Stats, Status, StopRun, WhyTask,
};
use crate::config::AgentFlags;
use crate::exit::Exit;
use crate::problem::Problem;

pub use self::demo::ProjectError;
pub use self::run::Run;

// A doc comment here would become the program's description.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Watch a run heal itself in a throwaway project; needs no agent and no network
    Demo,
    /// Run a task list through a coding agent and check every result
    Run(Run),
    /// Give an agent one prompt and print its answer, or a report of why it failed
    Delegate(Delegate),
    /// Watch the checks of a pull request, and have what fails fixed until all is green
    Ci(Ci),
    /// List the runs of this machine: what each is doing, and what needs you
    Ps(Ps),
    /// List the open questions of all runs, across workspaces
    Questions(Questions),
    /// Answer a question of a run, which continues at once if it waits
    Answer(Answer),
    /// Show a run that was started anywhere; Ctrl-C leaves it running
    Attach(Attach),
    /// Watch and steer all runs in this terminal: tasks, attempts, logs, questions
    #[cfg(feature = "tui")]
    Tui,
    /// Serve a dashboard of all runs to your browser, on this machine only
    #[cfg(feature = "dashboard")]
    Serve(Serve),
    /// Serve other agents by the Model Context Protocol, on standard input and output
    #[cfg(feature = "mcp")]
    Mcp,
    /// Show what a run has done, and what to review first
    Report(Report),
    /// Show the progress of a spec: its tasks, its run and the limits used
    Status(Status),
    /// Show the history of a task: its attempts, reports, Verify and changes
    Why(WhyTask),
    /// List failed attempts, what was tried next, and whether it helped
    Failures(Failures),
    /// Print the output of an attempt [default: the last one]
    Log(Log),
    /// Show what a task and its fixes changed, or a single attempt
    Diff(OneAttempt),
    /// Print the journal of a run, one JSON step per line, for `regreen replay`
    Journal(Journal),
    /// Write a run to an archive for a bug report, with secrets masked
    Bundle(Bundle),
    /// Replay a journal as the run was displayed
    Replay(Replay),
    /// Revert the changes of a task in the working tree and reopen it; commits stay
    Undo(OneTask),
    /// Skip a task in future runs, until `regreen retry` reopens it
    Skip(OneTask),
    /// Mark a task as done without verifying it
    Done(OneTask),
    /// Reopen a task and reset its attempts
    Retry(OneTask),
    /// Apply changes to the task file that regreen reverted during a run, if you made them
    AcceptPlan(AcceptPlan),
    /// Stop the run in this workspace; `regreen run` resumes it
    Stop(StopRun),
    /// Show how regreen reads a task file, and what it ignores
    Lint(Lint),
    /// Create a spec with a commented task list, or set the workspace up for Claude Code
    Init(Init),
    /// Make a spec the current one, for regreen and for Claude Code's Stop hook
    Use(Use),
    /// Show how tasks went and what failed on this machine, across all workspaces
    Stats(Stats),
    /// Forget, export or import what regreen has learnt from failures
    #[command(subcommand)]
    History(HistoryCommand),
    /// Show and accept tests that are red
    #[command(subcommand)]
    Baseline(Baseline),
    /// Explain why a command or an agent failed, from its output
    Explain(Explain),
    /// List, test and try the rules that find causes, including your own
    #[command(subcommand)]
    Rules(Rules),
    /// Show all settings and where their values come from
    Config(Config),
    /// List the agents that are installed and how regreen calls them
    Agents(AgentFlags),
    /// Answer the hooks of a Claude Code session: may it stop, why did a command fail, what is open
    #[command(subcommand)]
    Hook(Hook),
    /// Read and edit task files from scripts
    #[command(subcommand)]
    Tasks(Tasks),
    /// Print a shell completion script
    Completions {
        /// Shell to generate the script for
        shell: Shell,
    },
    /// Print a manual page
    Man {
        /// Command to describe: `regreen man tasks list` [default: regreen itself]
        command: Vec<String>,
    },
}

impl Command {
    /// Whether the command makes a decision that is up to a person. Whether the work goes on is
    /// one as well: an agent that stops its run gets another attempt for free.
    fn decides(&self) -> bool {
        match self {
            // Whoever started it, it would decide for them.
            #[cfg(feature = "dashboard")]
            Self::Serve(arguments) => !arguments.read_only,
            Self::Baseline(command) => baseline::decides(command),
            // Whether commits leave the machine is up to a person as well.
            Self::Ci(_)
            | Self::Skip(_)
            | Self::Done(_)
            | Self::Retry(_)
            | Self::Undo(_)
            | Self::AcceptPlan(_)
            | Self::Stop(_)
            | Self::Answer(_)
            | Self::History(HistoryCommand::Forget(_) | HistoryCommand::Import(_)) => true,
            _ => false,
        }
    }
}

pub fn run(command: Command) -> Result<Exit, Problem> {
    // An agent, a check or a hook must not decide for a person.
    if command.decides() && is_started_by_a_run() {
        return Err(Problem::NotAPerson);
    }
    match command {
        Command::Demo => demo::run(),
        Command::Run(arguments) => run::run(&arguments),
        Command::Delegate(arguments) => delegate::run(&arguments),
        Command::Ci(arguments) => ci::run(&arguments),
        Command::Ps(arguments) => ps::run(&arguments),
        Command::Questions(arguments) => questions::run(&arguments),
        Command::Answer(arguments) => answer::run(&arguments),
        Command::Attach(arguments) => attach::run(&arguments),
        #[cfg(feature = "tui")]
        Command::Tui => tui::run(),
        #[cfg(feature = "dashboard")]
        Command::Serve(arguments) => serve::run(&arguments),
        #[cfg(feature = "mcp")]
        Command::Mcp => mcp::run(),
        Command::Report(arguments) => report::run(&arguments),
        Command::Status(arguments) => inspect::status(&arguments),
        Command::Why(arguments) => inspect::why_task(&arguments),
        Command::Failures(arguments) => failures::run(&arguments),
        Command::Log(arguments) => inspect::log(&arguments),
        Command::Diff(arguments) => inspect::diff(&arguments),
        Command::Journal(arguments) => inspect::journal(&arguments),
        Command::Bundle(arguments) => bundle::run(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Undo(arguments) => undo::run(&arguments),
        Command::Skip(arguments) => choices::run(&arguments, ChoiceKind::Skip),
        Command::Done(arguments) => choices::run(&arguments, ChoiceKind::Done),
        Command::Retry(arguments) => choices::run(&arguments, ChoiceKind::Retry),
        Command::AcceptPlan(arguments) => accept_plan::run(&arguments),
        Command::Baseline(command) => baseline::run(&command),
        Command::Stop(arguments) => stop::run(&arguments),
        Command::Lint(arguments) => lint::run(&arguments),
        Command::Init(arguments) => init::run(&arguments),
        Command::Use(arguments) => use_spec::run(&arguments),
        Command::Stats(arguments) => stats::run(&arguments),
        Command::History(command) => history::run(&command),
        Command::Explain(arguments) => explain::run(arguments),
        Command::Rules(command) => rules::run(&command),
        Command::Config(arguments) => config::run(&arguments),
        Command::Agents(flags) => agents::run(flags),
        Command::Hook(hook) => hook::run(&hook),
        Command::Tasks(command) => tasks::run(&command),
        Command::Completions { shell } => generate::completions(shell),
        Command::Man { command } => generate::man(&command),
    }
}
