//! What the engine asks for.

use std::collections::BTreeSet;

use regreen_model::{
    AnswerKind, Claim, CommandSeq, Failure, FailureRecord, FixOrigin, ModificationRequest,
    PickedTask, PlanQuery, PlannedRepair, PromptKind, RepeatedCheck, Service, StateFile, TaskId,
    TaskKey, Timestamp, VerifyCommand,
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
        /// The task that the agent worked on meanwhile.
        task: TaskKey,
        /// The ticks that it made.
        claims: Vec<Claim>,
        /// The check of the workspace, for tasks without a Verify.
        gate: Option<String>,
        /// Variables that repairs have set.
        #[serde(default)]
        environment: Vec<(String, String)>,
    },
    /// Run a task's checks.
    Verify {
        /// The task.
        task: TaskKey,
        /// The attempt that is checked.
        attempt: u32,
        /// The commands of its Verify.
        commands: Vec<VerifyCommand>,
        /// The check of the workspace, for tasks without a Verify.
        gate: Option<String>,
        /// How long each of them may take.
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
        /// The task that failed.
        task: TaskKey,
    },
    /// Insert the fix after its task, unless it stands there. If another task has taken its id
    /// meanwhile, it is answered with the task's fix budget, which has another.
    InsertFix(Box<FixOrder>),
    /// Insert the rows that the agent asked for, unless they stand there.
    Modify(Box<ModifyOrder>),
    /// Note in the progress file that healing the task, and those above it, has failed.
    NoteFailure {
        /// The task that reached a limit.
        task: TaskKey,
    },
    /// Ask a person what becomes of the task.
    AskPerson(Box<Question>),
    /// Set the task's box.
    Tick {
        /// The task.
        task: TaskKey,
        /// Whether its box is ticked or emptied.
        done: bool,
        /// Tick its open fixes as well: a task that has passed leaves them nothing to do.
        #[serde(default)]
        supersede: bool,
    },
    /// Commit the changes of a task.
    Commit(CommitOrder),
    /// Note in the progress file that the task is done.
    Record(Record),
    /// Commit what is left of the spec's own files: the progress file names the last commit.
    CloseCommit {
        /// The message of the commit.
        message: String,
        /// Its number among the commits of the run.
        number: u32,
    },
    /// Repeat the checks of the tasks that passed.
    FinalCheck(Box<FinalCheckOrder>),
    /// Untick tasks that no longer pass.
    Reopen {
        /// The tasks.
        tasks: Vec<TaskKey>,
    },
    /// Have exactly these services run. Not waited for: the next decision issues it again.
    KeepServices(Box<ServicesOrder>),
    /// Write the state file. Not waited for: the next decision writes it again.
    SaveState(StateFile),
    /// Wait for a moment.
    Wait {
        /// The moment.
        until: Timestamp,
    },
    /// Nothing more follows.
    Finish,
}

impl Command {
    /// Whether code runs meanwhile that the agent or the repository wrote: the plan is guarded.
    #[must_use]
    pub fn runs_foreign_code(&self) -> bool {
        match self {
            Self::Attempt(_)
            | Self::JudgeClaims { .. }
            | Self::Verify { .. }
            | Self::Repair(_)
            | Self::Commit(_)
            | Self::CloseCommit { .. }
            | Self::FinalCheck(_) => true,
            Self::ReadPlan(_)
            | Self::InspectRepair(_)
            | Self::ReadBudget { .. }
            | Self::InsertFix(_)
            | Self::Modify(_)
            | Self::NoteFailure { .. }
            | Self::AskPerson(_)
            | Self::Tick { .. }
            | Self::Record(_)
            | Self::Reopen { .. }
            | Self::KeepServices(_)
            | Self::SaveState(_)
            | Self::Wait { .. }
            | Self::Finish => false,
        }
    }
}

/// A command with the number that its answer names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issued {
    /// Its number in the run.
    pub seq: CommandSeq,
    /// The command.
    pub command: Command,
}

