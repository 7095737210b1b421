//! The command line, and the arguments of the read-only commands.

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use regreen_model::{FailureKind, TaskId, Timestamp};
use regreen_overview::AnswerChoice;

use crate::commands::Command;
use crate::config::{Count, TimeSpan};
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
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        hide_possible_values = true,
        help = "When to use colors: auto, always, never"
    )]
    pub color: ColorChoice,
    #[command(subcommand)]
    pub command: Command,
}

/// When to use colors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Also in pipes and files
    Always,
    /// Not at all
    Never,
}

#[derive(Debug, Args)]
pub struct Status {
    /// Spec name or folder, or a task file [default: the current or only spec]
    #[arg(value_name = "SPEC|FILE")]
    pub spec: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct StopRun {
    /// Let the run finish the task that it is working on, and its fixes; returns at once
    #[arg(long)]
    pub after_task: bool,
}

#[derive(Debug, Args)]
pub struct AcceptPlan {
    /// Spec name or folder, or a task file [default: the current or only spec]
    #[arg(value_name = "SPEC|FILE")]
    pub spec: Option<String>,
    /// Show the changes without applying them
    #[arg(long)]
    pub dry_run: bool,
}

/// Which task of which spec.
#[derive(Clone, Debug, Args)]
pub struct OneTask {
    /// Task id, or its position (1, 2, 3 …) in a list without ids
    pub task: String,
    /// Line of the row, if several tasks have this id
    #[arg(long, value_name = "N")]
    pub line: Option<usize>,
    /// Spec name or folder, or a task file [default: the current or only spec]
    #[arg(long, value_name = "SPEC|FILE")]
    pub spec: Option<String>,
}

/// Which task of which spec, or the current one.
#[derive(Debug, Args)]
pub struct MaybeTask {
    /// Task id, or its position (1, 2, 3 …) in a list without ids [default: the current or last task]
    pub task: Option<String>,
    /// Line of the row, if several tasks have this id [default: an open one]
    #[arg(long, value_name = "N", requires = "task")]
    pub line: Option<usize>,
    /// Spec name or folder, or a task file [default: the current or only spec]
    #[arg(long, value_name = "SPEC|FILE")]
    pub spec: Option<String>,
}

#[derive(Debug, Args)]
pub struct WhyTask {
    #[command(flatten)]
    pub which: MaybeTask,
    /// Include the diff of each attempt
    #[arg(long)]
    pub diff: bool,
}

/// The history of a task, once it is known which.
#[derive(Debug)]
pub struct Why {
    pub which: OneTask,
    /// Include the diff of each attempt.
    pub diff: bool,
}

#[derive(Debug, Args)]
pub struct Ps {
    /// Also list runs that ended more than a day ago
    #[arg(long)]
    pub all: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Questions {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Answer {
    /// Task that the question is about, as `regreen questions` lists it
    pub question: String,
    /// What to do with it
    #[arg(value_parser = answer_choice())]
    pub choice: AnswerChoice,
    /// With `context`: what the agent should know
    pub text: Option<String>,
}

#[derive(Debug, Args)]
pub struct Attach {
    /// Spec name or folder, or a task file [default: the one that is running here, or the current
    /// or only spec]
    #[arg(value_name = "SPEC|FILE")]
    pub spec: Option<String>,
    /// Print one JSON event per line
    #[arg(long)]
    pub json: bool,
    /// Print lines as `regreen run` does, also on a terminal
    #[cfg(feature = "tui")]
    #[arg(long, conflicts_with = "json")]
    pub lines: bool,
}

#[cfg(feature = "dashboard")]
#[derive(Debug, Args)]
pub struct Serve {
    /// Port to listen on; 0 for any that is free
    #[arg(long, value_name = "N", default_value_t = 4747)]
    pub port: u16,
    /// Open it in your browser
    #[arg(long)]
    pub open: bool,
    /// Listen on another address of this machine, so that others can reach it
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1")]
    pub listen: std::net::IpAddr,
    /// Only show: no answers, no stop, no retry, no skip
    #[arg(long)]
    pub read_only: bool,
}

#[derive(Debug, Args)]
pub struct Report {
    /// Run id, as shown by `regreen why` [default: the newest run]
    pub run: Option<String>,
    /// Write a page for a browser to this file, which loads nothing else
    #[arg(long, value_name = "FILE", conflicts_with_all = ["markdown", "json"])]
    pub html: Option<PathBuf>,
    /// Write test results in JUnit's format to this file: a test for each task
    #[arg(long, value_name = "FILE", conflicts_with_all = ["html", "markdown", "json"])]
    pub junit: Option<PathBuf>,
    /// Print Markdown
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Spec name or folder, or a task file [default: the current or only spec]
    #[arg(long, value_name = "SPEC|FILE")]
    pub spec: Option<String>,
}

/// Which attempt of which task.
#[derive(Debug, Args)]
pub struct OneAttempt {
    #[command(flatten)]
    pub which: OneTask,
    /// Attempt number within the run
    #[arg(value_name = "N")]
    pub attempt: Option<u32>,
    /// Run id, as shown by `regreen why` [default: the newest run of the task]
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
}

#[derive(Debug, Args)]
pub struct Log {
    #[command(flatten)]
    pub which: MaybeTask,
    /// Attempt number within the run
    #[arg(value_name = "N")]
    pub attempt: Option<u32>,
    /// Run id, as shown by `regreen why` [default: the newest run of the task]
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Print the output of Verify instead of the agent's
    #[arg(long)]
    pub verify: bool,
    /// Keep printing until the attempt has ended
    #[arg(long, short, conflicts_with = "verify")]
    pub follow: bool,
}

#[derive(Debug, Args)]
pub struct Journal {
    /// Run id, as shown by `regreen why` [default: the newest run]
    pub run: Option<String>,
    /// Spec name or folder, or a task file [default: the current or only spec]
    #[arg(long, value_name = "SPEC|FILE")]
    pub spec: Option<String>,
}

#[derive(Debug, Args)]
pub struct Bundle {
    /// Run id, as shown by `regreen why` [default: the newest run]
    pub run: Option<String>,
    /// Archive to write; never overwritten [default: regreen-RUN.tar]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Spec name or folder, or a task file [default: the current or only spec]
    #[arg(long, value_name = "SPEC|FILE")]
    pub spec: Option<String>,
}

#[derive(Debug, Args)]
pub struct Replay {
    /// Output of `regreen journal`, or `-` for standard input
    pub file: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Lint {
    /// Spec name or folder, or a task file [default: the current or only spec]
    #[arg(value_name = "SPEC|FILE")]
    pub spec: Option<String>,
}

#[derive(Debug, Args)]
pub struct Explain {
    /// Log file, or `-` for standard input [default: -]
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Exit code of the command
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub exit_code: Option<i32>,
    /// Signal that killed the command, by number or name
    #[arg(long, value_name = "N")]
    pub signal: Option<String>,
    /// The command hit a time limit
    #[arg(long)]
    pub timed_out: bool,
    /// Command that printed the log
    #[arg(long, value_name = "C", allow_hyphen_values = true)]
    pub command: Option<String>,
    /// Who printed the log
    #[arg(long, value_enum, default_value = "command")]
    pub source: ExplainSource,
    /// Log of a green run: lines that it prints as well are not the cause; can be repeated
    #[arg(long, value_name = "GREEN", conflicts_with = "report")]
    pub baseline: Vec<PathBuf>,
    /// Print a report that ends in `<task_metadata>`, as `delegate` does
    #[arg(long, conflicts_with_all = ["json", "report"])]
    pub report_text: bool,
    /// Parse the input as a failure report and print it as JSON
    #[arg(long, conflicts_with = "plan")]
    pub report: bool,
    /// Print what an agent reports about a failed task as a JSON object: taskId, failed, error,
    /// attemptedFix, status, rawOutput
    #[arg(long, requires = "task", conflicts_with_all = ["json", "report", "report_text", "plan"])]
    pub failure_object: bool,
    /// Task that the report is about
    #[arg(long, value_name = "ID", requires = "failure_object", value_parser = task_id)]
    pub task: Option<TaskId>,
    /// Also show what a run with --recovery-mode would do; on a terminal without FILE, for every
    /// kind of failure
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
pub struct Failures {
    /// Only failures since: 24h, 30m, 2026-11-01, 2026-11-01T08:30Z [default: all]
    #[arg(long, value_name = "TIME|DATE")]
    pub since: Option<Since>,
    /// Only failures of this kind, such as missing_file
    #[arg(long, value_name = "KIND", value_parser = kind(), hide_possible_values = true)]
    pub kind: Option<FailureKind>,
    /// Only the last N failures
    #[arg(long, value_name = "N")]
    pub limit: Option<Count>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Stats {
    /// Only what happened since: 30d, 24h, 2026-11-01, or all [default: 30d]
    #[arg(long, value_name = "TIME|DATE|all")]
    pub since: Option<StatsPeriod>,
    /// Only runs of the spec with this name
    #[arg(long, value_name = "SPEC")]
    pub spec: Option<String>,
    /// Only runs and delegations with this agent
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// Only this workspace
    #[arg(long)]
    pub here: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print only what exceeds the thresholds in your configuration, and exit with code 1 if
    /// anything does
    #[arg(long, conflicts_with = "since")]
    pub check: bool,
}

/// Since when failures count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatsPeriod {
    All,
    Since(Since),
}

impl FromStr for StatsPeriod {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self::All),
            text => text.parse().map(Self::Since),
        }
    }
}

// A doc comment here would become the description of the command.
#[derive(Debug, Subcommand)]
pub enum HistoryCommand {
    /// Forget what was learnt in this workspace; its earlier runs are not learnt again
    Forget(ForgetHistory),
    /// Write the whole history as one line of JSON per run
    Export(ExportHistory),
    /// Add an exported history to yours
    Import(ImportHistory),
}

#[derive(Debug, Args)]
pub struct ForgetHistory {
    /// Forget all workspaces
    #[arg(long)]
    pub all: bool,
}

#[derive(Debug, Args)]
pub struct ExportHistory {
    /// File to write; never overwritten [default: standard output]
    pub file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ImportHistory {
    /// Output of `regreen history export`, or `-` for standard input
    pub file: PathBuf,
}

/// A point in time, or how long ago it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    Ago(TimeSpan),
    At(Timestamp),
}

impl Since {
    #[must_use]
    pub fn moment(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Ago(span) => Timestamp::from_millis(now.as_millis().saturating_sub(span.ms())),
            Self::At(at) => at,
        }
    }
}

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(at) = Timestamp::parse_utc(text) {
            return Ok(Self::At(at));
        }
        let span = text.parse().map(Self::Ago);
        span.map_err(|_| {
            format!("invalid time `{text}`; write 24h, 30m, 2026-11-01 or 2026-11-01T08:30Z")
        })
    }
}

