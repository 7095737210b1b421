//! What the engine is told.

use regreen_model::{
    AttemptReport, CommandSeq, Failure, FixBudget, Inspection, PersonAnswer, PersonChoice,
    PlanStatus, RepairResult, RunConfig, StopSignal, TaskKey, Verdict,
};
use serde::{Deserialize, Serialize};

use crate::state::{Phase, State};

/// Something that happened. An answer names its command; late and repeated answers are
/// dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "input", rename_all = "snake_case")]
pub enum Input {
    Start {
        run: String,
        config: Box<RunConfig>,
        /// All choices of people about the spec's tasks, oldest first.
        #[serde(default)]
        choices: Vec<PersonChoice>,
        /// The run before this one ended at a limit.
        #[serde(default)]
        after_limit: bool,
    },
    /// The process that drove this run is gone; a new one has folded its events.
    Resume(Resumption),
    /// Something that the user should know.
    Noticed {
        messages: Vec<String>,
    },
    /// An attempt that is being made says what its session is called. It names the command,
    /// and is not its answer.
    SessionSeen {
        seq: CommandSeq,
        session: String,
    },
    PlanRead {
        seq: CommandSeq,
        plan: PlanStatus,
    },
    AttemptEnded {
        seq: CommandSeq,
        report: Box<AttemptReport>,
    },
    /// The task was removed from the file, or ticked by a person, so there was no attempt, or
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
        /// Why it failed.
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
    /// Only in journals of earlier versions, in which superseding fixes took two commands.
    OpenFixesRead {
        seq: CommandSeq,
        fixes: Vec<TaskKey>,
    },
    /// Only in journals of earlier versions.
    FixesTicked {
        seq: CommandSeq,
    },
    FailureNoted {
        seq: CommandSeq,
    },
    PersonAnswered {
        seq: CommandSeq,
        answer: PersonAnswer,
        /// The choice that holds beyond the run, as it is stored.
        choice: Option<PersonChoice>,
    },
    Ticked {
        seq: CommandSeq,
        /// The fixes that were ticked as well.
        #[serde(default)]
        superseded: Vec<TaskKey>,
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
    /// An answer after which the task may get a fix, with what that needs to know.
    WithFixBudget {
        answer: Box<Input>,
        /// None if the task was removed from the file, or ticked by a person.
        budget: Option<Box<FixBudget>>,
    },
    /// It was stopped because the user asked to stop.
    Halted {
        seq: CommandSeq,
    },
    /// Someone keeps saving the file that has to be edited: the edit stays pending.
    Contended {
        seq: CommandSeq,
        why: String,
    },
    /// The command can't be performed on this machine as it is.
    Broken {
        seq: CommandSeq,
        why: String,
    },
    Stop {
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
            | Self::Recorded { seq }
            | Self::Waited { seq }
            | Self::Halted { seq }
            | Self::Contended { seq, .. }
            | Self::Broken { seq, .. } => Some(*seq),
            Self::WithFixBudget { answer, .. } => answer.seq(),
            Self::Start { .. }
            | Self::Resume(_)
            | Self::Noticed { .. }
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
}

/// The result of a request to change the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum ModifyResult {
    Done { added: Vec<TaskKey> },
    Refused { why: String },
}

/// The result of a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum CommitResult {
    Done {
        hash: String,
        warnings: Vec<String>,
    },
    /// Nothing was left to commit, or there is no repository.
    Nothing,
    /// A hook of the user refused it.
    HookFailed {
        output: String,
    },
    /// Git failed for a reason that is not the task's.
    Impossible {
        why: String,
    },
}
