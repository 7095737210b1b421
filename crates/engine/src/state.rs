//! The state of a run and of its tasks.

use std::collections::{BTreeMap, BTreeSet};

use regreen_model::{
    AttemptClass, AttemptReport, ChoiceKind, Claim, CommandSeq, FailureRecord, Mark, PassedVerify,
    PickedTask, PlannedRepair, PromptKind, RedTests, Regression, RepairAction, RunConfig,
    RunOutcome, Spending, StopSignal, TaskId, TaskKey, Timestamp, UsageLedger,
};
use serde::{Deserialize, Serialize};

use crate::recovery::History;

/// The state of a run, which is the fold of its events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// The id of the run.
    pub run: String,
    /// Its settings.
    pub config: RunConfig,
    /// The number of the next command.
    pub next_seq: CommandSeq,
    /// The command that reads the plan, while it is pending.
    pub reading: Option<CommandSeq>,
    /// The tasks picked so far.
    #[serde(with = "pairs")]
    pub tasks: BTreeMap<TaskKey, TaskState>,
    /// The task picked last.
    #[serde(default)]
    pub current: Option<TaskKey>,
    /// The number of attempts charged to the run.
    pub iterations: u32,
    /// The limit on attempts, determined when the plan is first read.
    pub max_iterations: Option<u32>,
    /// How long the run has waited for the agent's service.
    pub waited_ms: u64,
    /// The amounts that the run has spent so far.
    #[serde(default)]
    pub spent: Spending,
    /// The amounts spent on each unfinished original, including its fixes.
    #[serde(default)]
    pub spent_on: Vec<(TaskKey, Spending)>,
    /// When the run was last resumed.
    #[serde(default)]
    pub resumed_at: Option<Timestamp>,
    /// The number of waits in a row without a usable attempt in between.
    pub waits: u32,
    /// Rows that an agent removed once and that were put back.
    pub put_back: BTreeSet<TaskKey>,
    /// Tasks that weren't run because agents removed their rows, in this run or before. Until a
    /// person skips them or puts the rows back, no run is green.
    #[serde(default)]
    pub lost: BTreeSet<TaskKey>,
    /// Tasks that won't run.
    pub skipped: BTreeSet<TaskKey>,
    /// Originals that are waiting for a person.
    #[serde(default)]
    pub parked: BTreeSet<TaskKey>,
    /// Whether the previous run ended at a limit. Then originals come before their own fixes until
    /// they have been tried.
    #[serde(default)]
    pub after_limit: bool,
    /// Environment variables that repairs set for every process of the run.
    #[serde(default)]
    pub environment: Vec<(String, String)>,
    /// The number of the last recorded choice.
    #[serde(default)]
    pub choices_seen: u64,
    /// The number of commits requested and answered. A commit that is requested again, after a
    /// crash or a power cut, keeps its number.
    #[serde(default)]
    pub commits: u32,
    /// The number of rows to run when the plan was last read.
    pub total_tasks: u32,
    /// Set once the user has asked the run to stop.
    pub stopping: Option<StopSignal>,
    /// How the run ended.
    pub outcome: Option<RunOutcome>,
    /// Counts everything that may change the work: attempts, repairs, and breaks in which people
    /// may act.
    #[serde(default)]
    pub steps: u64,
    /// The last attempt.
    #[serde(default)]
    pub last_attempt: Option<(TaskKey, u32)>,
    /// Tasks that agents ticked while working on others, and whose checks passed.
    #[serde(default)]
    pub claimed: Vec<(Claim, PassedCheck)>,
    /// The checks that originals have passed in earlier runs since all tasks were last done.
    #[serde(default)]
    pub earlier_checks: Vec<PassedVerify>,
    /// The state of the final check.
    #[serde(default)]
    pub final_check: FinalCheck,
    /// How often tests have flickered in this run.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub flickers: BTreeMap<String, u32>,
    /// The services started so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<ServiceState>,
    /// The closing commit, while it is pending.
    #[serde(default)]
    pub closing: Option<CommandSeq>,
    /// The value of `steps` at the closing commit.
    #[serde(default)]
    pub closed_at: Option<u64>,
    /// Whether a task of the run was committed.
    #[serde(default)]
    pub has_committed: bool,
    /// Whether the run should stop once the current original is done or given up.
    #[serde(default)]
    pub stops_after_task: bool,
    /// Fixes that were ticked without being run, because their originals had passed.
    #[serde(default)]
    pub superseded: BTreeSet<TaskKey>,
    /// The version of the fold that produced this state.
    #[serde(default)]
    pub fold: u32,
}