/// One run of an agent on one task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptOrder {
    /// The task to attempt.
    pub task: PickedTask,
    /// Counts every run of the agent on the task, also those that are charged to nothing.
    pub attempt: u32,
    /// The task's attempts so far that are charged to it, this one included, and how many
    /// it may have.
    pub iteration: u32,
    /// How many attempts the task may have.
    pub max_iterations: u32,
    /// Which prompt the agent gets.
    pub prompt: PromptKind,
    /// Why the previous attempt failed.
    pub previous: Option<FailureRecord>,
    /// The diagnosis of the attempt before this one, if that was interrupted.
    #[serde(default, rename = "cut_off")]
    pub interrupted: Option<Box<Failure>>,
    /// The attempt that failed so, if it was one of this run.
    #[serde(default)]
    pub failed_attempt: Option<u32>,
    /// The session to continue, where the agent can.
    pub session: Option<String>,
    /// How long the attempt may take.
    pub timeout_ms: u64,
    /// How long the agent may show no sign of life.
    pub idle_timeout_ms: Option<u64>,
    /// Rows that were put back once already.
    pub put_back: BTreeSet<TaskKey>,
    /// What the user had to say about the task, oldest first.
    #[serde(default)]
    pub context: Vec<String>,
    /// What the attempt before this one left running, which regreen ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_running: Vec<String>,
    /// Variables that repairs have set.
    #[serde(default)]
    pub environment: Vec<(String, String)>,
}

/// What a person has to know to decide about a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The task that it is about.
    pub task: TaskKey,
    /// Why regreen can't decide.
    pub why: String,
    /// How it failed, and in which attempt.
    pub failure: Option<FailureRecord>,
    /// The attempt that failed last.
    pub failed_attempt: Option<u32>,
    /// Attempts that were charged to it, and how many it may have.
    pub iterations: u32,
    /// How many attempts the task may have.
    pub max_iterations: u32,
    /// The fixes that were made for it in this run.
    pub fixes: Vec<TaskId>,
    /// The repair that the person may allow.
    #[serde(default)]
    pub repair: Option<PlannedRepair>,
    /// The possible answers.
    pub choices: Vec<AnswerKind>,
}

/// The services that have to run, and no others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServicesOrder {
    /// The services.
    pub services: Vec<ServiceOrder>,
    /// How long one may take to get ready.
    pub ready_timeout_ms: u64,
    /// Variables that repairs have set.
    pub environment: Vec<(String, String)>,
}

/// A service that has to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceOrder {
    /// The service.
    pub service: Service,
    /// Whether it may be started if it does not run.
    pub may_start: bool,
    /// Whether it is started anew if it runs.
    pub fresh: bool,
}

/// A failure that a repair might remove.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairTarget {
    /// The task that failed, and the attempt that failed so.
    pub task: TaskKey,
    /// The attempt that failed.
    pub attempt: u32,
    /// Why it failed.
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
    /// The number of this attempt to repair it.
    pub attempt: u32,
    /// The repair.
    pub repair: PlannedRepair,
    /// A person has agreed to it.
    pub agreed: bool,
    /// It had begun when regreen or the machine ended.
    #[serde(default)]
    pub again: bool,
    /// The failure that it is meant to remove.
    #[serde(rename = "scene")]
    pub target: RepairTarget,
}

/// A fix task that is to be inserted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixOrder {
    /// The task it repairs.
    pub task: TaskKey,
    /// The id of the fix task.
    pub id: TaskId,
    /// The failure that it comes from.
    #[serde(flatten)]
    pub origin: FixOrigin,
}

/// Rows that an agent asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModifyOrder {
    /// The task whose agent asks.
    pub task: TaskKey,
    /// The attempt that asked for them: it gets them once.
    pub attempt: u32,
    /// The rows that it asks for.
    pub request: ModificationRequest,
}

impl ModifyOrder {
    /// The name by which a request that was granted already is recognized.
    #[must_use]
    pub fn name(&self, run: &str) -> String {
        format!("{run}/{}", self.attempt)
    }
}

/// The checks that passed in a run, to be repeated before it ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinalCheckOrder {
    /// The checks, quickest first.
    pub checks: Vec<RepeatedCheck>,
    /// The last attempt of the run: a check that passed after it need not run again if the files
    /// are still as the attempt left them.
    pub last_attempt: Option<(TaskKey, u32)>,
    /// How long all of them may take.
    pub limit_ms: u64,
    /// How long each command may take.
    pub timeout_ms: u64,
    /// Variables that repairs have set.
    pub environment: Vec<(String, String)>,
}

/// What to commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitOrder {
    /// The task that has passed.
    pub task: TaskKey,
    /// The message of the commit.
    pub message: String,
    /// How many attempts the task has had: what they changed is committed.
    pub attempts: u32,
    /// Its number among the commits of the run, by which it is found again if it was made already.
    #[serde(default)]
    pub number: u32,
    /// HEAD after the task's last attempt, which it comes after: maybe not directly, since fixes
    /// are committed in between.
    #[serde(default)]
    pub parent: Option<String>,
}

/// A finished task, for the progress file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The task.
    pub task: TaskKey,
    /// Its commit.
    pub hash: Option<String>,
    /// Fixes of it that were ticked without being run.
    #[serde(default)]
    pub superseded: Vec<TaskKey>,
}
