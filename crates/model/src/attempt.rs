//! An attempt at a task: what is picked, what the agent is told, what it shows, how it ends.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    Ending, FailureKind, FailureRecord, ModificationRequest, PlanChanges, TaskKey, Timestamp,
    Usage, VerifyCommand, named_enum,
};

/// A task that is next, with what must not change any more once it was picked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PickedTask {
    pub task: TaskKey,
    /// The original at the end of its chain of fixes; itself if it is no fix.
    pub root: TaskKey,
    /// 0-based place of the root among the rows to run.
    pub index: u32,
    /// Rows to run, fixes included.
    pub total: u32,
    /// Its `[VERIFY]` marker lets it signal with either word.
    pub is_verify: bool,
    /// A group is verified and ticked, not run.
    pub is_group: bool,
    /// Fixes of it stand in the file.
    #[serde(default)]
    pub has_fixes: bool,
    /// The commands as they were when the task was first picked.
    pub verify: Vec<VerifyCommand>,
    /// The message its commit is to have.
    pub commit: Option<String>,
    /// How it failed in an earlier run that did not finish it.
    #[serde(default)]
    pub failed_before: Option<FailureRecord>,
}

impl PickedTask {
    /// Whether it repairs another task.
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
        /// That the last attempt was cut off.
        Interrupted = "interrupted",
        /// That its last session was of no more use.
        NewSession = "new_session",
        /// What the last attempt was missing, looked up.
        Enriched = "enriched",
        /// That the task got nowhere in its time: to split it.
        Split = "split",
    }
}

/// What an agent lets us see while it works, whatever program it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum AgentEvent {
    /// The name under which its conversation can be taken up again.
    Session {
        id: String,
    },
    Text {
        text: String,
    },
    ToolStarted {
        /// Tells calls of the same tool apart.
        call: String,
        name: String,
    },
    ToolEnded {
        call: String,
        name: String,
        ok: bool,
        /// The exit code, of tools that run commands.
        exit: Option<i32>,
    },
    FileEdited {
        path: String,
    },
    Usage(Usage),
    Trouble(ApiTrouble),
    /// It asks a person, or asks for permission, and would wait.
    Question {
        text: String,
        permission: bool,
    },
    /// What it said last: the only text that is read for signals and reports.
    FinalMessage {
        text: String,
    },
    /// It has come to its end by itself. An agent that ends without this has not finished,
    /// whatever its exit code.
    Terminal {
        /// Whether it takes its own run for a success; that says nothing about the task.
        ok: bool,
    },
}

/// The agent could not talk with its model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiTrouble {
    pub class: TroubleClass,
    pub kind: FailureKind,
    pub message: String,
    /// The HTTP status, where there is one.
    pub status: Option<u16>,
    pub resets: Option<ResetTime>,
}

/// Whom it concerns, and so what can be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TroubleClass {
    /// It passes: wait and try again.
    Transient,
    /// Nothing this run does can help.
    Fatal,
    /// The conversation is at its end; a new one may go on.
    Session,
}

/// When it is over, as the server says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetTime {
    /// Milliseconds since 1970.
    At(i64),
    /// Milliseconds from when it was said.
    After(u64),
    /// The next time that clocks show this: `4pm (Europe/Berlin)`.
    Clock(ClockTime),
}

/// What a clock shows somewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockTime {
    /// Month and day, where they are said.
    pub date: Option<(i8, i8)>,
    pub hour: i8,
    pub minute: i8,
    /// By its name in the time zone database.
    pub zone: String,
}

/// What an attempt came to, as far as it can be told without judging the work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptReport {
    pub ending: Ending,
    pub class: AttemptClass,
    /// The final message signals completion.
    pub signalled: bool,
    /// The final message has a failure block for the task.
    pub reports_failure: bool,
    /// Words in the final message that contradict its signal.
    pub contradiction: Option<String>,
    /// Why it failed; empty if it has passed.
    #[serde(flatten)]
    pub failure: FailureRecord,
    /// How many files differ from before.
    pub files_changed: u32,
    /// Whether the agent used a tool; `None` if it does not say.
    pub used_tools: Option<bool>,
    pub session: Option<String>,
    /// The agent ended, and never said that it had come to its end, or said that it was no
    /// good one.
    #[serde(default)]
    pub unfinished: bool,
    #[serde(default)]
    pub usage: Option<Usage>,
    /// Something showed that it was getting on: tools, output, changed files.
    #[serde(default)]
    pub progressed: bool,
    /// What the agent would like to change in the plan.
    #[serde(default)]
    pub modification: Option<Box<ModificationRequest>>,
    /// The commit that HEAD was when the attempt ended.
    #[serde(default)]
    pub head: Option<String>,
    pub plan: PlanChanges,
}

/// Which class of ending an attempt had: what it is charged to follows from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "class", rename_all = "snake_case")]
pub enum AttemptClass {
    #[default]
    Ordinary,
    /// The agent's own service is out of reach, perhaps until a known time.
    Transient {
        why: String,
        until: Option<Timestamp>,
    },
    /// It would fail the same way again.
    Fatal { why: String },
    /// The agent's session is of no more use.
    Session { why: String },
    /// regreen or the machine ended meanwhile, or somebody asked to stop.
    Interrupted,
}

impl AttemptClass {
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
    /// There was nothing to verify it with.
    Unverified,
    /// Its Verify was red first, then green.
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
            Self::Flaky => "flaky",
            Self::NothingChanged => "nothing changed",
            Self::Claimed => "claimed by the agent",
        })
    }
}