/// The known state of a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceState {
    /// The task whose row declares it.
    pub task: TaskKey,
    /// Its command.
    pub command: String,
    /// The path of its log.
    pub log: String,
    /// Whether it is running.
    pub is_running: bool,
    /// Why it isn't running, if that is its own fault.
    pub trouble: Option<String>,
    /// How often it was restarted, or failed to start, during the current task.
    pub restarts: u32,
}

/// A check that passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedCheck {
    /// The value of [`State::steps`] at that time.
    pub at: u64,
    /// How long it took.
    pub took_ms: u64,
}

/// The state of the final check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinalCheck {
    /// Its current phase.
    pub phase: FinalCheckPhase,
    /// The value of [`State::steps`] when it last let the run end.
    pub passed_at: Option<u64>,
    /// The value of [`State::steps`] when it last ended.
    pub checked_at: u64,
    /// The tasks that had regressed then.
    pub regressed: Vec<Regression>,
    /// The tasks for whose checks no time was left then.
    #[serde(default)]
    pub out_of_time: Vec<TaskKey>,
}

/// The phases of the final check, named after what it is waiting for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum FinalCheckPhase {
    /// Nothing.
    #[default]
    Idle,
    /// The repeated checks.
    Checking {
        /// The pending command.
        seq: CommandSeq,
    },
    /// Regressed tasks to be unticked.
    Reopening {
        /// The pending command.
        seq: CommandSeq,
    },
}

impl FinalCheckPhase {
    /// Returns the pending command, if there is one.
    #[must_use]
    pub fn seq(self) -> Option<CommandSeq> {
        match self {
            Self::Checking { seq } | Self::Reopening { seq } => Some(seq),
            Self::Idle => None,
        }
    }
}

