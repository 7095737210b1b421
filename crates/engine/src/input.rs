//! The inputs of the engine.

use regreen_model::{
    AttemptReport, CommandSeq, Experience, Failure, FixBudget, Inspection, PassedVerify,
    PersonAnswer, PersonChoice, PlanChanges, PlanStatus, RedTests, RepairResult, RepeatResult,
    RunConfig, ServiceReport, StopSignal, TaskKey, TestReview, Usage, Verdict,
};
use serde::{Deserialize, Serialize};

use crate::state::{Phase, State};

/// Something that happened. An answer names its command; late and repeated answers are ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "input", rename_all = "snake_case")]
pub enum Input {
    /// A run begins.
    Start {
        /// The id of the run.
        run: String,
        /// Its configuration.
        config: Box<RunConfig>,
        /// All choices about the spec's tasks, oldest first.
        #[serde(default)]
        choices: Vec<PersonChoice>,
        /// Whether the previous run ended at a limit.
        #[serde(default)]
        after_limit: bool,
        /// Tasks whose rows agents removed in earlier runs, and that nobody has settled since.
        #[serde(default)]
        lost: Vec<TaskKey>,
        /// The checks that originals have passed in earlier runs since all tasks were last done.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        earlier: Vec<PassedVerify>,
        /// Environment variables that repairs in earlier runs set.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        environment: Vec<(String, String)>,
    },
    /// The process that drove this run is gone; a new one has folded its events.
    Resume(Resumption),
    /// Something happened that the user should know about.
    Noticed {
        /// The warnings.
        messages: Vec<String>,
    },
    /// The plan changed while foreign code ran. Attempts report such changes themselves.
    PlanReviewed {
        /// The task it ran for.
        task: Option<TaskKey>,
        /// The changes, including those that were reverted.
        changes: PlanChanges,
    },
    /// Something happened to services.
    ServicesChanged {
        /// The changes, in order.
        reports: Vec<ServiceReport>,
    },
    /// People have decided something at other terminals. This arrives only between commands, when nothing is being
    /// performed.
    Decided {
        /// The choices that the run hasn't seen yet, oldest first.
        choices: Vec<PersonChoice>,
        /// The tasks whose open questions someone has answered.
        answered: Vec<TaskKey>,
    },
    /// A running attempt named its session. This refers to the command without answering it.
    SessionSeen {
        /// The command it refers to.
        seq: CommandSeq,
        /// The id of the session.
        session: String,
    },
    /// The plan was read.
    PlanRead {
        /// The command that this answers.
        seq: CommandSeq,
        /// The state of the plan, with the next task.
        plan: PlanStatus,
    },
    /// An attempt ended.
    AttemptEnded {
        /// The command that this answers.
        seq: CommandSeq,
        /// How it ended.
        report: Box<AttemptReport>,
    },
    /// Someone removed or ticked the task, so no attempt or fix was made.
    Gone {
        /// The command that this answers.
        seq: CommandSeq,
    },
    /// The agent's ticks on other tasks were checked.
    ClaimsJudged {
        /// The command that this answers.
        seq: CommandSeq,
        /// The tasks that stay ticked.
        kept: Vec<TaskKey>,
        /// The tasks that were unticked.
        taken_back: Vec<TaskKey>,
    },
    /// A task's checks ended.
    Verified {
        /// The command that this answers.
        seq: CommandSeq,
        /// The result of the checks.
        verdict: Verdict,
        /// Why it failed.
        #[serde(default)]
        diagnosis: Option<Box<Failure>>,
        /// The tests that failed, if the check names them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tests: Option<Box<RedTests>>,
        /// How long they took.
        #[serde(default)]
        took_ms: u64,
    },
    /// The tests that failed were looked at.
    TestsReviewed {
        /// The command that this answers.
        seq: CommandSeq,
        /// The tests.
        review: Box<TestReview>,
        /// How long it took.
        #[serde(default)]
        took_ms: u64,
    },
    /// The agent was asked for the cause of a failure.
    OpinionGiven {
        /// The command that this answers.
        seq: CommandSeq,
        /// The failure with the cause that it names; `None` if it names none, or none that can be
        /// believed.
        #[serde(default)]
        diagnosis: Option<Box<Failure>>,
        /// What the question cost.
        #[serde(default)]
        usage: Option<Usage>,
        /// How long it took.
        #[serde(default)]
        took_ms: u64,
    },
    /// The failure was looked up in the user's history.
    Recalled {
        /// The command that this answers.
        seq: CommandSeq,
        /// What earlier failures with the same cause show; `None` if there are none, or the history
        /// can't be read.
        #[serde(default)]
        experience: Option<Box<Experience>>,
    },
    /// A possible repair was inspected.
    RepairInspected {
        /// The command that this answers.
        seq: CommandSeq,
        /// The result of the inspection.
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
    /// Found only in journals of earlier versions, in which superseding fixes took two commands.
    OpenFixesRead {
        /// The command that this answers.
        seq: CommandSeq,
        /// The open fixes.
        fixes: Vec<TaskKey>,
    },
    /// Found only in journals of earlier versions.
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
        /// The choice it implies beyond the run, as it was stored.
        choice: Option<PersonChoice>,
    },
    /// Waiting for answers is over, or someone may have edited the plan meanwhile.
    Awaited {
        /// The command that this answers.
        seq: CommandSeq,
    },
    /// The task's box is as ordered.
    Ticked {
        /// The command that this answers.
        seq: CommandSeq,
        /// The fixes that were ticked with it.
        #[serde(default)]
        superseded: Vec<TaskKey>,
    },
    /// A commit was made, or failed.
    Committed {
        /// The command that this answers.
        seq: CommandSeq,
        /// The result.
        result: CommitResult,
    },
    /// The closing commit was made, or failed.
    ClosingCommitted {
        /// The command that this answers.
        seq: CommandSeq,
        /// The result.
        result: CommitResult,
        /// Whether other files changed meanwhile: a commit hook may change any.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        changed: bool,
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
        /// How long the machine or regreen was asleep meanwhile, which doesn't count.
        #[serde(default, skip_serializing_if = "is_zero")]
        asleep_ms: u64,
    },
    /// The checks were repeated.
    FinallyChecked {
        /// The command that this answers.
        seq: CommandSeq,
        /// The result of each check.
        results: Vec<RepeatResult>,
        /// How long all of them took.
        took_ms: u64,
    },
    /// The tasks that no longer pass are unticked.
    Reopened {
        /// The command that this answers.
        seq: CommandSeq,
    },
    /// An answer after which the task may get a fix, together with the task's fix budget.
    WithFixBudget {
        /// The answer that reports the failure.
        answer: Box<Input>,
        /// `None` if someone removed or ticked the task.
        budget: Option<Box<FixBudget>>,
    },
    /// The command was stopped because the user asked to stop.
    Halted {
        /// The command that this answers.
        seq: CommandSeq,
    },
    /// Someone keeps saving the file that must be edited; the edit stays pending.
    Contended {
        /// The command that this answers.
        seq: CommandSeq,
        /// The reason, for people.
        why: String,
    },
    /// The command can't be performed on this machine in its current state.
    Broken {
        /// The command that this answers.
        seq: CommandSeq,
        /// The error.
        why: String,
    },
    /// The user asks the run to stop.
    Stop {
        /// How they asked.
        signal: StopSignal,
    },
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

impl Input {
    /// Returns the number of the command that this answers.
    #[must_use]
    pub fn seq(&self) -> Option<CommandSeq> {
        match self {
            Self::PlanRead { seq, .. }
            | Self::AttemptEnded { seq, .. }
            | Self::Gone { seq }
            | Self::ClaimsJudged { seq, .. }
            | Self::Verified { seq, .. }
            | Self::TestsReviewed { seq, .. }
            | Self::OpinionGiven { seq, .. }
            | Self::Recalled { seq, .. }
            | Self::RepairInspected { seq, .. }
            | Self::RepairEnded { seq, .. }
            | Self::BudgetRead { seq, .. }
            | Self::Inserted { seq }
            | Self::Modified { seq, .. }
            | Self::OpenFixesRead { seq, .. }
            | Self::FixesTicked { seq }
            | Self::FailureNoted { seq }
            | Self::PersonAnswered { seq, .. }
            | Self::Awaited { seq }
            | Self::Ticked { seq, .. }
            | Self::Committed { seq, .. }
            | Self::ClosingCommitted { seq, .. }
            | Self::Recorded { seq }
            | Self::Waited { seq, .. }
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
            | Self::Decided { .. }
            | Self::SessionSeen { .. }
            | Self::Stop { .. } => None,
        }
    }
}

impl State {
    /// Returns the task that may get a fix after this answer. The driver adds the task's fix budget
    /// to the answer, so that the engine need not ask for it. Where a failure is looked up first, the
    /// budget comes with the answer to that.
    #[must_use]
    pub fn may_get_fix(&self, answer: &Input) -> Option<&TaskKey> {
        let task = self.task_of(answer.seq()?)?;
        let may_fail = match (answer, &task.phase) {
            (Input::AttemptEnded { .. } | Input::Verified { .. } | Input::Ticked { .. }, _)
                if self.config.recall =>
            {
                false
            }
            (Input::AttemptEnded { report, .. }, _) => {
                !report.signalled || report.reports_failure || report.contradiction.is_some()
            }
            (Input::Verified { verdict, .. }, Phase::Verifying { again, .. }) => {
                *again && matches!(verdict, Verdict::Red { .. })
            }
            (Input::Ticked { .. }, Phase::Ticking { done, .. }) => !done,
            (Input::TestsReviewed { .. } | Input::OpinionGiven { .. }, _) => !self.config.recall,
            (Input::Recalled { .. } | Input::RepairInspected { .. }, _) => true,
            (Input::PersonAnswered { answer, .. }, _) => {
                matches!(answer, PersonAnswer::Fix | PersonAnswer::Repair)
            }
            _ => false,
        };
        (may_fail && self.config.recovery).then(|| task.key())
    }
}

/// The knowledge of a process that takes over a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Resumption {
    /// As with `Start`; choices that the run already knows have no effect.
    pub choices: Vec<PersonChoice>,
    /// The settings, if they changed.
    pub config: Option<Box<RunConfig>>,
    /// The report of the interrupted attempt.
    pub interrupted: Option<Box<AttemptReport>>,
    /// Changes that a check, a hook or a repair made to the plan before the process ended.
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
    /// The commit was made.
    Done {
        /// Its hash.
        hash: String,
        /// The changes left out, and why.
        warnings: Vec<String>,
    },
    /// There was nothing to commit, or there is no repository.
    Nothing,
    /// One of the user's hooks refused it.
    HookFailed {
        /// The hook's output.
        output: String,
    },
    /// Git failed for a reason unrelated to the task.
    Impossible {
        /// The reason.
        why: String,
    },
}
