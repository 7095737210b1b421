use std::collections::{BTreeMap, BTreeSet};

use regreen_model::{
    AnswerKind, Claim, CommandSeq, Failure, FailureRecord, ModificationRequest, PickedTask,
    PlannedRepair, PromptKind, TaskId, TaskKey, Timestamp, VerifyCommand,
};
use serde::{Deserialize, Serialize};

/// Please do this. Owed until it is answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// Read the task file and say what is next.
    ReadPlan {
        include_optional: bool,
        only: Option<TaskId>,
        passed_over: BTreeSet<TaskKey>,
        /// Originals come before their own open fixes, all but these.
        #[serde(default)]
        originals_first: Option<BTreeSet<TaskKey>>,
    },
    /// Once: after a crash it is answered as interrupted, never done again.
    Attempt(Box<AttemptOrder>),
    /// Verify the rows that an agent ticked on its own; untick what is not green.
    JudgeClaims {
        task: TaskKey,
        claims: Vec<Claim>,
        gate: Option<String>,
        /// What repairs have set.
        #[serde(default)]
        environment: Vec<(String, String)>,
    },
    Verify {
        task: TaskKey,
        attempt: u32,
        commands: Vec<VerifyCommand>,
        gate: Option<String>,
        timeout_ms: u64,
        /// What repairs have set.
        #[serde(default)]
        environment: Vec<(String, String)>,
    },
    /// May a machine repair what the task failed of?
    InspectRepair(Box<RepairScene>),
    /// Carry out a fix that regreen does itself. Once: what was cut off is looked at again.
    Repair(Box<RepairOrder>),
    /// How much of its fix budget has the task used?
    ReadBudget {
        task: TaskKey,
    },
    /// The fix is to stand after its task.
    InsertFix(Box<FixOrder>),
    /// The rows are to stand where the agent asked for them.
    Modify(Box<ModifyOrder>),
    /// Which fixes of the task are still open?
    ReadOpenFixes {
        task: TaskKey,
    },
    /// The boxes of these fixes are to be ticked.
    TickFixes {
        fixes: Vec<TaskKey>,
    },
    /// The progress file is to say that healing the task, and those above it, has failed.
    NoteFailure {
        task: TaskKey,
    },
    /// What is to become of the task?
    AskPerson(Box<Question>),
    /// The box is to be so.
    Tick {
        task: TaskKey,
        done: bool,
    },
    Commit(CommitOrder),
    /// The progress file is to say so.
    Record(Record),
    /// The state file is to say so. Not waited for: whatever is next says it again.
    SaveState(StateFile),
    Wait {
        until: Timestamp,
    },
    /// Nothing more will be asked for.
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
    /// What is known of the attempt before this one, if that was cut off.
    #[serde(default)]
    pub cut_off: Option<Box<Failure>>,
    /// The attempt that failed so, if it was one of this run.
    #[serde(default)]
    pub failed_attempt: Option<u32>,
    /// The session to go on with, where the agent can.
    pub session: Option<String>,
    pub timeout_ms: u64,
    pub idle_timeout_ms: Option<u64>,
    /// Rows that were put back once already.
    pub put_back: BTreeSet<TaskKey>,
    /// What the person who runs regreen has to say about the task, oldest first.
    #[serde(default)]
    pub context: Vec<String>,
    /// What repairs have set.
    #[serde(default)]
    pub environment: Vec<(String, String)>,
}

/// What a person has to know of a task to say what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    pub task: TaskKey,
    /// Why it is not for regreen to decide.
    pub why: String,
    /// How it failed, and in which attempt.
    pub failure: Option<FailureRecord>,
    pub failed_attempt: Option<u32>,
    /// Attempts that were charged to it, and how many it may have.
    pub iterations: u32,
    pub max_iterations: u32,
    /// Fixes that were made for it in this run.
    pub fixes: Vec<TaskId>,
    /// What a person may allow.
    #[serde(default)]
    pub repair: Option<PlannedRepair>,
    /// What can be answered.
    pub choices: Vec<AnswerKind>,
}

/// A failure that a repair is thought of for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairScene {
    /// The task that failed, and the attempt that failed so.
    pub task: TaskKey,
    pub attempt: u32,
    pub failure: Failure,
    /// What the task itself runs to be checked.
    pub verify: Vec<VerifyCommand>,
    /// What earlier repairs have set.
    pub environment: Vec<(String, String)>,
}

/// A fix that regreen carries out itself.
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
    pub scene: RepairScene,
}

/// A task that repairs another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixOrder {
    /// The task it repairs.
    pub task: TaskKey,
    pub id: TaskId,
    pub error: String,
    /// Its kind in words; empty without a diagnosis.
    #[serde(default)]
    pub error_type: String,
    pub attempted_fix: String,
    /// The spec's name.
    pub scope: String,
    /// What else whoever repairs it has to know.
    pub extra_step: String,
}

/// Rows that an agent asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModifyOrder {
    pub task: TaskKey,
    /// The attempt that asked for them: it gets them once.
    pub attempt: u32,
    pub request: ModificationRequest,
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

/// What the state file says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateFile {
    /// As many as there are tasks, when none is left.
    pub task_index: u32,
    pub total_tasks: u32,
    pub task_iteration: u32,
    pub max_task_iterations: u32,
    pub global_iteration: u32,
    /// As it was asked for: a limit that grew with the plan would be a fixed one for the
    /// next run, which reads it here.
    pub max_global_iterations: u32,
    /// Recovery that is on stays on in the file; off says nothing.
    #[serde(default)]
    pub recovery: bool,
    #[serde(default)]
    pub max_fix_tasks: u32,
    /// Fixes made in this run: the task, the fix, and the error it was made for.
    #[serde(default)]
    pub fixes: Vec<(TaskId, TaskId, String)>,
    /// `true` for success, `false` for failed. Of a task that is absent the run knows nothing,
    /// and its row tells: success if it is ticked, else pending.
    pub results: BTreeMap<TaskId, bool>,
}