/// The state of one task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskState {
    /// The task as last picked.
    pub picked: PickedTask,
    /// Its current phase.
    pub phase: Phase,
    /// A person's choice about it, which takes effect once nothing of the task is pending.
    #[serde(rename = "said")]
    pub choice: Option<ChoiceKind>,
    /// The kind of prompt for the next attempt.
    pub prompt: PromptKind,
    /// The number of all attempts.
    pub attempts: u32,
    /// The number of attempts charged to the task.
    pub iterations: u32,
    /// How often an attempt was interrupted.
    pub interruptions: u32,
    /// How often its session was lost.
    pub lost_sessions: u32,
    /// How often an attempt changed nothing.
    pub noops: u32,
    /// Whether the agent was already reminded in this attempt.
    pub reminded: bool,
    /// The report of the last attempt.
    pub report: Option<Box<AttemptReport>>,
    /// Whether the attempt changed files, with its reminder and those before it that were cut short.
    pub changed_files: bool,
    /// The session of the last attempt, as the agent names it.
    pub session: Option<String>,
    /// The usage of its sessions.
    #[serde(default)]
    pub sessions: UsageLedger,
    /// Why it failed last.
    pub failure: Option<FailureRecord>,
    /// The attempt in which it failed last.
    #[serde(default)]
    pub failed_attempt: Option<u32>,
    /// The output of the hook that refused the task's commit.
    pub refusal: Option<String>,
    /// Remarks about how it passed.
    pub marks: BTreeSet<Mark>,
    /// Its commit.
    pub hash: Option<String>,
    /// Whether it passed; `None` while it is pending.
    pub result: Option<bool>,
    /// Fixes made for it in this run, each with the error it was made for.
    #[serde(default)]
    pub fixes: Vec<(TaskId, String)>,
    /// The fingerprint of the failure that the last fix should remove.
    #[serde(default)]
    pub fixed_blocker: Option<String>,
    /// Whether a fix was made since its last attempt.
    #[serde(default)]
    pub was_fixed: bool,
    /// Whether the agent had signalled completion and only Verify failed.
    #[serde(default)]
    pub only_red: bool,
    /// The time limit of its next attempt, as a multiple of the usual one.
    #[serde(default = "one")]
    pub time_factor: u32,
    /// Whether the last attempt was asked to split the task.
    #[serde(default)]
    pub asked_to_split: bool,
    /// How often an attempt was repeated because of passing trouble.
    #[serde(default)]
    pub repeats: u32,
    /// Whether the agent was given the information that it lacked.
    #[serde(default)]
    pub was_enriched: bool,
    /// The fix that regreen carries out itself.
    #[serde(default, rename = "own_fix")]
    pub automatic_fix: Option<AutomaticFix>,
    /// The repairs made for it.
    #[serde(default)]
    pub repaired: Vec<RepairAction>,
    /// The user's messages about it, oldest first.
    #[serde(default)]
    pub context: Vec<String>,
    /// Whether a person may have edited it since it was picked, so that it must be read again.
    #[serde(default)]
    pub edited: bool,
    /// Its last check that passed.
    #[serde(default)]
    pub passed_check: Option<PassedCheck>,
    /// The value of [`State::steps`] when its last attempt began.
    #[serde(default)]
    pub attempted_at: u64,
    /// The value of [`State::steps`] when the final check found that it no longer passes; `None`
    /// once that is handled.
    #[serde(default)]
    pub regressed_at: Option<u64>,
    /// Whether it failed twice because the same thing was missing or forbidden, with nothing
    /// changed.
    #[serde(default)]
    pub is_stalled: bool,
    /// Its fixes that were ticked without being run.
    #[serde(default)]
    pub superseded: Vec<TaskKey>,
    /// The tests that failed in the last runs of its check, if it names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub red_tests: Vec<RedTests>,
    /// The known failures with which it passed.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub known_failures: BTreeSet<String>,
}

fn one() -> u32 {
    1
}

/// A fix that regreen carries out itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AutomaticFix {
    /// `None` until it has a row.
    pub fix: Option<TaskId>,
    /// The repair.
    pub repair: PlannedRepair,
    /// Whether a person has agreed to it.
    pub agreed: bool,
}

