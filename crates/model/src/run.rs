use serde::{Deserialize, Serialize};

use crate::{AgentIdentity, RepairPolicy, TaskId};

/// Everything that is settled when a run starts, and holds until it ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunConfig {
    /// The spec's name.
    pub spec: String,
    /// The agent that works on the tasks.
    pub agent: AgentIdentity,
    pub limits: Limits,
    #[serde(default)]
    pub budgets: Budgets,
    pub attempt_timeout_ms: u64,
    pub verify_timeout_ms: u64,
    pub idle_timeout_ms: Option<u64>,
    /// How long a run may wait altogether for an agent's service.
    pub max_wait_ms: u64,
    pub include_optional: bool,
    /// Whether finished tasks are committed.
    pub commits: bool,
    pub keep_state: bool,
    /// Run this task and no other.
    pub only: Option<TaskId>,
    /// Failures are healed by fix tasks instead of being retried.
    #[serde(default)]
    pub recovery: bool,
    /// What regreen may repair by itself when failures are healed.
    #[serde(default)]
    pub repairs: RepairPolicy,
    /// A task that waits for a person does not hold up the others.
    #[serde(default)]
    pub keep_going: bool,
    /// Somebody is there who can be asked.
    #[serde(default)]
    pub asks: bool,
    /// What the spec has to be called in commands; `None` where it is found by itself.
    #[serde(default)]
    pub spec_argument: Option<String>,
    /// Checks the whole workspace where a task has no Verify of its own.
    pub gate: Option<String>,
}

impl Default for RunConfig {
    fn default() -> Self {
        Self {
            spec: String::new(),
            agent: AgentIdentity::default(),
            limits: Limits::default(),
            budgets: Budgets::default(),
            attempt_timeout_ms: 30 * 60 * 1000,
            verify_timeout_ms: 10 * 60 * 1000,
            idle_timeout_ms: None,
            max_wait_ms: 6 * 60 * 60 * 1000,
            include_optional: false,
            commits: true,
            keep_state: false,
            only: None,
            recovery: false,
            repairs: RepairPolicy::default(),
            keep_going: false,
            asks: false,
            spec_argument: None,
            gate: None,
        }
    }
}

/// How often regreen tries before it says stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Attempts of one task.
    pub task_iterations: u32,
    /// Attempts of a whole run.
    pub global_iterations: u32,
    /// Fix tasks that one task may get.
    pub fixes_per_task: u32,
    /// How deep fixes of fixes may go; an original has depth 0.
    pub fix_depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            task_iterations: 5,
            global_iterations: 100,
            fixes_per_task: 3,
            fix_depth: 3,
        }
    }
}

impl Limits {
    /// Fix tasks that one original and all of its descendants may get together. Limits per
    /// id alone would still allow dozens of attempts on one original.
    #[must_use]
    pub fn fixes_per_root(&self) -> u32 {
        self.fixes_per_task.max(10)
    }
}

/// What may be spent before regreen says stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budgets {
    /// On a whole run.
    pub run: Budget,
    /// On one original with all its fixes.
    pub task: Budget,
}

/// How much may be spent. What nobody has limited is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// In millionths of a dollar.
    pub cost_micro_usd: Option<u64>,
    /// Input, also what the model's server knew already, and output.
    pub tokens: Option<u64>,
    pub time_ms: Option<u64>,
}

/// How a run ended, or why it paused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum RunOutcome {
    /// Every required original is ticked.
    AllGreen,
    /// The one task that was asked for is done; others are open.
    OnlyDone,
    /// Nothing is left but what was skipped.
    Skipped,
    /// A limit was reached: what is said about it.
    Limit { message: String },
    /// A person must decide what only a person can.
    NeedsPerson { why: String },
    /// The agent's service is out of reach for longer than we may wait.
    TryLater { why: String },
    /// The set-up is broken: it would fail the same way again.
    SetUp { why: String },
    /// Somebody asked regreen to stop. The run goes on when it is started again.
    Stopped { signal: StopSignal },
}

impl RunOutcome {
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::AllGreen => "all_green",
            Self::OnlyDone => "only_done",
            Self::Skipped => "skipped",
            Self::Limit { .. } => "limit",
            Self::NeedsPerson { .. } => "needs_person",
            Self::TryLater { .. } => "try_later",
            Self::SetUp { .. } => "set_up",
            Self::Stopped { .. } => "stopped",
        }
    }

    /// Whether starting again goes on with this run.
    #[must_use]
    pub fn is_pause(&self) -> bool {
        match self {
            Self::AllGreen | Self::OnlyDone | Self::Skipped | Self::Limit { .. } => false,
            Self::NeedsPerson { .. }
            | Self::TryLater { .. }
            | Self::SetUp { .. }
            | Self::Stopped { .. } => true,
        }
    }

    /// What the process says about it when it ends. Scripts rely on the numbers.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::AllGreen | Self::OnlyDone => 0,
            Self::Skipped | Self::Limit { .. } => 1,
            Self::NeedsPerson { .. } => 3,
            Self::TryLater { .. } => 75,
            Self::SetUp { .. } => 78,
            Self::Stopped { signal } => signal.exit_code(),
        }
    }
}

/// How somebody asked regreen to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopSignal {
    Interrupt,
    Terminate,
}

impl StopSignal {
    /// 128 and the number of the signal, as shells have it.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_may_have_ten_fixes_or_as_many_as_one_task_may() {
        assert_eq!(Limits::default().fixes_per_root(), 10);
        let generous = Limits {
            fixes_per_task: 25,
            ..Limits::default()
        };
        assert_eq!(generous.fixes_per_root(), 25);
    }

    #[test]
    fn the_numbers_that_scripts_rely_on() {
        let (message, why) = (String::new(), String::new());
        let outcomes = [
            RunOutcome::AllGreen,
            RunOutcome::OnlyDone,
            RunOutcome::Skipped,
            RunOutcome::Limit { message },
            RunOutcome::NeedsPerson { why: why.clone() },
            RunOutcome::TryLater { why: why.clone() },
            RunOutcome::SetUp { why },
            RunOutcome::Stopped {
                signal: StopSignal::Interrupt,
            },
            RunOutcome::Stopped {
                signal: StopSignal::Terminate,
            },
        ];
        let codes = outcomes.each_ref().map(RunOutcome::exit_code);
        assert_eq!(codes, [0, 0, 1, 1, 3, 75, 78, 130, 143]);
    }
}
