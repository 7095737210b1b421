//! The state of a run and of its tasks.

use std::collections::{BTreeMap, BTreeSet};

use regreen_model::{
    AttemptClass, AttemptReport, ChoiceKind, Claim, CommandSeq, FailureRecord, Mark, PassedVerify,
    PickedTask, PlannedRepair, PromptKind, Regression, RepairAction, RunConfig, RunOutcome,
    Spending, StopSignal, TaskId, TaskKey, Timestamp, UsageLedger,
};
use serde::{Deserialize, Serialize};

use crate::recovery::History;

/// The state of a run: the fold of its events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// The id of the run.
    pub run: String,
    /// Its configuration.
    pub config: RunConfig,
    /// The number of the next command.
    pub next_seq: CommandSeq,
    /// The command that reads the plan, while it is pending.
    pub reading: Option<CommandSeq>,
    /// The tasks that were picked so far.
    #[serde(with = "pairs")]
    pub tasks: BTreeMap<TaskKey, TaskState>,
    /// The task that was picked last.
    #[serde(default)]
    pub current: Option<TaskKey>,
    /// Attempts that are charged to the run.
    pub iterations: u32,
    /// The limit, settled when the plan was first read.
    pub max_iterations: Option<u32>,
    /// How long the run has waited for the agent's service.
    pub waited_ms: u64,
    /// What the run has spent so far.
    #[serde(default)]
    pub spent: Spending,
    /// The amounts spent on originals that are not done, including their fixes.
    #[serde(default)]
    pub spent_on: Vec<(TaskKey, Spending)>,
    /// When it was last resumed.
    #[serde(default)]
    pub resumed_at: Option<Timestamp>,
    /// Waits in a row without a usable attempt between them.
    pub waits: u32,
    /// Rows that an agent removed once.
    pub put_back: BTreeSet<TaskKey>,
    /// Tasks that were not run because agents removed their rows, in this run or before: until a
    /// person skips them or puts the rows back, no run is green without them.
    #[serde(default)]
    pub lost: BTreeSet<TaskKey>,
    /// Tasks that will not be run.
    pub skipped: BTreeSet<TaskKey>,
    /// Originals that wait for a person.
    #[serde(default)]
    pub parked: BTreeSet<TaskKey>,
    /// The run before this one ended at a limit: originals come before their own fixes, until
    /// they were tried.
    #[serde(default)]
    pub after_limit: bool,
    /// Variables that repairs have set for every process of the run.
    #[serde(default)]
    pub environment: Vec<(String, String)>,
    /// The number of the last choice that was recorded.
    #[serde(default)]
    pub choices_seen: u64,
    /// How many commits were asked for and answered. A commit that is asked for again, after a
    /// crash or a power cut, has the number that it had.
    #[serde(default)]
    pub commits: u32,
    /// The runnable rows of the plan, as last read.
    pub total_tasks: u32,
    /// Set once someone has asked the run to stop.
    pub stopping: Option<StopSignal>,
    /// How the run ended.
    pub outcome: Option<RunOutcome>,
    /// Counts what may change the work: attempts, repairs, and breaks in which people may.
    #[serde(default)]
    pub steps: u64,
    /// The attempt that was made last.
    #[serde(default)]
    pub last_attempt: Option<(TaskKey, u32)>,
    /// Tasks that agents ticked on the side and whose checks passed.
    #[serde(default)]
    pub claimed: Vec<(Claim, PassedCheck)>,
    /// The checks that originals passed in earlier runs, since all tasks were last done.
    #[serde(default)]
    pub earlier_checks: Vec<PassedVerify>,
    /// The repetition of all checks before the run ends.
    #[serde(default)]
    pub final_check: FinalCheck,
    /// The services that were started so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<ServiceState>,
    /// The commit of the spec's own files, while it is pending.
    #[serde(default)]
    pub closing: Option<CommandSeq>,
    /// After how many steps of the run the spec's own files were committed.
    #[serde(default)]
    pub closed_at: Option<u64>,
    /// A task of the run was committed.
    #[serde(default)]
    pub has_committed: bool,
    /// Someone has asked the run to stop when the current original is done or given up.
    #[serde(default)]
    pub stops_after_task: bool,
    /// Fixes that were ticked without being run, because their originals had passed.
    #[serde(default)]
    pub superseded: BTreeSet<TaskKey>,
    /// Which version of the fold made this state.
    #[serde(default)]
    pub fold: u32,
}

