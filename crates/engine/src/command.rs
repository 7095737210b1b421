//! The commands that the engine issues.

use std::collections::BTreeSet;

use regreen_model::{
    AnswerKind, Claim, CommandSeq, Experience, Failure, FailureKind, FailureRecord, FixOrigin,
    ModificationRequest, PickedTask, PlanQuery, PlannedRepair, PromptKind, RedTests, RepeatedCheck,
    Service, StateFile, TaskId, TaskKey, TemplatePrompt, Timestamp, VerifyCommand,
};
use serde::{Deserialize, Serialize};

/// Something to do. A command is pending until it is answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// Read the task file and determine the next task.
    ReadPlan(PlanQuery),
    /// Run the agent once. After a crash this is answered as interrupted, never repeated.
    Attempt(Box<AttemptOrder>),
    /// Verify the rows that an agent ticked of its own accord, and untick those that fail.
    JudgeClaims {
        /// The task that the agent was working on.
        task: TaskKey,
        /// The ticks it made.
        claims: Vec<Claim>,
        /// The check of the workspace, for tasks without a Verify.
        gate: Option<String>,
        /// Environment variables that repairs set.
        #[serde(default)]
        environment: Vec<(String, String)>,
    },
    /// Run a task's checks.
    Verify {
        /// The task.
        task: TaskKey,
        /// The attempt to check.
        attempt: u32,
        /// The commands of its Verify.
        commands: Vec<VerifyCommand>,
        /// The check of the workspace, for tasks without a Verify.
        gate: Option<String>,
        /// How long each command may take.
        timeout_ms: u64,
        /// Environment variables that repairs set.
        #[serde(default)]
        environment: Vec<(String, String)>,
    },
    /// Find out which of the tests that failed failed before the task, and which flicker.
    ReviewTests(Box<TestReviewOrder>),
    /// Find out whether a repair of the workspace can remove the failure.
    InspectRepair(Box<RepairTarget>),
    /// Ask the agent for the cause of a failure that the rules are not sure of. A query: asking twice
    /// changes nothing.
    AskOpinion(Box<OpinionOrder>),
    /// Look the failure up in the user's history. A query: asking twice changes nothing.
    Recall(Box<RecallOrder>),
    /// Carry out an automatic fix. After a crash, the workspace is inspected again first.
    Repair(Box<RepairOrder>),
    /// Read the task's use of its fix budget, if no earlier answer included it.
    ReadBudget {
        /// The task that failed.
        task: TaskKey,
    },
    /// Insert the fix after its task, unless it is already there. If another task has taken its id
    /// in the meantime, the answer is the task's fix budget with a new id.
    InsertFix(Box<FixOrder>),
    /// Insert the rows that the agent asked for, unless they are already there.
    Modify(Box<ModifyOrder>),
    /// Note in the progress file that healing failed for the task and those it fixes. Make the
    /// file if there is none.
    NoteFailure {
        /// The task that reached a limit.
        task: TaskKey,
        /// How it failed last, if that is known.
        #[serde(default)]
        kind: Option<FailureKind>,
    },
    /// Ask a person what to do about the task.
    AskPerson(Box<Question>),
    /// Wait until someone answers an open question, or decides about a task in another way.
    AwaitAnswers {
        /// Until when; `None` for as long as it takes.
        until: Option<Timestamp>,
    },
    /// Tick or untick the task.
    Tick {
        /// The task.
        task: TaskKey,
        /// `true` to tick, `false` to untick.
        done: bool,
        /// Whether to tick its open fixes as well, which a task that has passed no longer needs.
        #[serde(default)]
        supersede: bool,
    },
    /// Commit a task's changes.
    Commit(CommitOrder),
    /// Note in the progress file that the task is done.
    Record(Record),
    /// Commit the remaining changes to the spec's own files. They come last, because the progress
    /// file names the last commit.
    CloseCommit {
        /// The commit message.
        message: String,
        /// Its number among the commits of the run.
        number: u32,
        /// Whether all tasks of the spec are done, so that files about several specs must say so.
        #[serde(default)]
        completes: bool,
    },
    /// Repeat the checks of the tasks that passed.
    FinalCheck(Box<FinalCheckOrder>),
    /// Untick tasks that no longer pass.
    Reopen {
        /// The tasks.
        tasks: Vec<TaskKey>,
    },
    /// Run exactly these services. Nothing waits for this; the next decision issues it again.
    KeepServices(Box<ServicesOrder>),
    /// Write the state file. Nothing waits for this; the next decision writes it again.
    SaveState(StateFile),
    /// Wait until a given time.
    Wait {
        /// The end of the wait.
        until: Timestamp,
    },
    /// Nothing more follows.
    Finish,
}

