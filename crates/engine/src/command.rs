//! What the engine asks for.

use std::collections::BTreeSet;

use regreen_model::{
    AnswerKind, Claim, CommandSeq, Failure, FailureRecord, FixOrigin, ModificationRequest,
    PickedTask, PlanQuery, PlannedRepair, PromptKind, StateFile, TaskId, TaskKey, Timestamp,
    VerifyCommand,
};
use serde::{Deserialize, Serialize};

/// Something to be done; pending until it is answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// Read the task file and say what is next.
    ReadPlan(PlanQuery),
    /// Run the agent once. After a crash it is answered as interrupted, never done again.
    Attempt(Box<AttemptOrder>),
    /// Verify the rows that an agent ticked on its own; untick those that don't pass.
    JudgeClaims {
        task: TaskKey,
        claims: Vec<Claim>,
        gate: Option<String>,
        /// Variables that repairs have set.
        #[serde(default)]
        environment: Vec<(String, String)>,
    },
    Verify {
        task: TaskKey,
        attempt: u32,
        commands: Vec<VerifyCommand>,
        gate: Option<String>,
        timeout_ms: u64,
        /// Variables that repairs have set.
        #[serde(default)]
        environment: Vec<(String, String)>,
    },
    /// Find out whether the workspace can be repaired so that the task no longer fails.
    InspectRepair(Box<RepairTarget>),
    /// Carry out an automatic fix. After a crash the workspace is inspected again first.
    Repair(Box<RepairOrder>),
    /// Read how much of its fix budget the task has used, where no answer has told it.
    ReadBudget {
        task: TaskKey,
    },
    /// Insert the fix after its task, unless it stands there. If another task has taken its id
    /// meanwhile, it is answered with the task's fix budget, which has another.
    InsertFix(Box<FixOrder>),
    /// Insert the rows that the agent asked for, unless they stand there.
    Modify(Box<ModifyOrder>),
    /// Note in the progress file that healing the task, and those above it, has failed.
    NoteFailure {
        task: TaskKey,
    },
    /// Ask a person what becomes of the task.
    AskPerson(Box<Question>),
    /// Set the task's box.
    Tick {
        task: TaskKey,
        done: bool,
        /// Tick its open fixes as well: a task that has passed leaves them nothing to do.
        #[serde(default)]
        supersede: bool,
    },
    Commit(CommitOrder),
    /// Note in the progress file that the task is done.
    Record(Record),
    /// Write the state file. Not waited for: the next decision writes it again.
    SaveState(StateFile),
    Wait {
        until: Timestamp,
    },
    /// Nothing more follows.
    Finish,
}

/// A command with the number that its answer names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issued {
    pub seq: CommandSeq,
    pub command: Command,
}

/// One run of an agent on one task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptOrder {
    pub task: PickedTask,
    /// Counts every run of the agent on the task, also those that are charged to nothing.
    pub attempt: u32,
    /// The task's attempts so far that are charged to it, this one included, and how many
    /// it may have.
    pub iteration: u32,
    pub max_iterations: u32,
    pub prompt: PromptKind,
    pub previous: Option<FailureRecord>,
    /// The diagnosis of the attempt before this one, if that was interrupted.
    #[serde(default, rename = "cut_off")]
    pub interrupted: Option<Box<Failure>>,
    /// The attempt that failed so, if it was one of this run.
    #[serde(default)]
    pub failed_attempt: Option<u32>,
    /// The session to continue, where the agent can.
    pub session: Option<String>,
    pub timeout_ms: u64,
    pub idle_timeout_ms: Option<u64>,
    /// Rows that were put back once already.
    pub put_back: BTreeSet<TaskKey>,
    /// What the user had to say about the task, oldest first.
    #[serde(default)]
    pub context: Vec<String>,
    /// Variables that repairs have set.
    #[serde(default)]
    pub environment: Vec<(String, String)>,
}

/// What a person has to know to decide about a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    pub task: TaskKey,
    /// Why regreen can't decide.
    pub why: String,
    /// How it failed, and in which attempt.
    pub failure: Option<FailureRecord>,
    pub failed_attempt: Option<u32>,
    /// Attempts that were charged to it, and how many it may have.
    pub iterations: u32,
    pub max_iterations: u32,
    /// The fixes that were made for it in this run.
    pub fixes: Vec<TaskId>,
    /// The repair that the person may allow.
    #[serde(default)]
    pub repair: Option<PlannedRepair>,
    /// The possible answers.
    pub choices: Vec<AnswerKind>,
}

/// A failure that a repair might remove.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairTarget {
    /// The task that failed, and the attempt that failed so.
    pub task: TaskKey,
    pub attempt: u32,
    pub failure: Failure,
    /// The task's own Verify commands.
    pub verify: Vec<VerifyCommand>,
    /// Variables that earlier repairs have set.
    pub environment: Vec<(String, String)>,
}

/// An automatic fix: one that regreen carries out itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairOrder {
    /// The fix, and which of its attempts this is.
    pub fix: TaskKey,
    pub attempt: u32,
    pub repair: PlannedRepair,
    /// A person has agreed to it.
    pub agreed: bool,
    /// It had begun when regreen or the machine ended.
    #[serde(default)]
    pub again: bool,
    #[serde(rename = "scene")]
    pub target: RepairTarget,
}

/// A fix task that is to be inserted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixOrder {
    /// The task it repairs.
    pub task: TaskKey,
    pub id: TaskId,
    #[serde(flatten)]
    pub origin: FixOrigin,
}

/// Rows that an agent asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModifyOrder {
    pub task: TaskKey,
    /// The attempt that asked for them: it gets them once.
    pub attempt: u32,
    pub request: ModificationRequest,
}

impl ModifyOrder {
    /// The name by which a request that was granted already is recognized.
    #[must_use]
    pub fn name(&self, run: &str) -> String {
        format!("{run}/{}", self.attempt)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitOrder {
    pub task: TaskKey,
    pub message: String,
    /// How many attempts the task has had: what they changed is committed.
    pub attempts: u32,
    /// The commit it comes after, by which it is found again if it was made already.
    #[serde(default)]
    pub parent: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub task: TaskKey,
    pub hash: Option<String>,
}
