//! The final check: what passed must still pass when a run is about to end.

use serde::{Deserialize, Serialize};

use crate::{FailureRecord, Service, TaskKey, VerifyCommand, named_enum};

named_enum! {
    /// What follows if work that passed no longer passes at the end of a run.
    #[derive(
        Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
    )]
    #[serde(rename_all = "snake_case")]
    pub enum FinalCheckPolicy {
        /// The task is opened again; without recovery, the run fails.
        #[default]
        Fail = "fail",
        /// A warning.
        Warn = "warn",
        /// Nothing: the checks are not repeated.
        Off = "off",
    }
}

/// The check that a finished original has passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedVerify {
    /// The task.
    pub task: TaskKey,
    /// The commands of its Verify, as they were then.
    pub commands: Vec<VerifyCommand>,
    /// Whether the gate checks it where it has no command.
    pub has_gate: bool,
    /// The gate of the run in which it passed.
    #[serde(default)]
    pub gate: Option<String>,
    /// Whether it is a `[RED]` row.
    pub is_red: bool,
    /// How long the check took.
    pub took_ms: u64,
    /// The services that ran meanwhile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<Service>,
}

/// A check that the final check repeats, for all tasks that have the same one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepeatedCheck {
    /// The tasks whose Verify it is.
    pub tasks: Vec<TaskKey>,
    /// The commands.
    pub commands: Vec<VerifyCommand>,
    /// The command that runs where none of these is a command.
    pub gate: Option<String>,
    /// How long it took when it last passed.
    pub last_ms: u64,
    /// Whether nothing was attempted or repaired since it passed: if the files are still the
    /// same, it need not run again.
    pub is_latest: bool,
    /// The services that have to run meanwhile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<Service>,
}

impl RepeatedCheck {
    /// Returns its commands for people.
    #[must_use]
    pub fn shown(&self) -> String {
        let commands = self.commands.iter().map(|command| command.command.as_str());
        let shown: Vec<&str> = match &self.gate {
            Some(gate) if self.commands.is_empty() => vec![gate],
            _ => commands.collect(),
        };
        shown.join("; ")
    }
}

/// The result of one repeated check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepeatResult {
    /// The tasks whose Verify it is.
    pub tasks: Vec<TaskKey>,
    /// The commands, for people.
    pub check: String,
    /// How it ended.
    pub verdict: RepeatVerdict,
}

/// How a repeated check ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum RepeatVerdict {
    /// It passed again, or nothing has changed since it passed.
    Passed,
    /// It failed, then passed.
    Flaky,
    /// It failed twice.
    Red {
        /// Why it failed.
        failure: Box<FailureRecord>,
    },
    /// No time was left for it.
    OutOfTime,
}

/// A task that passed and no longer does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Regression {
    /// The task.
    pub task: TaskKey,
    /// The commands that fail, for people.
    pub check: String,
    /// Why they fail.
    pub failure: FailureRecord,
    /// The tasks that ran after it had passed, in that order: one of them broke it.
    pub since: Vec<TaskKey>,
}

/// A check that the final check left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotRepeated {
    /// The task.
    pub task: TaskKey,
    /// The commands that were left out, for people.
    pub check: String,
    /// Why they were left out.
    pub why: NotRepeatedReason,
}

named_enum! {
    /// Why the final check left out a check.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum NotRepeatedReason {
        /// It is the check of a `[RED]` row, which later rows turn green.
        Red = "red",
        /// It looks at git's history or at pull requests, which later tasks change.
        GitHistory = "git_history",
        /// No time was left.
        NoTime = "no_time",
    }
}

impl NotRepeatedReason {
    /// Returns the reason, for people.
    #[must_use]
    pub fn shown(self) -> &'static str {
        match self {
            Self::Red => "[RED]",
            Self::GitHistory => "checks git history",
            Self::NoTime => "no time left",
        }
    }
}
