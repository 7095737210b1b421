//! An attempt at a task: the task that was picked, the agent's prompt and events, and the result.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    Ending, FailureKind, FailureRecord, ModificationRequest, PlanChanges, Service, TaskFeatures,
    TaskKey, Timestamp, Usage, VerifyCommand, named_enum,
};

/// The task to run next. Its fields stay as they are for as long as the task is worked on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PickedTask {
    /// The task itself.
    pub task: TaskKey,
    /// The original at the end of its chain of fixes; the task itself if it isn't a fix.
    pub root: TaskKey,
    /// 0-based position of the root among the rows to run.
    pub index: u32,
    /// Rows to run, fixes included.
    pub total: u32,
    /// Whether it has a `[VERIFY]` marker, so that either signal word counts.
    pub is_verify: bool,
    /// Whether it has a `[RED]` marker: later rows change the result of its check.
    #[serde(default)]
    pub is_red: bool,
    /// Whether it is a group, which is verified and ticked but never run.
    pub is_group: bool,
    /// Whether the file contains fixes for it.
    #[serde(default)]
    pub has_fixes: bool,
    /// Whether it is a fix whose Verify differs from that of the task it fixes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_own_verify: bool,
    /// The Verify commands, as of when the task was first picked.
    pub verify: Vec<VerifyCommand>,
    /// Its commit message.
    pub commit: Option<String>,
    /// Whether its Commit field says not to commit.
    #[serde(default)]
    pub declines_commit: bool,
    /// How it failed in an earlier run that didn't finish it.
    #[serde(default)]
    pub failed_before: Option<FailureRecord>,
    /// The services that run during its attempts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<Service>,
    /// What its text shows. Journals of earlier versions don't say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features: Option<TaskFeatures>,
}

impl PickedTask {
    /// Returns whether its Verify states an expectation that regreen can't check.
    #[must_use]
    pub fn is_partly_checked(&self) -> bool {
        self.verify.iter().any(VerifyCommand::is_partly_checked)
    }

    /// Returns whether all it asks for is a service, which regreen runs itself.
    #[must_use]
    pub fn is_only_service(&self) -> bool {
        let mut services = self.services.iter();
        services.any(|service| service.is_whole_task && service.task == self.task)
    }

    /// Describes how its Verify is judged: one line per command judged by more than exit code 0.
    #[must_use]
    pub fn judged_by(&self) -> Vec<String> {
        let is_told =
            |command: &&VerifyCommand| command.expects.is_some() || command.is_partly_checked();
        let told = self.verify.iter().filter(is_told);
        told.map(VerifyCommand::judged_by).collect()
    }

    /// Returns whether it fixes another task.
    #[must_use]
    pub fn is_fix(&self) -> bool {
        self.task != self.root
    }
}

named_enum! {
    /// The reason for an attempt, which the prompt mentions besides the task itself.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum PromptKind {
        /// The first attempt.
        First = "first",
        /// The last attempt failed.
        Retry = "retry",
        /// The agent didn't signal completion, although everything else is fine.
        Reminder = "reminder",
        /// The last attempt changed nothing.
        NoOp = "no_op",
        /// The last attempt was interrupted.
        Interrupted = "interrupted",
        /// The last session couldn't be resumed.
        NewSession = "new_session",
        /// The last attempt lacked information, which regreen has looked up.
        Enriched = "enriched",
        /// The task made no progress within its time limit and must be split.
        Split = "split",
    }
}

/// An event that an agent reports while it works, in the same form for all agents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum AgentEvent {
    /// The session with which its conversation can be resumed.
    Session {
        /// The session's id.
        id: String,
    },
    /// The agent wrote text.
    Text {
        /// The text.
        text: String,
    },
    /// The agent began to use a tool.
    ToolStarted {
        /// The id of the call, which tells calls of the same tool apart.
        call: String,
        /// The tool's name.
        name: String,
        /// The command, path or pattern it works on, as the agent wrote it; empty if the agent
        /// doesn't say.
        #[serde(default)]
        input: String,
    },
    /// A tool call ended.
    ToolEnded {
        /// The call that ended.
        call: String,
        /// The tool's name.
        name: String,
        /// Whether the tool succeeded.
        ok: bool,
        /// The exit code, for tools that run commands.
        exit: Option<i32>,
    },
    /// The agent edited a file.
    FileEdited {
        /// The file's path, as the agent names it.
        path: String,
    },
    /// The agent reported its usage.
    Usage(Usage),
    /// The agent could not reach its model.
    Trouble(ApiTrouble),
    /// The agent asks a question or for permission, and waits for the answer.
    Question {
        /// The question.
        text: String,
        /// Whether the agent asks for permission.
        permission: bool,
    },
    /// The agent's last message: the only text in which regreen looks for signals and reports.
    FinalMessage {
        /// The message.
        text: String,
    },
    /// The agent says that it has finished. Without this event it hasn't, whatever its exit code.
    Terminal {
        /// Whether the agent calls its own run a success, which says nothing about the task.
        ok: bool,
    },
}

