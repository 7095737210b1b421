//! The action that the table of recovery leads to.

use regreen_model::{
    Failure, FailureCategory, FailureKind, Inspection, Limits, PlannedRepair, RepairAction,
    RepairPolicy, named_span,
};

use super::FailureClass;
use super::table::{FREE_INTERRUPTIONS, RecoveryRule, Response};

/// The delays before repeats, where the text names none.
const REPEAT_DELAYS_MS: [u64; 2] = [2_000, 5_000];
const LONGEST_REPEAT_DELAY_MS: u64 = 60_000;

/// Why a person has to decide about a task.
pub(crate) const STUCK: &str = "it made no progress within its time limit and was not split";
const NOT_SPLIT: &str = "the agent could not split it";
pub(crate) const LACKS_CONTEXT: &str = "it needs something that only a person knows";
const INVALID: &str = "it cannot be done as written";
const COMMANDS_REPAIR_NOTHING: &str = "the shell agent runs commands and cannot fix them";

/// A failure with all that decides how regreen responds to it.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The class of the failure.
    pub class: FailureClass,
    /// The diagnosis, if it is sure enough to act upon.
    pub failure: Option<&'a Failure>,
    /// What happened to the task before.
    pub history: History<'a>,
    /// The limits of the run.
    pub limits: &'a Limits,
    /// What the run may do.
    pub policy: Policy,
    /// What an inspection of the workspace found; `None` before there was one.
    pub inspection: Option<&'a Inspection>,
}

/// The responses to earlier failures of the task.
#[derive(Clone, Copy, Debug, Default)]
pub struct History<'a> {
    /// Attempts that are charged to the task.
    pub iterations: u32,
    /// How often its session was lost.
    pub lost_sessions: u32,
    /// How often it was interrupted.
    pub interruptions: u32,
    /// How often it was repeated as it is.
    pub repeats: u32,
    /// Whether it was told what it was missing.
    pub was_enriched: bool,
    /// The attempt that failed was asked to split the task.
    pub asked_to_split: bool,
    /// The next attempt only reminds the agent of what the last one left out.
    pub is_reminder: bool,
    /// The repairs that were made for it.
    pub repaired: &'a [RepairAction],
    /// The repair that the inspection offers is one of them.
    pub was_repaired: bool,
    /// It failed twice for the same thing that is missing or forbidden, and changed nothing.
    pub is_stalled: bool,
}

/// The settings of the run.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// Whether fix tasks may be added.
    pub recovery: bool,
    /// Which repairs may be made.
    pub repairs: RepairPolicy,
    /// The agent reads prompts. Commands don't.
    pub listens: bool,
    /// A person is there who can be asked.
    pub asks: bool,
    /// The task is a group: no agent works on it.
    pub is_group: bool,
}

/// What to do about one failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecoveryAction {
    /// Wait for the agent's service.
    Wait,
    /// End the run: its setup has to be fixed.
    StopRun,
    /// The agent tries again; how it failed decides what it is told.
    TryAgain,
    /// The same again after a delay.
    Repeat {
        /// How long to wait before.
        delay_ms: u64,
    },
    /// Ask the agent to split the task.
    Split,
    /// Attempt it again with what it was missing.
    Enrich,
    /// Ask a person.
    AskPerson {
        /// What to ask.
        why: String,
    },
    /// Inspect the workspace first.
    Inspect,
    /// Add a fix task that regreen carries out.
    Repair(PlannedRepair),
    /// Ask a person whether this may be done.
    AskToRepair {
        /// The repair.
        repair: PlannedRepair,
        /// Why it may not be made without asking.
        why: String,
    },
    /// A task that repairs this one, for the agent.
    Fix,
    /// The task has used up its attempts.
    GiveUp,
    /// More attempts would find the same thing missing.
    StopRetrying,
}

/// Looks up in the table what to do about a failure.
#[must_use]
pub fn action_for(situation: &Situation<'_>) -> RecoveryAction {
    let situation = &situation.with_inspection();
    match RecoveryRule::of(situation.class).response(&situation.history) {
        Response::Wait => RecoveryAction::Wait,
        Response::StopRun => RecoveryAction::StopRun,
        Response::NewSession => RecoveryAction::TryAgain,
        Response::Again => try_again(situation),
        _ if !situation.policy.recovery && situation.asks_again() => ask(LACKS_CONTEXT),
        _ if !situation.policy.recovery && situation.history.is_stalled => stop_retrying(situation),
        _ if !situation.policy.recovery => try_again(situation),
        Response::Repeat => RecoveryAction::Repeat {
            delay_ms: repeat_delay(situation),
        },
        Response::MoreTime => try_again(situation),
        Response::Split if situation.policy.listens => RecoveryAction::Split,
        Response::Split => ask(STUCK),
        Response::Enrich if situation.policy.listens => {
            unless_used_up(situation, RecoveryAction::Enrich)
        }
        Response::Enrich | Response::Person => ask(why_a_person(situation.class)),
        Response::Repair | Response::Fix if situation.history.asked_to_split => ask(NOT_SPLIT),
        Response::Repair => unless_used_up(situation, repair(situation)),
        Response::Fix => unless_used_up(situation, inspect_or_fix(situation)),
    }
}