/// The phases of a task, named after what it is waiting for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum Phase {
    /// To be picked.
    Open,
    /// An attempt.
    Attempting {
        /// The pending command.
        seq: CommandSeq,
        /// The number of the attempt.
        attempt: u32,
    },
    /// The check of ticks on other tasks.
    JudgingClaims {
        /// The pending command.
        seq: CommandSeq,
    },
    /// Its Verify.
    Verifying {
        /// The pending command.
        seq: CommandSeq,
        /// Whether this is the second run of the check.
        again: bool,
        /// Whether the check runs before the agent is asked again.
        #[serde(default)]
        first: bool,
    },
    /// A review of the tests that failed.
    ReviewingTests {
        /// The pending command.
        seq: CommandSeq,
        /// Whether the check ran before the agent is asked again.
        #[serde(default)]
        first: bool,
    },
    /// The agent's opinion about its failure.
    AskingOpinion {
        /// The pending command.
        seq: CommandSeq,
    },
    /// An inspection of what can be repaired.
    Inspecting {
        /// The pending command.
        seq: CommandSeq,
    },
    /// The automatic fix to be carried out.
    Repairing {
        /// The pending command.
        seq: CommandSeq,
    },
    /// Its fix budget.
    Budgeting {
        /// The pending command.
        seq: CommandSeq,
    },
    /// Its fix to be inserted.
    Inserting {
        /// The pending command.
        seq: CommandSeq,
        /// The id of the fix.
        fix: TaskId,
        /// Whether the error came back after a fix that should have removed it.
        again: bool,
    },
    /// The rows that the agent asked for.
    Modifying {
        /// The pending command.
        seq: CommandSeq,
    },
    /// Its open fixes to be read. Found only in journals of earlier versions.
    Superseding {
        /// The pending command.
        seq: CommandSeq,
    },
    /// These fixes to be ticked. Found only in journals of earlier versions.
    TickingFixes {
        /// The pending command.
        seq: CommandSeq,
        /// The fixes.
        fixes: Vec<TaskKey>,
    },
    /// A note in the progress file that healing failed.
    Noting {
        /// The pending command.
        seq: CommandSeq,
        /// The message about the limit.
        message: String,
    },
    /// A person's answer.
    Asking {
        /// `None` while nobody is being asked. The question is open all the same, and an answer to
        /// an earlier command is late.
        seq: Option<CommandSeq>,
        /// The question.
        why: String,
        /// The repair that the person may allow.
        #[serde(default)]
        repair: Option<PlannedRepair>,
    },
    /// Its box to be ticked or unticked.
    Ticking {
        /// The pending command.
        seq: CommandSeq,
        /// `true` to tick, `false` to untick.
        done: bool,
    },
    /// Its commit.
    Committing {
        /// The pending command.
        seq: CommandSeq,
    },
    /// Its entry in the progress file.
    Recording {
        /// The pending command.
        seq: CommandSeq,
    },
    /// The agent's service, or the delay before a repeat.
    Waiting {
        /// The pending command.
        seq: CommandSeq,
        /// When the wait began.
        since: Timestamp,
        /// When it ends.
        until: Timestamp,
        /// Whether the wait comes before a repeat.
        #[serde(default)]
        repeats: bool,
    },
    /// Nothing.
    Closed,
}

impl Phase {
    /// Returns the pending command, if there is one.
    #[must_use]
    pub fn seq(&self) -> Option<CommandSeq> {
        match self {
            Self::Attempting { seq, .. }
            | Self::JudgingClaims { seq }
            | Self::Verifying { seq, .. }
            | Self::ReviewingTests { seq, .. }
            | Self::AskingOpinion { seq }
            | Self::Inspecting { seq }
            | Self::Repairing { seq }
            | Self::Budgeting { seq }
            | Self::Inserting { seq, .. }
            | Self::Modifying { seq }
            | Self::Superseding { seq }
            | Self::TickingFixes { seq, .. }
            | Self::Noting { seq, .. }
            | Self::Ticking { seq, .. }
            | Self::Committing { seq }
            | Self::Recording { seq }
            | Self::Waiting { seq, .. } => Some(*seq),
            Self::Asking { seq, .. } => *seq,
            Self::Open | Self::Closed => None,
        }
    }

    /// Whether the pending command runs foreign code; see [`Command`](crate::Command).
    pub(crate) fn runs_foreign_code(&self) -> bool {
        matches!(
            self,
            Self::Attempting { .. }
                | Self::JudgingClaims { .. }
                | Self::Verifying { .. }
                | Self::ReviewingTests { .. }
                | Self::AskingOpinion { .. }
                | Self::Repairing { .. }
                | Self::Committing { .. }
        )
    }

