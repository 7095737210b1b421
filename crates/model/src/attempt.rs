//! An attempt at a task: what is picked, what the agent is told, what it shows, how it ends.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    Ending, FailureKind, FailureRecord, ModificationRequest, PlanChanges, Service, TaskKey,
    Timestamp, Usage, VerifyCommand, named_enum,
};

/// A task that is next, with everything that is fixed once it is picked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PickedTask {
    /// The task itself.
    pub task: TaskKey,
    /// The original at the end of its chain of fixes; itself if it is not a fix.
    pub root: TaskKey,
    /// 0-based position of the root among the rows to run.
    pub index: u32,
    /// Rows to run, fixes included.
    pub total: u32,
    /// Whether its `[VERIFY]` marker lets it signal with either word.
    pub is_verify: bool,
    /// Whether its `[RED]` marker says that later rows change what its check finds.
    #[serde(default)]
    pub is_red: bool,
    /// Whether it is a group, which is verified and ticked, not run.
    pub is_group: bool,
    /// Whether the file has fixes of it.
    #[serde(default)]
    pub has_fixes: bool,
    /// Whether it is a fix with another Verify than the task that it fixes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_own_verify: bool,
    /// The commands as they were when the task was first picked.
    pub verify: Vec<VerifyCommand>,
    /// The message of its commit.
    pub commit: Option<String>,
    /// Whether its Commit field says that it has none.
    #[serde(default)]
    pub declines_commit: bool,
    /// How it failed in an earlier run that did not finish it.
    #[serde(default)]
    pub failed_before: Option<FailureRecord>,
    /// The services that run while it is worked on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<Service>,
}

impl PickedTask {
    /// Returns whether its Verify says something about the result that regreen can't check.
    #[must_use]
    pub fn is_partly_checked(&self) -> bool {
        self.verify.iter().any(VerifyCommand::is_partly_checked)
    }

    /// Returns whether it asks for nothing but a service that regreen runs itself.
    #[must_use]
    pub fn is_only_service(&self) -> bool {
        let mut services = self.services.iter();
        services.any(|service| service.is_whole_task && service.task == self.task)
    }

    /// Says how its Verify is judged, one line per command that isn't judged by exit code 0 alone.
    #[must_use]
    pub fn judged_by(&self) -> Vec<String> {
        let is_told =
            |command: &&VerifyCommand| command.expects.is_some() || command.is_partly_checked();
        let told = self.verify.iter().filter(is_told);
        told.map(VerifyCommand::judged_by).collect()
    }

    /// Returns whether it repairs another task.
    #[must_use]
    pub fn is_fix(&self) -> bool {
        self.task != self.root
    }
}

named_enum! {
    /// What an agent is told besides the task itself.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum PromptKind {
        /// Nothing: it is the first attempt.
        First = "first",
        /// How the last attempt failed.
        Retry = "retry",
        /// That it did not signal, though all else is well.
        Reminder = "reminder",
        /// That it changed nothing.
        NoOp = "no_op",
        /// That the last attempt was interrupted.
        Interrupted = "interrupted",
        /// That its last session could not be resumed.
        NewSession = "new_session",
        /// What the last attempt was missing, looked up.
        Enriched = "enriched",
        /// That the task made no progress in its time and has to be split.
        Split = "split",
    }
}

/// Something that an agent reports while it works, whichever agent it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum AgentEvent {
    /// The session by which its conversation can be resumed.
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
        /// Distinguishes calls of the same tool.
        call: String,
        /// The tool's name.
        name: String,
        /// The command, path or pattern that it is used on, as the agent wrote it; empty if the
        /// agent doesn't say.
        #[serde(default)]
        input: String,
    },
    /// A tool came back.
    ToolEnded {
        /// The call that ended.
        call: String,
        /// The tool's name.
        name: String,
        /// Whether the tool succeeded.
        ok: bool,
        /// The exit code, of tools that run commands.
        exit: Option<i32>,
    },
    /// The agent edited a file.
    FileEdited {
        /// The file's path, as the agent names it.
        path: String,
    },
    /// What the agent has used.
    Usage(Usage),
    /// The agent could not reach its model.
    Trouble(ApiTrouble),
    /// It asks a person, or asks for permission, and would wait.
    Question {
        /// The question.
        text: String,
        /// Whether the agent asks for permission.
        permission: bool,
    },
    /// What it said last: the only text that is read for signals and reports.
    FinalMessage {
        /// The message.
        text: String,
    },
    /// The agent has finished. One that ends without this has not finished, whatever its exit
    /// code.
    Terminal {
        /// Whether the agent calls its own run a success; that says nothing about the task.
        ok: bool,
    },
}