/// What is known of a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceState {
    /// The task whose row declares it.
    pub task: TaskKey,
    /// Its command.
    pub command: String,
    /// Its log.
    pub log: String,
    /// Whether it runs.
    pub is_running: bool,
    /// Why it does not, if that is its own doing.
    pub trouble: Option<String>,
    /// How often it was started again, or failed to start, for the task that is worked on.
    pub restarts: u32,
}

/// A check that passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedCheck {
    /// After how many steps of the run.
    pub at: u64,
    /// How long it took.
    pub took_ms: u64,
}

/// The repetition of all checks before a run ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinalCheck {
    /// What it waits for.
    pub phase: FinalCheckPhase,
    /// After how many steps of the run nothing spoke against its end.
    pub passed_at: Option<u64>,
    /// After how many steps of the run it last ended.
    pub checked_at: u64,
    /// The tasks that no longer passed then.
    pub regressed: Vec<Regression>,
    /// The tasks whose check had no time left then.
    #[serde(default)]
    pub out_of_time: Vec<TaskKey>,
}

/// What the final check waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum FinalCheckPhase {
    /// For nothing.
    #[default]
    Idle,
    /// For the checks to be repeated.
    Checking {
        /// The pending command.
        seq: CommandSeq,
    },
    /// For the tasks that no longer pass to be unticked.
    Reopening {
        /// The pending command.
        seq: CommandSeq,
    },
}

impl FinalCheckPhase {
    /// The pending command, if there is one.
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
    /// The task as it was picked last.
    pub picked: PickedTask,
    /// What it waits for.
    pub phase: Phase,
    /// A person's choice about it, which takes effect as soon as nothing of it is pending.
    #[serde(rename = "said")]
    pub choice: Option<ChoiceKind>,
    /// What the agent is told at the next attempt.
    pub prompt: PromptKind,
    /// Every run of the agent.
    pub attempts: u32,
    /// Those charged to the task.
    pub iterations: u32,
    /// How often an attempt was interrupted.
    pub interruptions: u32,
    /// How often its session was lost.
    pub lost_sessions: u32,
    /// How often an attempt changed nothing.
    pub noops: u32,
    /// The reminder of this attempt was given.
    pub reminded: bool,
    /// The report of the last attempt.
    pub report: Option<Box<AttemptReport>>,
    /// The attempt, its reminder included, changed files.
    pub changed_files: bool,
    /// The session of the last attempt, as the agent names it.
    pub session: Option<String>,
    /// What its sessions have used.
    #[serde(default)]
    pub sessions: UsageLedger,
    /// Why it failed last.
    pub failure: Option<FailureRecord>,
    /// The attempt that failed so.
    #[serde(default)]
    pub failed_attempt: Option<u32>,
    /// The output of the commit hook that refused the task.
    pub refusal: Option<String>,
    /// Remarks about how it passed.
    pub marks: BTreeSet<Mark>,
    /// Its commit.
    pub hash: Option<String>,
    /// Whether it passed; `None` while it is pending.
    pub result: Option<bool>,
    /// Fixes that were made for it in this run, each with the error it was made for.
    #[serde(default)]
    pub fixes: Vec<(TaskId, String)>,
    /// The fingerprint of the failure that the last of them is to remove.
    #[serde(default)]
    pub fixed_blocker: Option<String>,
    /// A fix was made since its last attempt.
    #[serde(default)]
    pub was_fixed: bool,
    /// The agent had signalled completion: only Verify failed.
    #[serde(default)]
    pub only_red: bool,
    /// How many times the usual time its next attempt gets.
    #[serde(default = "one")]
    pub time_factor: u32,
    /// The last attempt was asked to split the task.
    #[serde(default)]
    pub asked_to_split: bool,
    /// How often the attempt was repeated because of passing trouble.
    #[serde(default)]
    pub repeats: u32,
    /// The context that the agent lacked was looked up for it.
    #[serde(default)]
    pub was_enriched: bool,
    /// The fix that regreen carries out itself.
    #[serde(default, rename = "own_fix")]
    pub automatic_fix: Option<AutomaticFix>,
    /// The repairs that were made for it.
    #[serde(default)]
    pub repaired: Vec<RepairAction>,
    /// What the user had to say about it, oldest first.
    #[serde(default)]
    pub context: Vec<String>,
    /// A person may have edited it since it was picked: it is read again.
    #[serde(default)]
    pub edited: bool,
    /// Its last check that passed.
    #[serde(default)]
    pub passed_check: Option<PassedCheck>,
    /// After how many steps of the run its last attempt began.
    #[serde(default)]
    pub attempted_at: u64,
    /// After how many steps the final check found that it no longer passes, until that is dealt
    /// with.
    #[serde(default)]
    pub regressed_at: Option<u64>,
    /// It failed twice for the same thing that is missing or forbidden, and changed nothing.
    #[serde(default)]
    pub is_stalled: bool,
    /// Fixes of it that were ticked without being run.
    #[serde(default)]
    pub superseded: Vec<TaskKey>,
}