impl Command {
    /// Returns whether foreign code runs during the command, so that the plan must be guarded.
    #[must_use]
    pub fn runs_foreign_code(&self) -> bool {
        match self {
            Self::Attempt(_)
            | Self::JudgeClaims { .. }
            | Self::Verify { .. }
            | Self::ReviewTests(_)
            | Self::AskOpinion(_)
            | Self::Repair(_)
            | Self::Commit(_)
            | Self::CloseCommit { .. }
            | Self::FinalCheck(_) => true,
            Self::ReadPlan(_)
            | Self::InspectRepair(_)
            | Self::Recall(_)
            | Self::ReadBudget { .. }
            | Self::InsertFix(_)
            | Self::Modify(_)
            | Self::NoteFailure { .. }
            | Self::AskPerson(_)
            | Self::AwaitAnswers { .. }
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

/// A command with its number, which its answer repeats.
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
    /// Counts every run of the agent on the task, whatever it is charged to.
    pub attempt: u32,
    /// The number of attempts charged to the task so far, including this one.
    pub iteration: u32,
    /// How many attempts the task may have.
    pub max_iterations: u32,
    /// The kind of prompt.
    pub prompt: PromptKind,
    /// Why the previous attempt failed.
    pub previous: Option<FailureRecord>,
    /// The diagnosis of the previous attempt, if it was interrupted.
    #[serde(default, rename = "cut_off")]
    pub interrupted: Option<Box<Failure>>,
    /// The attempt in which the task failed this way, if it was in this run.
    #[serde(default)]
    pub failed_attempt: Option<u32>,
    /// The session to resume, if the agent can.
    pub session: Option<String>,
    /// How long the attempt may take.
    pub timeout_ms: u64,
    /// How long the agent may stay silent.
    pub idle_timeout_ms: Option<u64>,
    /// Rows that were already put back once.
    pub put_back: BTreeSet<TaskKey>,
    /// The user's messages about the task, oldest first.
    #[serde(default)]
    pub context: Vec<String>,
    /// Processes that the previous attempt left running, which regreen ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_running: Vec<String>,
    /// Environment variables that repairs set.
    #[serde(default)]
    pub environment: Vec<(String, String)>,
    /// What earlier failures with the same cause show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experience: Option<Box<Experience>>,
    /// What a recovery template says about such a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guidance: Option<TemplatePrompt>,
}

/// Tests that failed, and what is known about them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestReviewOrder {
    /// The task.
    pub task: TaskKey,
    /// The attempt that was checked.
    pub attempt: u32,
    /// The commands of its Verify.
    pub commands: Vec<VerifyCommand>,
    /// The check of the workspace, for tasks without a Verify.
    pub gate: Option<String>,
    /// How long each command may take.
    pub timeout_ms: u64,
    /// Environment variables that repairs set.
    pub environment: Vec<(String, String)>,
    /// The tests that failed.
    pub red: RedTests,
    /// The tests that failed when the command ran before; `None` if it didn't.
    pub red_at_first: Option<BTreeSet<String>>,
    /// The tests whose failure a person has accepted.
    pub accepted: BTreeSet<String>,
    /// The tests that have flickered often in this run.
    pub quarantined: BTreeSet<String>,
    /// The failure of the check.
    pub failure: FailureRecord,
}

/// A question to the agent about a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpinionOrder {
    /// The task that failed.
    pub task: TaskKey,
    /// Its attempt, whose output is shown.
    pub attempt: u32,
    /// What the rules make of it.
    pub failure: Box<Failure>,
    /// How long the answer may take.
    pub timeout_ms: u64,
    /// Variables that repairs have set.
    pub environment: Vec<(String, String)>,
}

/// A failure to look up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecallOrder {
    /// The task that failed.
    pub task: TaskKey,
    /// How it failed.
    pub failure: FailureRecord,
}

