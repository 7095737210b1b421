//! Looks up the action in the recovery table.

use std::collections::BTreeMap;

use regreen_diagnosis::is_opinion;
use regreen_model::{
    Experience, Failure, FailureCategory, FailureKind, Inspection, Limits, PlannedRepair,
    RecoveryTemplate, RepairAction, RepairPolicy, named_span,
};

use super::FailureClass;
use super::table::{FREE_INTERRUPTIONS, RecoveryRule, Response};
use super::template::strategy_for;

/// The delays before repeats, if the failure names none.
const REPEAT_DELAYS_MS: [u64; 2] = [2_000, 5_000];
const LONGEST_REPEAT_DELAY_MS: u64 = 60_000;

/// Why a person must decide about a task.
pub(crate) const STUCK: &str = "it made no progress within its time limit and was not split";
const NOT_SPLIT: &str = "the agent could not split it";
pub(crate) const LACKS_CONTEXT: &str = "it needs information that only a person has";
const INVALID: &str = "it cannot be done as written";
const COMMANDS_REPAIR_NOTHING: &str = "the shell agent runs commands and cannot fix them";

/// A failure with everything that decides the response to it.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The class of the failure.
    pub class: FailureClass,
    /// The diagnosis, if it is sure enough to act on.
    pub failure: Option<&'a Failure>,
    /// How earlier failures of the task were handled.
    pub history: RecoveryHistory<'a>,
    /// The limits of the run.
    pub limits: &'a Limits,
    /// The policy of the run.
    pub policy: Policy,
    /// The result of inspecting the workspace; `None` if it wasn't inspected yet.
    pub inspection: Option<&'a Inspection>,
    /// What earlier failures with the same cause show.
    pub experience: Option<&'a Experience>,
    /// What the user and the repository want done first.
    pub templates: &'a [RecoveryTemplate],
}

/// How earlier failures of the task were handled.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecoveryHistory<'a> {
    /// The number of attempts charged to the task.
    pub iterations: u32,
    /// How often its session was lost.
    pub lost_sessions: u32,
    /// How often it was interrupted.
    pub interruptions: u32,
    /// How often it was repeated unchanged.
    pub repeats: u32,
    /// Whether it was given the information that it lacked.
    pub was_enriched: bool,
    /// Whether the failed attempt was asked to split the task.
    pub asked_to_split: bool,
    /// Whether the next attempt only reminds the agent of what the last one left out.
    pub is_reminder: bool,
    /// The repairs made for it.
    pub repaired: &'a [RepairAction],
    /// Whether the repair that the inspection offers is one of them, or never helped before.
    pub was_repaired: bool,
    /// Whether it failed twice because the same thing was missing or forbidden, with nothing
    /// changed.
    pub is_stalled: bool,
    /// How many strategies of each template were used for it.
    pub template_steps: Option<&'a BTreeMap<String, u32>>,
}

/// The settings of the run.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// Whether fix tasks may be added.
    pub recovery: bool,
    /// The policy for repairs.
    pub repairs: RepairPolicy,
    /// Whether the agent reads prompts. Commands don't.
    pub listens: bool,
    /// Whether there is a person to ask.
    pub asks: bool,
    /// Whether the task is a group, on which no agent works.
    pub is_group: bool,
}

/// The response to a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecoveryAction {
    /// Wait for the agent's service.
    Wait,
    /// End the run: its setup must be fixed.
    StopRun,
    /// Let the agent try again, with a prompt that depends on how it failed.
    TryAgain,
    /// Repeat the attempt after a delay.
    Repeat {
        /// How long to wait first.
        delay_ms: u64,
    },
    /// Wait, then try again. Unlike a repeat, it costs one of the task's attempts.
    Pause {
        /// How long to wait first.
        delay_ms: u64,
    },
    /// Ask the agent to split the task.
    Split,
    /// Try again with the information that it lacked.
    Enrich,
    /// Ask a person.
    AskPerson {
        /// The question.
        why: String,
    },
    /// Inspect the workspace first.
    Inspect,
    /// Add a fix task that regreen carries out.
    Repair(PlannedRepair),
    /// Ask a person whether regreen may make this repair.
    AskToRepair {
        /// The repair.
        repair: PlannedRepair,
        /// Why regreen may not make it without asking.
        why: String,
    },
    /// Add a fix task for the agent.
    Fix,
    /// Give up: the task has used up its attempts.
    GiveUp,
    /// Stop: the same thing would be missing in further attempts.
    StopRetrying,
}

