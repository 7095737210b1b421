//! What can be said on the command line.

mod config;
mod delegate;
mod failures;
mod inspect;
mod run;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub use self::config::{Config, SchemaOf};
pub use self::delegate::Delegate;
pub use self::failures::{Failures, Since};
pub use self::inspect::{Journal, Log, OneAttempt, OneTask, Replay, Status, Why};
pub use self::run::Run;
pub use crate::config::{AgentFlags, SettingFlags};
use crate::exit::Exit;

/// Runs a task list through a coding agent and checks every result itself.
#[derive(Debug, Parser)]
#[command(
    name = "regreen",
    version,
    after_long_help = Exit::table(),
    max_term_width = 100,
    arg_required_else_help = true
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

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

#[derive(Debug, Args)]
pub struct Lint {
    /// A spec's name, its folder, or a task file [default: the current or the only spec]
    #[arg(value_name = "SPEC|FILE")]
    pub spec: Option<String>,
}

#[derive(Debug, Args)]
pub struct Explain {
    /// The log, or `-` for standard input [default: -]
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// As JSON, for scripts
    #[arg(long)]
    pub json: bool,
    /// The exit code it ended with
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub exit_code: Option<i32>,
    /// The signal that ended it, by number or name
    #[arg(long, value_name = "N")]
    pub signal: Option<String>,
    /// A time limit ended it
    #[arg(long)]
    pub timed_out: bool,
    /// The command that printed it
    #[arg(long, value_name = "C", allow_hyphen_values = true)]
    pub command: Option<String>,
    /// Whose words they are
    #[arg(long, value_enum, default_value = "command")]
    pub source: ExplainSource,
    /// The input is a failure report: print it as JSON
    #[arg(long, conflicts_with = "plan")]
    pub report: bool,
    /// Also say what a run with --recovery-mode would do about it; on a terminal, without FILE:
    /// about everything
    #[arg(long)]
    pub plan: bool,
}

/// Who printed a log.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ExplainSource {
    /// An agent's final message
    Agent,
    /// A command's output
    Command,
}

#[derive(Debug, Args)]
pub struct Init {
    /// The spec's name; its folder will be specs/NAME
    pub name: String,
}

#[derive(Debug, Subcommand)]
pub enum Hook {
    /// For Claude Code's Stop hook: reads its JSON from standard input, and keeps the session
    /// going while the current spec has open tasks
    Stop,
}

#[derive(Debug, Subcommand)]
pub enum Tasks {
    /// List the rows of a task file
    List {
        /// The task file
        file: PathBuf,
        /// As JSON, for scripts
        #[arg(long)]
        json: bool,
    },
    /// Tick a task's box
    Tick(Which),
    /// Empty a task's box
    Untick(Which),
    /// Insert a fix task after a failed task
    InsertFix(InsertFix),
}

/// Which row of which file, and whether to write it.
#[derive(Debug, Args)]
pub struct Which {
    /// The task file
    pub file: PathBuf,
    /// The task's id; by position (1, 2, 3 …) in a list without ids
    pub id: String,
    /// The row's line, where several tasks have the id [default: the first of them]
    #[arg(long, value_name = "N")]
    pub line: Option<usize>,
    /// Write the file instead of printing it
    #[arg(long)]
    pub write: bool,
}

#[derive(Debug, Args)]
pub struct InsertFix {
    #[command(flatten)]
    pub which: Which,
    /// What went wrong
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub error: OsString,
    /// What was tried against it
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        allow_hyphen_values = true
    )]
    pub attempted: OsString,
    /// What kind of error it is, in words: `missing file`
    #[arg(long, value_name = "WORDS", default_value = "")]
    pub error_type: String,
    /// The spec's name, for the commit message
    #[arg(long, value_name = "NAME", default_value = "")]
    pub spec: String,
}