/// Trouble between the agent and its model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiTrouble {
    /// What can be done about it.
    pub class: TroubleClass,
    /// The kind of failure that it is.
    pub kind: FailureKind,
    /// What the service said.
    pub message: String,
    /// The HTTP status, where there is one.
    pub status: Option<u16>,
    /// When the service is available again, if it said so.
    pub resets: Option<ResetTime>,
}

/// What can be done about trouble with the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TroubleClass {
    /// It may pass: wait and try again.
    Transient,
    /// Nothing this run does can help.
    Fatal,
    /// The conversation cannot continue; a new one may.
    Session,
}

/// When a service is available again, as it says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetTime {
    /// Milliseconds since 1970.
    At(i64),
    /// Milliseconds from when the service said so.
    After(u64),
    /// The next time that a clock shows this: `4pm (Europe/Berlin)`.
    Clock(ClockTime),
}

/// A time of day somewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockTime {
    /// Month and day, if they are given.
    pub date: Option<(i8, i8)>,
    /// 0 to 23.
    pub hour: i8,
    /// 0 to 59.
    pub minute: i8,
    /// By its name in the time zone database; `None` if the service named no place.
    pub zone: Option<String>,
}

/// How an attempt ended, as far as is known before the work is verified.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptReport {
    /// How the agent's process ended.
    pub ending: Ending,
    /// How the end counts.
    pub class: AttemptClass,
    /// The final message signals completion.
    pub signalled: bool,
    /// The final message has a failure block for the task.
    pub reports_failure: bool,
    /// Words in the final message that contradict its signal.
    pub contradiction: Option<String>,
    /// A sentence of the final message that admits unfinished work, in words that alone prove
    /// nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admission: Option<String>,
    /// Why it failed; empty if it has passed.
    #[serde(flatten)]
    pub failure: FailureRecord,
    /// How many files differ from before.
    pub files_changed: u32,
    /// Whether the agent used a tool; `None` if it does not say.
    pub used_tools: Option<bool>,
    /// The agent's session, if it named one.
    pub session: Option<String>,
    /// Whether the agent ended without saying that it had finished, or said that it failed.
    #[serde(default)]
    pub unfinished: bool,
    /// What the agent used, if it reported that.
    #[serde(default)]
    pub usage: Option<Usage>,
    /// Whether tools, output or changed files showed progress.
    #[serde(default)]
    pub progressed: bool,
    /// What the agent would like to change in the plan.
    #[serde(default)]
    pub modification: Option<Box<ModificationRequest>>,
    /// What it left running when it had ended, which regreen ended then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_running: Vec<String>,
    /// The commit of HEAD when the attempt ended.
    #[serde(default)]
    pub head: Option<String>,
    /// What the agent changed in the plan.
    pub plan: PlanChanges,
}

/// How an attempt ended; what it is charged to follows from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "class", rename_all = "snake_case")]
pub enum AttemptClass {
    /// The agent ran to its end; the attempt is charged to the task.
    #[default]
    Ordinary,
    /// The agent's own service is out of reach, perhaps until a known time.
    Transient {
        /// The reason, for people.
        why: String,
        /// When the service is available again, if that is known.
        until: Option<Timestamp>,
    },
    /// It would fail the same way again.
    Fatal {
        /// The reason, for people.
        why: String,
    },
    /// The agent's session cannot be resumed.
    Session {
        /// The reason, for people.
        why: String,
    },
    /// regreen or the machine stopped meanwhile, or the user asked to stop.
    Interrupted,
}

impl AttemptClass {
    /// Returns the name as it is written in data.
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

/// What people should know about a task that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// There was nothing to verify it with, or not all that it states was checked.
    Unverified,
    /// Its Verify passed, but says something about the result that regreen can't check.
    ExpectationNotChecked,
    /// It is a fix whose own Verify failed; the task that it fixes passed.
    VerifyFailed,
    /// Its Verify failed first, then passed.
    Flaky,
    /// No file was changed.
    NothingChanged,
    /// The agent ticked it while it worked on another task, and it verified.
    Claimed,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unverified => "unverified",
            Self::ExpectationNotChecked => "expectation not checked",
            Self::VerifyFailed => "its own Verify failed",
            Self::Flaky => "flaky",
            Self::NothingChanged => "nothing changed",
            Self::Claimed => "claimed by the agent",
        })
    }
}
