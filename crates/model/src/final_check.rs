//! The final check: whatever passed in a run must still pass at its end.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{FailureRecord, Service, TaskKey, VerifyCommand, named_enum};

named_enum! {
    /// The policy for work that passed earlier but fails at the end of a run.
    #[derive(
        Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
    )]
    #[serde(rename_all = "snake_case")]
    pub enum FinalCheckPolicy {
        /// Reopen the task; without recovery, the run fails.
        #[default]
        Fail = "fail",
        /// Warn about it.
        Warn = "warn",
        /// Don't repeat the checks.
        Off = "off",
    }
}

/// The check that a finished original has passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedVerify {
    /// The task.
    pub task: TaskKey,
    /// The commands of its Verify at that time.
    pub commands: Vec<VerifyCommand>,
    /// Whether the gate checks it if none of these is a command.
    pub has_gate: bool,
    /// The gate of the run in which it passed.
    #[serde(default)]
    pub gate: Option<String>,
    /// Whether it is a `[RED]` row.
    pub is_red: bool,
    /// How long the check took.
    pub took_ms: u64,
    /// The services that ran during the check.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<Service>,
    /// The known failures with which it passed.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub known_failures: BTreeSet<String>,
}

/// A check that the final check repeats, once for all tasks that share it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepeatedCheck {
    /// The tasks that have this Verify.
    pub tasks: Vec<TaskKey>,
    /// The commands.
    pub commands: Vec<VerifyCommand>,
    /// The gate, which runs if none of these is a command.
    pub gate: Option<String>,
    /// How long it took when it last passed.
    pub last_ms: u64,
    /// Whether nothing has been attempted or repaired since it passed. If the files are unchanged
    /// too, it need not run again.
    pub is_latest: bool,
    /// The services that must run during the check.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<Service>,
    /// The known failures with which it passed.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub known_failures: BTreeSet<String>,
}

impl RepeatedCheck {
    /// Returns the commands, for people.
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
    /// The tasks that have this Verify.
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
    /// It failed, and so did only tests that are known failures.
    KnownFailures,
    /// It failed twice.
    Red {
        /// Why it failed.
        failure: Box<FailureRecord>,
    },
    /// There was no time left for it.
    OutOfTime,
}

/// A task that passed earlier and no longer does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Regression {
    /// The task.
    pub task: TaskKey,
    /// The commands that fail, for people.
    pub check: String,
    /// Why they fail.
    pub failure: FailureRecord,
    /// The tasks that ran since it passed, in order: one of them broke it.
    pub since: Vec<TaskKey>,
}

/// A check that was left out of the final check.
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
    /// Why a check was left out of the final check.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum NotRepeatedReason {
        /// It belongs to a `[RED]` row, whose result later rows change.
        Red = "red",
        /// It looks at git history or pull requests, which later tasks change.
        GitHistory = "git_history",
        /// There was no time left for it.
        NoTime = "no_time",
        /// No row of the plan is known to be the task any more.
        NotInPlan = "not_in_plan",
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
            Self::NotInPlan => "no longer in the plan",
        }
    }
}