/// A question to a person, with everything they need to decide.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The task in question.
    pub task: TaskKey,
    /// Why regreen can't decide.
    pub why: String,
    /// How the task failed last.
    pub failure: Option<FailureRecord>,
    /// The attempt that failed last.
    pub failed_attempt: Option<u32>,
    /// The number of attempts charged to the task.
    pub iterations: u32,
    /// How many attempts the task may have.
    pub max_iterations: u32,
    /// The fixes made for it in this run.
    pub fixes: Vec<TaskId>,
    /// The repair that the person may allow.
    #[serde(default)]
    pub repair: Option<PlannedRepair>,
    /// The possible answers.
    pub choices: Vec<AnswerKind>,
}

/// The services that must run; all others must not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServicesOrder {
    /// The services.
    pub services: Vec<ServiceOrder>,
    /// How long a service may take to become ready.
    pub ready_timeout_ms: u64,
    /// Environment variables that repairs set.
    pub environment: Vec<(String, String)>,
}

/// A service that must run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceOrder {
    /// The service.
    pub service: Service,
    /// Whether to start it if it isn't running.
    pub may_start: bool,
    /// Whether to restart it if it is running.
    pub fresh: bool,
    /// Whether it must not run during a check, because no person wrote its row.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withheld: bool,
}

/// A failure that a repair might remove.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairTarget {
    /// The task that failed.
    pub task: TaskKey,
    /// The attempt that failed.
    pub attempt: u32,
    /// Why it failed.
    pub failure: Failure,
    /// The task's own Verify commands.
    pub verify: Vec<VerifyCommand>,
    /// Environment variables that earlier repairs set.
    pub environment: Vec<(String, String)>,
}

/// An automatic fix: one that regreen carries out itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairOrder {
    /// The fix.
    pub fix: TaskKey,
    /// The number of this attempt at the fix.
    pub attempt: u32,
    /// The repair.
    pub repair: PlannedRepair,
    /// Whether a person has agreed to it.
    pub agreed: bool,
    /// Whether it had already begun when regreen or the machine went down.
    #[serde(default)]
    pub again: bool,
    /// The failure that it should remove.
    #[serde(rename = "scene")]
    pub target: RepairTarget,
}

/// A fix task to insert.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixOrder {
    /// The task it fixes.
    pub task: TaskKey,
    /// The id of the fix task.
    pub id: TaskId,
    /// The failure it is made for.
    #[serde(flatten)]
    pub origin: FixOrigin,
}

/// Rows to insert at an agent's request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModifyOrder {
    /// The task whose agent asked.
    pub task: TaskKey,
    /// The attempt that asked; its request is granted only once.
    pub attempt: u32,
    /// The request.
    pub request: ModificationRequest,
}

impl ModifyOrder {
    /// Returns a name by which a request that was already granted is recognized.
    #[must_use]
    pub fn name(&self, run: &str) -> String {
        format!("{run}/{}", self.attempt)
    }
}

/// The checks to repeat before a run ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinalCheckOrder {
    /// The checks, quickest first.
    pub checks: Vec<RepeatedCheck>,
    /// The last attempt of the run. A check that passed after it need not run again if the files
    /// are still as the attempt left them.
    pub last_attempt: Option<(TaskKey, u32)>,
    /// The tests whose failure a person has accepted.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub accepted_tests: BTreeSet<String>,
    /// The tests that have flickered often in this run.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub quarantined_tests: BTreeSet<String>,
    /// How long all checks together may take.
    pub limit_ms: u64,
    /// How long each command may take.
    pub timeout_ms: u64,
    /// Environment variables that repairs set.
    pub environment: Vec<(String, String)>,
}

/// A commit to make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitOrder {
    /// The task that has passed.
    pub task: TaskKey,
    /// The commit message.
    pub message: String,
    /// The number of attempts so far. The commit has the changes of all of them.
    pub attempts: u32,
    /// Its number among the commits of the run, which identifies a commit that was already made.
    #[serde(default)]
    pub number: u32,
    /// HEAD after the task's last attempt. It is an ancestor of the commit, but not always its
    /// parent, because fixes are committed in between.
    #[serde(default)]
    pub parent: Option<String>,
}

/// The progress file entry of a finished task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The task.
    pub task: TaskKey,
    /// Its commit.
    pub hash: Option<String>,
    /// Its fixes that were ticked without being run.
    #[serde(default)]
    pub superseded: Vec<TaskKey>,
}