/// Trouble between the agent and its model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiTrouble {
    /// The possible response.
    pub class: TroubleClass,
    /// The kind of failure.
    pub kind: FailureKind,
    /// The service's message.
    pub message: String,
    /// The HTTP status, if there is one.
    pub status: Option<u16>,
    /// When the service is available again, if it said so.
    pub resets: Option<ResetTime>,
}

/// The possible response to trouble with the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TroubleClass {
    /// It may be temporary: wait and try again.
    Transient,
    /// Nothing this run does can help.
    Fatal,
    /// The conversation cannot continue; a new one may.
    Session,
}

/// When a service says that it will be available again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetTime {
    /// Milliseconds since 1970.
    At(i64),
    /// Milliseconds from the moment of the message.
    After(u64),
    /// The next time a clock shows this: `4pm (Europe/Berlin)`.
    Clock(ClockTime),
}

/// A time of day in a time zone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockTime {
    /// Month and day, if they are given.
    pub date: Option<(i8, i8)>,
    /// 0 to 23.
    pub hour: i8,
    /// 0 to 59.
    pub minute: i8,
    /// The zone's name in the time zone database; `None` if the service named none.
    pub zone: Option<String>,
}

/// How an attempt ended, as far as is known before Verify runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptReport {
    /// How the agent's process ended.
    pub ending: Ending,
    /// The class of the ending.
    pub class: AttemptClass,
    /// Whether the final message signals completion.
    pub signalled: bool,
    /// Whether the final message has a failure block for the task.
    pub reports_failure: bool,
    /// Words in the final message that contradict the signal.
    pub contradiction: Option<String>,
    /// A sentence of the final message that admits unfinished work. Its words alone prove nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admission: Option<String>,
    /// Why it failed; empty if it passed.
    #[serde(flatten)]
    pub failure: FailureRecord,
    /// How many files changed during the attempt.
    pub files_changed: u32,
    /// Whether the agent used a tool; `None` if it doesn't report that.
    pub used_tools: Option<bool>,
    /// The agent's session, if it named one.
    pub session: Option<String>,
    /// Whether the agent ended without saying that it had finished, or said that it failed.
    #[serde(default)]
    pub unfinished: bool,
    /// The agent's usage, if it reported any.
    #[serde(default)]
    pub usage: Option<Usage>,
    /// Whether tools, output or changed files showed progress.
    #[serde(default)]
    pub progressed: bool,
    /// The change to the plan that the agent asks for.
    #[serde(default)]
    pub modification: Option<Box<ModificationRequest>>,
    /// Processes that it left running, which regreen ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_running: Vec<String>,
    /// The commit that HEAD pointed to when the attempt ended.
    #[serde(default)]
    pub head: Option<String>,
    /// The agent's changes to the plan.
    pub plan: PlanChanges,
}

/// The class of an attempt's ending, which decides what the attempt is charged to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "class", rename_all = "snake_case")]
pub enum AttemptClass {
    /// The agent ran to its end; the attempt is charged to the task.
    #[default]
    Ordinary,
    /// The agent's service is unavailable, perhaps until a known time.
    Transient {
        /// The reason, for people.
        why: String,
        /// When the service will be available again, if known.
        until: Option<Timestamp>,
    },
    /// The attempt would fail the same way again.
    Fatal {
        /// The reason, for people.
        why: String,
    },
    /// The agent's session cannot be resumed.
    Session {
        /// The reason, for people.
        why: String,
    },
    /// regreen or the machine went down during the attempt, or the user asked to stop.
    Interrupted,
}

impl AttemptClass {
    /// Returns the name used in stored data.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ordinary => "ordinary",
            Self::Transient { .. } => "transient",
            Self::Fatal { .. } => "fatal",
            Self::Session { .. } => "session",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A note for people about a task that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// Nothing verified it, or not everything it states was checked.
    Unverified,
    /// Its Verify passed, but states an expectation that regreen can't check.
    ExpectationNotChecked,
    /// It is a fix whose own Verify failed; the task it fixes passed.
    VerifyFailed,
    /// Its Verify failed at first, then passed.
    Flaky,
    /// Tests that were red before the task, or whose failure a person has accepted, are still red.
    KnownFailures,
    /// No file was changed.
    NothingChanged,
    /// The agent ticked it while working on another task, and its Verify passed.
    Claimed,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unverified => "unverified",
            Self::ExpectationNotChecked => "expectation not checked",
            Self::VerifyFailed => "its own Verify failed",
            Self::Flaky => "flaky",
            Self::KnownFailures => "known failures",
            Self::NothingChanged => "nothing changed",
            Self::Claimed => "claimed by the agent",
        })
    }
}
