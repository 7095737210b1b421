use serde::{Deserialize, Serialize};

use crate::{Budgets, Limits, RepairPolicy, TaskId};

/// Everything that is settled when a run starts, and holds until it ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunConfig {
    /// The spec's name.
    pub spec: String,
    /// The agent as it was asked for: `shell`, `command:…`.
    pub agent: String,
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
            agent: String::new(),
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