    /// Whether it is completed no matter what a person chooses meanwhile: an interrupted attempt is
    /// recorded, and no file is left half changed. The box ends up as the choice wants it: ticked
    /// for "done", unticked for "retry".
    pub(crate) fn outlasts(&self, choice: ChoiceKind) -> bool {
        match self {
            Self::Attempting { .. } | Self::JudgingClaims { .. } | Self::Repairing { .. } => true,
            Self::Ticking { done: true, .. } | Self::Committing { .. } | Self::Recording { .. } => {
                choice != ChoiceKind::Retry
            }
            Self::Ticking { done: false, .. } => choice != ChoiceKind::Done,
            Self::Superseding { .. } | Self::TickingFixes { .. } => choice != ChoiceKind::Retry,
            Self::Open
            | Self::Verifying { .. }
            | Self::ReviewingTests { .. }
            | Self::AskingOpinion { .. }
            | Self::Inspecting { .. }
            | Self::Budgeting { .. }
            | Self::Inserting { .. }
            | Self::Modifying { .. }
            | Self::Noting { .. }
            | Self::Asking { .. }
            | Self::Waiting { .. }
            | Self::Closed => false,
        }
    }
}

impl State {
    /// The version of the fold. States of earlier versions lack facts that the events would yield
    /// now.
    pub const FOLD: u32 = 4;

    /// Whether the events must be folded again.
    #[must_use]
    pub fn is_outdated(&self) -> bool {
        self.fold < Self::FOLD
    }

    /// Returns the task that is waiting for this command.
    #[must_use]
    pub fn task_of(&self, seq: CommandSeq) -> Option<&TaskState> {
        self.tasks
            .values()
            .find(|task| task.phase.seq() == Some(seq))
    }

    /// Returns the task that is waiting for something that regreen itself can do. Questions don't
    /// count: they stay open until their task is next.
    #[must_use]
    pub fn pending_task(&self) -> Option<&TaskState> {
        self.tasks.values().find(|task| match task.phase {
            Phase::Asking { .. } => false,
            _ => task.phase.seq().is_some(),
        })
    }

    /// Returns the state with only one of its tasks, which is enough to decide about it.
    #[must_use]
    pub(crate) fn narrowed(&self, key: &TaskKey) -> Self {
        let tasks = self.tasks.get_key_value(key);
        Self {
            tasks: tasks
                .into_iter()
                .map(|(key, task)| (key.clone(), task.clone()))
                .collect(),
            ..self.without_tasks()
        }
    }

    pub(crate) fn without_tasks(&self) -> Self {
        Self {
            run: self.run.clone(),
            config: self.config.clone(),
            tasks: BTreeMap::new(),
            current: self.current.clone(),
            put_back: self.put_back.clone(),
            lost: self.lost.clone(),
            skipped: self.skipped.clone(),
            parked: self.parked.clone(),
            spent_on: self.spent_on.clone(),
            environment: self.environment.clone(),
            outcome: self.outcome.clone(),
            last_attempt: self.last_attempt.clone(),
            claimed: self.claimed.clone(),
            earlier_checks: self.earlier_checks.clone(),
            final_check: self.final_check.clone(),
            flickers: self.flickers.clone(),
            services: self.services.clone(),
            superseded: self.superseded.clone(),
            ..*self
        }
    }

    /// Returns the amount spent on an original and its fixes.
    #[must_use]
    pub fn spent_on(&self, root: &TaskKey) -> Spending {
        let spent = self.spent_on.iter().find(|(task, _)| task == root);
        spent.map_or_else(Spending::default, |(_, spent)| *spent)
    }

    /// Returns the limit on the run's attempts.
    #[must_use]
    pub fn iteration_limit(&self) -> u32 {
        self.max_iterations
            .unwrap_or(self.config.limits.global_iterations)
    }
}

impl TaskState {
    /// Whether an attempt resumes the previous session. After a failure the agent starts a new one;
    /// after an interruption, or if it only has to add something, it doesn't.
    pub(crate) fn continues_session(&self, prompt: PromptKind) -> bool {
        let was_interrupted = self.report.as_ref().is_some_and(|report| {
            report.ending.timed_out || matches!(report.class, AttemptClass::Transient { .. })
        });
        match prompt {
            PromptKind::Reminder
            | PromptKind::NoOp
            | PromptKind::Interrupted
            | PromptKind::Split => true,
            PromptKind::NewSession | PromptKind::Enriched => false,
            PromptKind::First | PromptKind::Retry => was_interrupted,
        }
    }