/// Looks up what to do about a failure: what a template says first, or else the table.
#[must_use]
pub fn action_for(situation: &Situation<'_>) -> RecoveryAction {
    match strategy_for(situation) {
        Some((_, action)) => action,
        None => action_by_table(situation),
    }
}

fn action_by_table(situation: &Situation<'_>) -> RecoveryAction {
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
    /// Whether the agent stopped to ask although it has tried again: nobody has answered, and
    /// nobody will unless a person is told.
    fn asks_again(&self) -> bool {
        let asks = |failure: &Failure| failure.kind == FailureKind::AskedQuestion;
        self.failure.is_some_and(asks)
            && self.history.iterations > 1
            && self.class == FailureClass::MissingContext
    }

    /// Returns the situation with its class updated by the inspection: `Repairable` if that offers
    /// a repair.
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
        // A repair that didn't help this task once won't help it twice.
        let is_useless = |known: &Experience| known.refuses(&offered.action);
        situation.history.was_repaired = self.history.repaired.contains(&offered.action)
            || self.experience.is_some_and(is_useless);
        situation
    }
}

impl RecoveryHistory<'_> {
    /// Returns how many strategies of a template were used.
    pub(super) fn steps_of(&self, template: &str) -> u32 {
        let steps = self.template_steps.and_then(|steps| steps.get(template));
        steps.copied().unwrap_or(0)
    }

    /// Whether the task has an attempt left. A reminder costs nothing.
    pub(crate) fn may_attempt(&self, limits: &Limits) -> bool {
        let is_free = self.is_reminder && self.interruptions <= FREE_INTERRUPTIONS;
        is_free || self.iterations < limits.task_iterations
    }
}

fn try_again(situation: &Situation<'_>) -> RecoveryAction {
    // No agent works on a group, so another attempt can't help.
    if situation.policy.is_group {
        RecoveryAction::GiveUp
    } else {
        unless_used_up(situation, RecoveryAction::TryAgain)
    }
}

/// Stops, but inspects first whether a repair could help, to be able to say so.
fn stop_retrying(situation: &Situation<'_>) -> RecoveryAction {
    match situation.inspection {
        None if may_be_repairable(situation.failure) => RecoveryAction::Inspect,
        _ => RecoveryAction::StopRetrying,
    }
}

/// Returns the action, or gives up if the task has no attempt left.
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

/// Makes the repair that the inspection offers, or asks for permission.
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

/// Whether a repair might remove the failure.
fn may_be_repairable(failure: Option<&Failure>) -> bool {
    failure.is_some_and(|failure| match failure.category {
        // The work is missing, not something in the environment.
        _ if failure.kind == FailureKind::FalseSuccessClaim => false,
        // An agent's opinion proves nothing.
        _ if is_opinion(failure) => false,
        FailureCategory::ToolError | FailureCategory::Partial => true,
        FailureCategory::Timeout
        | FailureCategory::MissingContext
        | FailureCategory::InvalidTask => false,
    })
}

/// Asks a person, even if none is there yet. But if none is there and the agent reads prompts, it
/// gets a fix task instead.
pub(super) fn ask_to_repair(
    situation: &Situation<'_>,
    repair: &PlannedRepair,
    why: &str,
) -> RecoveryAction {
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

/// Returns a fix for the agent. Commands can't fix anything; then a person decides, knowing what
/// the inspection found.
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
