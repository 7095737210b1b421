//! What the engine is told.

use regreen_model::{
    AttemptReport, CommandSeq, Failure, FixBudget, Inspection, PassedVerify, PersonAnswer,
    PersonChoice, PlanChanges, PlanStatus, RepairResult, RepeatResult, RunConfig, ServiceReport,
    StopSignal, TaskKey, Verdict,
};
use serde::{Deserialize, Serialize};

use crate::state::{Phase, State};

/// Something that happened. An answer names its command; late and repeated answers are
/// dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "input", rename_all = "snake_case")]
pub enum Input {
    /// A run begins.
    Start {
        /// The id of the run.
        run: String,
        /// Its configuration.
        config: Box<RunConfig>,
        /// All choices of people about the spec's tasks, oldest first.
        #[serde(default)]
        choices: Vec<PersonChoice>,
        /// The run before this one ended at a limit.
        #[serde(default)]
        after_limit: bool,
        /// Tasks whose rows agents removed in earlier runs, and that no one has settled.
        #[serde(default)]
        lost: Vec<TaskKey>,
        /// The checks that originals passed in earlier runs, since all tasks were last done.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        earlier: Vec<PassedVerify>,
        /// Variables that repairs of earlier runs have set.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        environment: Vec<(String, String)>,
    },
    /// The process that drove this run is gone; a new one has folded its events.
    Resume(Resumption),
    /// Something that the user should know.
    Noticed {
        /// The warnings.
        messages: Vec<String>,
    },
    /// The plan was changed while something ran that the agent or the repository wrote. An
    /// attempt reports its own changes.
    PlanReviewed {
        /// The task for which it ran.
        task: Option<TaskKey>,
        /// The changes, and those that were reverted.
        changes: PlanChanges,
    },
    /// Something happened to services.
    ServicesChanged {
        /// What happened, in this order.
        reports: Vec<ServiceReport>,
    },
    /// An attempt that is being made says what its session is called. It names the command,
    /// and is not its answer.
    SessionSeen {
        /// The command that this answers.
        seq: CommandSeq,
        /// The id of the session.
        session: String,
    },
    /// The plan was read.
    PlanRead {
        /// The command that this answers.
        seq: CommandSeq,
        /// The next task in it.
        plan: PlanStatus,
    },
    /// An attempt ended.
    AttemptEnded {
        /// The command that this answers.
        seq: CommandSeq,
        /// How it ended.
        report: Box<AttemptReport>,
    },
    /// The task was removed from the file, or ticked by a person, so there was no attempt, or
    /// no fix for it.
    Gone {
        /// The command that this answers.
        seq: CommandSeq,
    },
    /// Ticks of other tasks were checked.
    ClaimsJudged {
        /// The command that this answers.
        seq: CommandSeq,
        /// The tasks that stay ticked.
        kept: Vec<TaskKey>,
        /// The tasks whose tick was taken back.
        taken_back: Vec<TaskKey>,
    },
    /// A task's checks ended.
    Verified {
        /// The command that this answers.
        seq: CommandSeq,
        /// What they say.
        verdict: Verdict,
        /// Why it failed.
        #[serde(default)]
        diagnosis: Option<Box<Failure>>,
        /// How long they took.
        #[serde(default)]
        took_ms: u64,
    },
    /// A possible repair was inspected.
    RepairInspected {
        /// The command that this answers.
        seq: CommandSeq,
        /// What the inspection found.
        inspection: Inspection,
    },
    /// A repair ended.
    RepairEnded {
        /// The command that this answers.
        seq: CommandSeq,
        /// How it ended.
        result: RepairResult,
    },
    /// The fix budget of a task was read.
    BudgetRead {
        /// The command that this answers.
        seq: CommandSeq,
        /// The budget.
        budget: FixBudget,
    },
    /// A fix task is in the plan.
    Inserted {
        /// The command that this answers.
        seq: CommandSeq,
    },
    /// A request for more rows was answered.
    Modified {
        /// The command that this answers.
        seq: CommandSeq,
        /// The answer.
        result: ModifyResult,
    },
    /// Only in journals of earlier versions, in which superseding fixes took two commands.
    OpenFixesRead {
        /// The command that this answers.
        seq: CommandSeq,
        /// The open fixes.
        fixes: Vec<TaskKey>,
    },
    /// Only in journals of earlier versions.
    FixesTicked {
        /// The command that this answers.
        seq: CommandSeq,
    },
    /// A limit is noted in the progress file.
    FailureNoted {
        /// The command that this answers.
        seq: CommandSeq,
    },
    /// A person answered.
    PersonAnswered {
        /// The command that this answers.
        seq: CommandSeq,
        /// The answer.
        answer: PersonAnswer,
        /// The choice that holds beyond the run, as it is stored.
        choice: Option<PersonChoice>,
    },
    /// The box of a task is as it should be.
    Ticked {
        /// The command that this answers.
        seq: CommandSeq,
        /// The fixes that were ticked as well.
        #[serde(default)]
        superseded: Vec<TaskKey>,
    },
    /// A commit was made, or could not be.
    Committed {
        /// The command that this answers.
        seq: CommandSeq,
        /// Which of the two.
        result: CommitResult,
    },
    /// What was left of the spec's own files is committed, or could not be.
    ClosingCommitted {
        /// The command that this answers.
        seq: CommandSeq,
        /// Which of the two.
        result: CommitResult,
    },
    /// A finished task is in the progress file.
    Recorded {
        /// The command that this answers.
        seq: CommandSeq,
    },
    /// A wait is over.
    Waited {
        /// The command that this answers.
        seq: CommandSeq,
    },
    /// The checks were repeated.
    FinallyChecked {
        /// The command that it answers.
        seq: CommandSeq,
        /// The result of each check.
        results: Vec<RepeatResult>,
        /// How long all of them took.
        took_ms: u64,
    },
    /// The tasks that no longer pass are unticked.
    Reopened {
        /// The command that it answers.
        seq: CommandSeq,
    },
    /// An answer after which the task may get a fix, with what that needs to know.
    WithFixBudget {
        /// The answer that tells of the failure.
        answer: Box<Input>,
        /// None if the task was removed from the file, or ticked by a person.
        budget: Option<Box<FixBudget>>,
    },
    /// It was stopped because the user asked to stop.
    Halted {
        /// The command that this answers.
        seq: CommandSeq,
    },
    /// Someone keeps saving the file that has to be edited: the edit stays pending.
    Contended {
        /// The command that this answers.
        seq: CommandSeq,
        /// What changed meanwhile.
        why: String,
    },
    /// The command can't be performed on this machine as it is.
    Broken {
        /// The command that this answers.
        seq: CommandSeq,
        /// What failed.
        why: String,
    },
    /// Someone asks the run to stop.
    Stop {
        /// How they ask.
        signal: StopSignal,
    },
}