fn one() -> u32 {
    1
}

/// A fix that regreen carries out itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AutomaticFix {
    /// None until it has a row.
    pub fix: Option<TaskId>,
    /// The repair.
    pub repair: PlannedRepair,
    /// A person has agreed to it.
    pub agreed: bool,
}

/// What a task waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum Phase {
    /// For being picked.
    Open,
    /// The agent works on it.
    Attempting {
        /// The command that it waits for.
        seq: CommandSeq,
        /// The number of the attempt.
        attempt: u32,
    },
    /// Ticks of other tasks are being checked.
    JudgingClaims {
        /// The command that it waits for.
        seq: CommandSeq,
    },
    /// Its checks run.
    Verifying {
        /// The command that it waits for.
        seq: CommandSeq,
        /// Whether they run a second time.
        again: bool,
        /// Before the agent is asked again.
        #[serde(default)]
        first: bool,
    },
    /// For the inspection of what may be repaired.
    Inspecting {
        /// The command that it waits for.
        seq: CommandSeq,
    },
    /// For the automatic fix to be carried out.
    Repairing {
        /// The command that it waits for.
        seq: CommandSeq,
    },
    /// For its fix budget to be read.
    Budgeting {
        /// The command that it waits for.
        seq: CommandSeq,
    },
    /// For its fix to be inserted.
    Inserting {
        /// The command that it waits for.
        seq: CommandSeq,
        /// The id of the fix.
        fix: TaskId,
        /// Whether another row had that id before.
        again: bool,
    },
    /// For the rows that the agent asked for.
    Modifying {
        /// The command that it waits for.
        seq: CommandSeq,
    },
    /// For its open fixes to be read. Only in journals of earlier versions.
    Superseding {
        /// The command that it waits for.
        seq: CommandSeq,
    },
    /// For these fixes to be ticked. Only in journals of earlier versions.
    TickingFixes {
        /// The command that it waits for.
        seq: CommandSeq,
        /// The fixes.
        fixes: Vec<TaskKey>,
    },
    /// For the progress file to say that it was not healed.
    Noting {
        /// The command that it waits for.
        seq: CommandSeq,
        /// The message of the limit.
        message: String,
    },
    /// For a person.
    Asking {
        /// None while no one is being asked: the question is open, and an answer to an earlier
        /// command is late.
        seq: Option<CommandSeq>,
        /// The question.
        why: String,
        /// The repair that the person may allow.
        #[serde(default)]
        repair: Option<PlannedRepair>,
    },
    /// For its box to be set.
    Ticking {
        /// The command that it waits for.
        seq: CommandSeq,
        /// Whether the box is ticked or emptied.
        done: bool,
    },
    /// Its changes are being committed.
    Committing {
        /// The command that it waits for.
        seq: CommandSeq,
    },
    /// It is being added to the progress file.
    Recording {
        /// The command that it waits for.
        seq: CommandSeq,
    },
    /// It waits for the agent's service.
    Waiting {
        /// The command that it waits for.
        seq: CommandSeq,
        /// When the wait began.
        since: Timestamp,
        /// When it ends.
        until: Timestamp,
        /// Before a repeat.
        #[serde(default)]
        repeats: bool,
    },
    /// For nothing.
    Closed,
}