impl Situation<'_> {
    /// Whether the agent stopped to ask although it was tried again: nobody has answered, and
    /// nobody will unless a person is told.
    fn asks_again(&self) -> bool {
        let asks = |failure: &Failure| failure.kind == FailureKind::AskedQuestion;
        self.failure.is_some_and(asks)
            && self.history.iterations > 1
            && self.class == FailureClass::MissingContext
    }

    /// The situation with the class that the inspection makes of it: what it offers to repair
    /// is repairable.
    fn with_inspection(&self) -> Self {
        let Some(
            Inspection::Allowed(offered)
            | Inspection::Ask {
                repair: offered, ..
            },
        ) = self.inspection
        else {
            return *self;
        };
        if self.policy.repairs == RepairPolicy::Off {
            return *self;
        }
        let mut situation = *self;
        situation.class = FailureClass::Repairable;
        // What did not help once does not help twice.
        situation.history.was_repaired = self.history.repaired.contains(&offered.action);
        situation
    }
}

impl History<'_> {
    /// Whether the task may have one more attempt. A reminder costs nothing.
    pub(crate) fn may_attempt(&self, limits: &Limits) -> bool {
        let is_free = self.is_reminder && self.interruptions <= FREE_INTERRUPTIONS;
        is_free || self.iterations < limits.task_iterations
    }
}

fn try_again(situation: &Situation<'_>) -> RecoveryAction {
    // No agent works on a group: there is no other attempt that could help.
    if situation.policy.is_group {
        RecoveryAction::GiveUp
    } else {
        unless_used_up(situation, RecoveryAction::TryAgain)
    }
}

/// Looks first what a repair could do about it, to say so.
fn stop_retrying(situation: &Situation<'_>) -> RecoveryAction {
    match situation.inspection {
        None if may_be_repairable(situation.failure) => RecoveryAction::Inspect,
        _ => RecoveryAction::StopRetrying,
    }
}

/// Gives up instead if the task may have no more attempts.
fn unless_used_up(situation: &Situation<'_>, action: RecoveryAction) -> RecoveryAction {
    if situation.policy.is_group || situation.history.may_attempt(situation.limits) {
        action
    } else {
        RecoveryAction::GiveUp
    }
}

fn repeat_delay(situation: &Situation<'_>) -> u64 {
    let line = situation
        .failure
        .and_then(|failure| failure.blocked_on.as_deref());
    let repeats = usize::try_from(situation.history.repeats).unwrap_or(usize::MAX);
    let usual = REPEAT_DELAYS_MS.get(repeats).or(REPEAT_DELAYS_MS.last());
    let named = line.and_then(named_span);
    named
        .map(|named| named.min(LONGEST_REPEAT_DELAY_MS))
        .or(usual.copied())
        .unwrap_or_default()
}

fn why_a_person(class: FailureClass) -> &'static str {
    match class {
        FailureClass::TimeoutWithoutProgress => STUCK,
        FailureClass::MissingContext => LACKS_CONTEXT,
        _ => INVALID,
    }
}

fn ask(why: &str) -> RecoveryAction {
    RecoveryAction::AskPerson {
        why: why.to_owned(),
    }
}

/// Makes the repair that the inspection offers, or asks whether it may be made.
fn repair(situation: &Situation<'_>) -> RecoveryAction {
    match (situation.policy.repairs, situation.inspection) {
        (RepairPolicy::Safe, Some(Inspection::Allowed(repair))) => {
            RecoveryAction::Repair(repair.clone())
        }
        (_, Some(Inspection::Allowed(repair))) => {
            ask_to_repair(situation, repair, "regreen is set to ask before repairs")
        }
        (_, Some(Inspection::Ask { repair, why })) => ask_to_repair(situation, repair, why),
        _ => fix(situation),
    }
}

fn inspect_or_fix(situation: &Situation<'_>) -> RecoveryAction {
    let is_inspected = situation.inspection.is_some();
    let may_repair = situation.policy.repairs != RepairPolicy::Off;
    if may_repair && !is_inspected && may_be_repairable(situation.failure) {
        RecoveryAction::Inspect
    } else {
        fix(situation)
    }
}

/// Whether the failure is of a sort that a repair can remove.
fn may_be_repairable(failure: Option<&Failure>) -> bool {
    failure.is_some_and(|failure| match failure.category {
        // The work is missing, not the environment.
        _ if failure.kind == FailureKind::FalseSuccessClaim => false,
        FailureCategory::ToolError | FailureCategory::Partial => true,
        FailureCategory::Timeout
        | FailureCategory::MissingContext
        | FailureCategory::InvalidTask => false,
    })
}

/// Asks the person who is there, or the one who comes later if no agent could make the repair.
fn ask_to_repair(situation: &Situation<'_>, repair: &PlannedRepair, why: &str) -> RecoveryAction {
    let why = format!("this may help: {}; {why}", repair.does);
    match (&repair.action, situation.policy) {
        (_, policy) if policy.listens && !policy.asks => RecoveryAction::Fix,
        (RepairAction::Ask { .. }, _) => RecoveryAction::AskPerson { why },
        _ => RecoveryAction::AskToRepair {
            repair: repair.clone(),
            why,
        },
    }
}

/// Returns a fix for the agent. Commands cannot repair anything: then a person decides, who is
/// told what the inspection found.
fn fix(situation: &Situation<'_>) -> RecoveryAction {
    match (situation.policy.listens, situation.inspection) {
        (true, _) => RecoveryAction::Fix,
        (false, Some(Inspection::Refused { why })) => RecoveryAction::AskPerson {
            why: format!("{COMMANDS_REPAIR_NOTHING}; {why}"),
        },
        (false, None) if situation.policy.repairs == RepairPolicy::Off => {
            RecoveryAction::AskPerson {
                why: format!("{COMMANDS_REPAIR_NOTHING}, and repairs are off"),
            }
        }
        (false, _) => ask(COMMANDS_REPAIR_NOTHING),
    }
}