impl Input {
    /// The command that it answers.
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
            | Self::Ticked { seq, .. }
            | Self::Committed { seq, .. }
            | Self::ClosingCommitted { seq, .. }
            | Self::Recorded { seq }
            | Self::Waited { seq }
            | Self::FinallyChecked { seq, .. }
            | Self::Reopened { seq }
            | Self::Halted { seq }
            | Self::Contended { seq, .. }
            | Self::Broken { seq, .. } => Some(*seq),
            Self::WithFixBudget { answer, .. } => answer.seq(),
            Self::Start { .. }
            | Self::Resume(_)
            | Self::Noticed { .. }
            | Self::PlanReviewed { .. }
            | Self::ServicesChanged { .. }
            | Self::SessionSeen { .. }
            | Self::Stop { .. } => None,
        }
    }
}

impl State {
    /// The task that may get a fix after this answer. The driver adds the task's fix budget to
    /// the answer, so that the engine need not ask for it.
    #[must_use]
    pub fn may_get_fix(&self, answer: &Input) -> Option<&TaskKey> {
        let task = self.task_of(answer.seq()?)?;
        let may_fail = match (answer, &task.phase) {
            (Input::AttemptEnded { report, .. }, _) => {
                !report.signalled || report.reports_failure || report.contradiction.is_some()
            }
            (Input::Verified { verdict, .. }, Phase::Verifying { again, .. }) => {
                *again && matches!(verdict, Verdict::Red { .. })
            }
            (Input::Ticked { .. }, Phase::Ticking { done, .. }) => !done,
            (Input::RepairInspected { .. }, _) => true,
            (Input::PersonAnswered { answer, .. }, _) => {
                matches!(answer, PersonAnswer::Fix | PersonAnswer::Repair)
            }
            _ => false,
        };
        (may_fail && self.config.recovery).then(|| task.key())
    }
}

/// What a process knows that takes over a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Resumption {
    /// As with `Start`: choices that the run knows already change nothing.
    pub choices: Vec<PersonChoice>,
    /// The settings, if they have changed.
    pub config: Option<Box<RunConfig>>,
    /// What the interrupted attempt left behind.
    pub interrupted: Option<Box<AttemptReport>>,
    /// What a check, a hook or a repair changed in the plan before the process ended.
    pub reviewed: Option<Box<PlanChanges>>,
}

/// The result of a request to change the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum ModifyResult {
    /// Rows were added.
    Done {
        /// The rows.
        added: Vec<TaskKey>,
    },
    /// Nothing was added.
    Refused {
        /// The reason.
        why: String,
    },
}

/// The result of a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum CommitResult {
    /// There is a commit.
    Done {
        /// Its hash.
        hash: String,
        /// The parts left out, and why.
        warnings: Vec<String>,
    },
    /// Nothing was left to commit, or there is no repository.
    Nothing,
    /// A hook of the user refused it.
    HookFailed {
        /// What the hook printed.
        output: String,
    },
    /// Git failed for a reason that is not the task's.
    Impossible {
        /// The reason.
        why: String,
    },
}