    /// Creates the state of a picked task. If an earlier run left it unfinished, it starts with
    /// that failure.
    #[must_use]
    pub fn new(picked: PickedTask) -> Self {
        Self {
            phase: Phase::Open,
            choice: None,
            prompt: match picked.failed_before {
                Some(_) => PromptKind::Retry,
                None => PromptKind::First,
            },
            attempts: 0,
            iterations: 0,
            interruptions: 0,
            lost_sessions: 0,
            noops: 0,
            reminded: false,
            report: None,
            changed_files: false,
            session: None,
            sessions: UsageLedger::default(),
            failure: picked.failed_before.clone(),
            failed_attempt: None,
            picked,
            refusal: None,
            marks: BTreeSet::new(),
            hash: None,
            result: None,
            fixes: Vec::new(),
            fixed_blocker: None,
            was_fixed: false,
            only_red: false,
            time_factor: one(),
            asked_to_split: false,
            repeats: 0,
            was_enriched: false,
            automatic_fix: None,
            repaired: Vec::new(),
            context: Vec::new(),
            edited: false,
            passed_check: None,
            attempted_at: 0,
            regressed_at: None,
            is_stalled: false,
            superseded: Vec::new(),
            red_tests: Vec::new(),
            known_failures: BTreeSet::new(),
        }
    }

    /// Returns the kind of prompt for the next attempt. An interrupted reminder is repeated.
    #[must_use]
    pub fn next_prompt(&self) -> PromptKind {
        if self.reminded {
            PromptKind::Reminder
        } else {
            self.prompt
        }
    }

    /// Returns the number of the next attempt among those charged to the task. A reminder belongs
    /// to the previous one.
    #[must_use]
    pub fn iteration(&self, prompt: PromptKind) -> u32 {
        let is_new = !matches!(prompt, PromptKind::Reminder | PromptKind::Split);
        (self.iterations + u32::from(is_new)).max(1)
    }

    /// Returns the number of charged attempts in words.
    pub(crate) fn attempts_made(&self) -> String {
        match self.iterations {
            1 => "1 attempt".to_owned(),
            attempts => format!("{attempts} attempts"),
        }
    }

    /// Returns its key.
    #[must_use]
    pub fn key(&self) -> &TaskKey {
        &self.picked.task
    }

    /// Whether fixes were made for it, in this run or before.
    pub(crate) fn owns_fixes(&self) -> bool {
        self.picked.has_fixes || !self.fixes.is_empty()
    }

    /// Returns the part of its past that recovery depends on.
    pub(crate) fn history(&self) -> History<'_> {
        History {
            iterations: self.iterations,
            lost_sessions: self.lost_sessions,
            interruptions: self.interruptions,
            repeats: self.repeats,
            was_enriched: self.was_enriched,
            asked_to_split: self.asked_to_split,
            is_reminder: self.next_prompt() == PromptKind::Reminder,
            repaired: &self.repaired,
            was_repaired: false,
            is_stalled: self.is_stalled,
        }
    }
}

/// Serializes a map as pairs: JSON objects need string keys, and a task's key is a struct.
mod pairs {
    use std::collections::BTreeMap;

    use regreen_model::TaskKey;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::TaskState;

    pub(super) fn serialize<S: Serializer>(
        tasks: &BTreeMap<TaskKey, TaskState>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        tasks.values().collect::<Vec<_>>().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<TaskKey, TaskState>, D::Error> {
        let tasks = Vec::<TaskState>::deserialize(deserializer)?;
        Ok(tasks
            .into_iter()
            .map(|task| (task.key().clone(), task))
            .collect())
    }
}
