use regreen_model::{
    AttemptReport, CommandSeq, Failure, Inspection, PersonAnswer, PersonChoice, PickedTask,
    RepairResult, RunConfig, StopSignal, TaskId, TaskKey, Verdict,
};
use serde::{Deserialize, Serialize};

/// The world tells us something. What answers a command names it; late or repeated answers
/// are dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "input", rename_all = "snake_case")]
pub enum Input {
    Start {
        run: String,
        config: Box<RunConfig>,
        /// All that people ever said of the spec's tasks, oldest first.
        #[serde(default)]
        choices: Vec<PersonChoice>,
        /// The run before this one ended at a limit.
        #[serde(default)]
        after_limit: bool,
    },
    /// The process that drove this run is gone; a new one has folded its events.
    Resume(Resumption),
    /// Something that people should know.
    Noticed {
        messages: Vec<String>,
    },
    /// An attempt that is being made tells what its session is called. It names the command,
    /// and is no answer to it.
    SessionSeen {
        seq: CommandSeq,
        session: String,
    },
    PlanRead {
        seq: CommandSeq,
        plan: Plan,
    },
    AttemptEnded {
        seq: CommandSeq,
        report: Box<AttemptReport>,
    },
    /// The task is not in the file any more, or ticked by a person, so there was no attempt, or
    /// no fix for it.
    Gone {
        seq: CommandSeq,
    },
    ClaimsJudged {
        seq: CommandSeq,
        kept: Vec<TaskKey>,
        taken_back: Vec<TaskKey>,
    },
    Verified {
        seq: CommandSeq,
        verdict: Verdict,
        /// Why it is red.
        #[serde(default)]
        diagnosis: Option<Box<Failure>>,
        #[serde(default)]
        took_ms: u64,
    },
    RepairInspected {
        seq: CommandSeq,
        inspection: Inspection,
    },
    RepairEnded {
        seq: CommandSeq,
        result: RepairResult,
    },
    BudgetRead {
        seq: CommandSeq,
        budget: FixBudget,
    },
    Inserted {
        seq: CommandSeq,
    },
    Modified {
        seq: CommandSeq,
        result: ModifyResult,
    },
    OpenFixesRead {
        seq: CommandSeq,
        fixes: Vec<TaskKey>,
    },
    FixesTicked {
        seq: CommandSeq,
    },
    FailureNoted {
        seq: CommandSeq,
    },
    PersonAnswered {
        seq: CommandSeq,
        answer: PersonAnswer,
        /// What of it holds beyond the run, as it is stored.
        choice: Option<PersonChoice>,
    },
    Ticked {
        seq: CommandSeq,
    },
    Committed {
        seq: CommandSeq,
        result: CommitResult,
    },
    Recorded {
        seq: CommandSeq,
    },
    Waited {
        seq: CommandSeq,
    },
    /// It was cut short because somebody asked to stop.
    Halted {
        seq: CommandSeq,
    },
    /// Somebody keeps saving the file we have to edit: the edit stays owed.
    Contended {
        seq: CommandSeq,
        why: String,
    },
    /// What was asked for cannot be done on this machine as it is.
    Broken {
        seq: CommandSeq,
        why: String,
    },
    Stop {
        signal: StopSignal,
    },
}

impl Input {
    /// The command that this answers.
    #[must_use]
    pub fn seq(&self) -> Option<CommandSeq> {
        match self {
            Self::PlanRead { seq, .. }
            | Self::AttemptEnded { seq, .. }
            | Self::Gone { seq }
            | Self::ClaimsJudged { seq, .. }
            | Self::Verified { seq, .. }
            | Self::RepairInspected { seq, .. }
            | Self::RepairEnded { seq, .. }
            | Self::BudgetRead { seq, .. }
            | Self::Inserted { seq }
            | Self::Modified { seq, .. }
            | Self::OpenFixesRead { seq, .. }
            | Self::FixesTicked { seq }
            | Self::FailureNoted { seq }
            | Self::PersonAnswered { seq, .. }
            | Self::Ticked { seq }
            | Self::Committed { seq, .. }
            | Self::Recorded { seq }
            | Self::Waited { seq }
            | Self::Halted { seq }
            | Self::Contended { seq, .. }
            | Self::Broken { seq, .. } => Some(*seq),
            Self::Start { .. }
            | Self::Resume(_)
            | Self::Noticed { .. }
            | Self::SessionSeen { .. }
            | Self::Stop { .. } => None,
        }
    }
}

/// What a process brings that takes a run over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Resumption {
    /// As with `Start`: what the run knows already is passed over.
    pub choices: Vec<PersonChoice>,
    /// What is settled anew: whoever starts it again may have changed their mind.
    pub config: Option<Box<RunConfig>>,
    /// What the attempt left behind that was being made.
    pub interrupted: Option<Box<AttemptReport>>,
}

/// What the task file says now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub next: NextStep,
    /// Rows to run, fixes included.
    pub total: u32,
    /// Required originals that are still open, whatever was passed over; of those that were
    /// asked for, if only some were.
    pub open: u32,
    /// The 0-based place among the rows to run of the first that is open, whoever passed it
    /// over.
    #[serde(default)]
    pub first_open: Option<u32>,
    /// The others that are open.
    #[serde(default)]
    pub open_besides: u32,
    /// Tasks that were passed over and are not in the file any more.
    #[serde(default)]
    pub missing: Vec<TaskKey>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "next", rename_all = "snake_case")]
pub enum NextStep {
    Task(Box<PickedTask>),
    #[default]
    Nothing,
}

/// What a task has used of its fix budget: the larger of what the rows and the state say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixBudget {
    /// How many fixes deep the task itself is.
    pub depth: u32,
    /// Fixes made for the task itself.
    pub fixes: u32,
    /// Fixes made for its original and everything below that.
    pub root_fixes: u32,
    pub root: TaskId,
    /// Those made for the task itself, by name.
    pub fix_ids: Vec<TaskId>,
    /// What its next fix is called.
    pub next_id: TaskId,
    /// What the last fix of the task was to remove, on one line; empty if it had none.
    #[serde(default)]
    pub last_error: String,
}

/// What came of a request to change the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum ModifyResult {
    Done { added: Vec<TaskKey> },
    Refused { why: String },
}

/// What came of a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum CommitResult {
    Done {
        hash: String,
        warnings: Vec<String>,
    },
    /// Nothing was left to commit, or there is no repository.
    Nothing,
    /// A hook of the user said no.
    HookFailed {
        output: String,
    },
    /// Git could not, for a reason that is not the task's.
    Impossible {
        why: String,
    },
}
