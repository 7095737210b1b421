use regreen_model::{Failure, Inspection, Limits, RepairAction, RepairPolicy};

use super::Class;

/// All that decides what is done about a failure.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    pub class: Class,
    /// What the diagnosis makes of it, if that is sure enough to act upon.
    pub failure: Option<&'a Failure>,
    pub history: History<'a>,
    pub limits: &'a Limits,
    pub policy: Policy,
    /// What a look at the workspace says; `None` before anybody looked.
    pub inspection: Option<&'a Inspection>,
}

/// What was done about this task's failures before.
#[derive(Clone, Copy, Debug, Default)]
pub struct History<'a> {
    /// Attempts that are charged to the task.
    pub iterations: u32,
    pub lost_sessions: u32,
    pub repeats: u32,
    pub was_enriched: bool,
    /// The attempt that failed was asked to split the task.
    pub asked_to_split: bool,
    /// What was repaired for it already.
    pub repaired: &'a [RepairAction],
}

/// What holds for the whole run.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    pub recovery: bool,
    pub repairs: RepairPolicy,
    /// The agent can be told something. Commands cannot.
    pub listens: bool,
    /// Somebody is there who can be asked.
    pub asks: bool,
    /// Nobody works at the task itself: it is what its rows are.
    pub is_group: bool,
}
