//! The command line, and the arguments of the commands that only read.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, ValueEnum};
use regreen_model::{FailureKind, Timestamp};

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
    /// A spec's name, its folder, or a task file [default: the current or the only spec]
    #[arg(value_name = "SPEC|FILE")]
    pub spec: Option<String>,
    /// As JSON, for scripts
    #[arg(long)]
    pub json: bool,
}

/// Which task of which spec.
#[derive(Debug, Args)]
pub struct OneTask {
    /// The task's id; by position (1, 2, 3 …) in a list without ids
    pub task: String,
    /// The row's line, where several tasks have the id [default: the first of them]
    #[arg(long, value_name = "N")]
    pub line: Option<usize>,
    /// A spec's name, its folder, or a task file [default: the current or the only spec]
    #[arg(long, value_name = "SPEC|FILE")]
    pub spec: Option<String>,
}

#[derive(Debug, Args)]
pub struct Why {
    #[command(flatten)]
    pub which: OneTask,
    /// With what each attempt changed, line by line
    #[arg(long)]
    pub diff: bool,
}

/// Which attempt of which task.
#[derive(Debug, Args)]
pub struct OneAttempt {
    #[command(flatten)]
    pub which: OneTask,
    /// The attempt, by its number in the run
    #[arg(value_name = "N")]
    pub attempt: Option<u32>,
    /// The run, as `regreen why` names it [default: the newest that has the task]
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
}

#[derive(Debug, Args)]
pub struct Log {
    #[command(flatten)]
    pub attempt: OneAttempt,
    /// What Verify printed instead of what the agent printed
    #[arg(long)]
    pub verify: bool,
}

#[derive(Debug, Args)]
pub struct Journal {
    /// The run, as `regreen why` names it [default: the newest]
    pub run: Option<String>,
    /// A spec's name, its folder, or a task file [default: the current or the only spec]
    #[arg(long, value_name = "SPEC|FILE")]
    pub spec: Option<String>,
}

#[derive(Debug, Args)]
pub struct Replay {
    /// What `regreen journal` printed, or `-` for standard input
    pub file: PathBuf,
    /// As JSON, for scripts
    #[arg(long)]
    pub json: bool,
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
    /// As a report that ends in `<task_metadata>`, like that of `delegate`
    #[arg(long, conflicts_with_all = ["json", "report"])]
    pub report_text: bool,
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
pub struct Failures {
    /// Only those since then: 24h, 30m, 2026-11-01, 2026-11-01T08:30Z [default: all]
    #[arg(long, value_name = "TIME|DATE")]
    pub since: Option<Since>,
    /// Only those of a kind: missing_file
    #[arg(long, value_name = "KIND", value_parser = kind)]
    pub kind: Option<FailureKind>,
    /// Only the last so many
    #[arg(long, value_name = "N")]
    pub limit: Option<Count>,
    /// As JSON, for scripts
    #[arg(long)]
    pub json: bool,
}

/// A moment, or how long ago one was.
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
            format!("`{text}` is no time; write 24h, 30m, 2026-11-01 or 2026-11-01T08:30Z")
        })
    }
}

fn kind(name: &str) -> Result<FailureKind, String> {
    FailureKind::from_name(name).ok_or_else(|| {
        format!("there is no kind of failure `{name}`; `regreen failures` shows those there were, as missing_file")
    })
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
            "`yesterday` is no time; write 24h, 30m, 2026-11-01 or 2026-11-01T08:30Z"
        );
    }
}