impl Phase {
    /// The pending command, if there is one.
    #[must_use]
    pub fn seq(&self) -> Option<CommandSeq> {
        match self {
            Self::Attempting { seq, .. }
            | Self::JudgingClaims { seq }
            | Self::Verifying { seq, .. }
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
                | Self::Repairing { .. }
                | Self::Committing { .. }
        )
    }

    /// Whether it is completed whatever a person chooses meanwhile: an interrupted attempt is
    /// recorded, and files that are being changed do not stay half changed. The box is set as
    /// the choice wants it: ticked for "done", empty for "retry".
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
    /// The version of the fold. A state of an earlier one lacks what the events would tell now.
    pub const FOLD: u32 = 3;

    /// Whether the events have to be folded anew.
    #[must_use]
    pub fn is_outdated(&self) -> bool {
        self.fold < Self::FOLD
    }

    /// The task that waits for this command.
    #[must_use]
    pub fn task_of(&self, seq: CommandSeq) -> Option<&TaskState> {
        self.tasks
            .values()
            .find(|task| task.phase.seq() == Some(seq))
    }

    /// The task that waits for something that regreen itself can do. Questions are open until
    /// their tasks are next.
    #[must_use]
    pub fn pending_task(&self) -> Option<&TaskState> {
        self.tasks.values().find(|task| match task.phase {
            Phase::Asking { .. } => false,
            _ => task.phase.seq().is_some(),
        })
    }

    /// The state with one of its tasks: enough for a decision about it.
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

    /// The run's own limit of attempts.
    #[must_use]
    pub fn iteration_limit(&self) -> u32 {
        self.max_iterations
            .unwrap_or(self.config.limits.global_iterations)
    }
}

impl TaskState {
    /// Whether an attempt continues the session of the one before. An agent that failed starts
    /// afresh; one that was interrupted, or only has to add something, does not.
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

    /// A task as it was picked. One that an earlier run did not finish begins with its failure.
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
        }
    }

    /// The prompt of the next attempt. A reminder that was interrupted is given again.
    #[must_use]
    pub fn next_prompt(&self) -> PromptKind {
        if self.reminded {
            PromptKind::Reminder
        } else {
            self.prompt
        }
    }

    /// The number of the next attempt among those that are charged to the task. A reminder is
    /// part of the one before.
    #[must_use]
    pub fn iteration(&self, prompt: PromptKind) -> u32 {
        let is_new = !matches!(prompt, PromptKind::Reminder | PromptKind::Split);
        (self.iterations + u32::from(is_new)).max(1)
    }

    /// How many attempts are charged to it, in words.
    pub(crate) fn attempts_made(&self) -> String {
        match self.iterations {
            1 => "1 attempt".to_owned(),
            attempts => format!("{attempts} attempts"),
        }
    }

    /// Its key.
    #[must_use]
    pub fn key(&self) -> &TaskKey {
        &self.picked.task
    }

    /// Whether fixes were made for it, in this run or before.
    pub(crate) fn owns_fixes(&self) -> bool {
        self.picked.has_fixes || !self.fixes.is_empty()
    }

    /// The part of its past that recovery goes by.
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

/// JSON objects have text as keys, and a task's key is more than that.
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
