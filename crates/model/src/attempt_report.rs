use serde::{Deserialize, Serialize};

use crate::{Ending, Failure, ModificationRequest, TaskKey, Timestamp, Usage, VerifyCommand};

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
    /// What went wrong, in the agent's words or ours.
    pub error: String,
    pub attempted_fix: String,
    /// What the diagnosis makes of it, if it has not passed.
    #[serde(default)]
    pub diagnosis: Option<Box<Failure>>,
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

/// What an agent did to the plan while it worked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanChanges {
    /// Rows of other tasks that it ticked: to be verified.
    pub claims: Vec<Claim>,
    /// Rows it removed twice: taken as skipped.
    pub skipped: Vec<TaskKey>,
    /// Rows it removed once: put back.
    pub put_back: Vec<TaskKey>,
    pub added: Vec<TaskKey>,
    pub edited: Vec<TaskKey>,
    pub warnings: Vec<String>,
}

/// Another task that the agent says is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub task: TaskKey,
    pub verify: Vec<VerifyCommand>,
}
