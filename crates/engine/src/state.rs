//! The state of a run and of its tasks.

mod final_check;
mod phase;
mod task;

use std::collections::{BTreeMap, BTreeSet};

use regreen_model::{
    Claim, CommandSeq, PassedVerify, RunConfig, RunOutcome, Spending, StopSignal, TaskKey,
    Timestamp,
};
use serde::{Deserialize, Serialize};

pub use final_check::{FinalCheck, FinalCheckPhase, PassedCheck};
pub use phase::Phase;
pub use task::{AutomaticFix, TaskState};

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
    /// The commands of services that only rows declare which were added while foreign code ran.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub foreign_services: BTreeSet<String>,
    /// Tasks that weren't run because agents removed their rows, in this run or before. Until a
    /// person skips them or puts the rows back, no run is green.
    #[serde(default)]
    pub lost: BTreeSet<TaskKey>,
    /// Tasks that won't run.
    pub skipped: BTreeSet<TaskKey>,
    /// Originals that are waiting for a person.
    #[serde(default)]
    pub parked: BTreeSet<TaskKey>,
    /// The command that waits for answers, while it is pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaiting: Option<CommandSeq>,
    /// Since when nothing could be done but wait for answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaiting_since: Option<Timestamp>,
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
            foreign_services: self.foreign_services.clone(),
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