/// Parses a task id.
pub fn task_id(text: &str) -> Result<TaskId, String> {
    TaskId::parse(text).ok_or_else(|| "ids look like 1.3, T012, V4 or US-001".to_owned())
}

/// Parses what a person answers, and lists what follows.
fn answer_choice() -> impl TypedValueParser<Value = AnswerChoice> {
    let value = |choice: AnswerChoice| PossibleValue::new(choice.name()).help(choice.effect());
    PossibleValuesParser::new(AnswerChoice::ALL.map(value))
        .try_map(|name| AnswerChoice::from_name(&name).ok_or("unknown choice"))
}

/// Parses a kind of failure. An unknown one is answered with the known ones.
fn kind() -> impl TypedValueParser<Value = FailureKind> {
    let names = FailureKind::ALL.map(FailureKind::name);
    PossibleValuesParser::new(names)
        .try_map(|name| FailureKind::from_name(&name).ok_or("unknown kind"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_date_or_a_span_before_now() {
        let now = Timestamp::from_millis(10_000_000);
        let moment = |text: &str| text.parse::<Since>().unwrap().moment(now).as_millis();
        assert_eq!(moment("1h"), 10_000_000 - 3_600_000);
        assert_eq!(moment("365d"), 0);
        assert_eq!(moment("1970-01-02"), 86_400_000);
        assert_eq!(
            "yesterday".parse::<Since>().unwrap_err(),
            "invalid time `yesterday`; write 24h, 30m, 2026-11-01 or 2026-11-01T08:30Z"
        );
    }
}
