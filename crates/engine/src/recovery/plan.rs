use regreen_model::{
    Failure, FailureCategory, Inspection, PlannedRepair, RepairAction, RepairPolicy, named_span,
};

use super::table::{Charge, Row, Step};
use super::{Class, Situation};

/// So many lost sessions cost a task nothing.
pub const FREE_SESSIONS: u32 = 2;
/// So often passing trouble is met by doing the same again.
pub const REPEATS: u32 = 2;
/// Between repeats, where the text names no delay.
const REPEAT_DELAYS_MS: [u64; 2] = [2_000, 5_000];
const LONGEST_REPEAT_DELAY_MS: u64 = 60_000;

/// Why a task is a person's.
const STUCK: &str = "it gets nowhere in its time, and was not split";
const NOT_SPLIT: &str = "it could not be split";
const LACKS_CONTEXT: &str = "it lacks something that only a person knows";
const INVALID: &str = "as it is written it cannot be done";
const COMMANDS_REPAIR_NOTHING: &str = "the shell agent runs commands and cannot repair them";

/// What is done about one failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Wait for the agent's service.
    Wait,
    StopRun,
    /// The agent tries again; what it is told follows from how it failed.
    TryAgain,
    /// The same again, after so long.
    Repeat {
        delay_ms: u64,
    },
    Split,
    Enrich,
    AskPerson {
        why: String,
    },
    /// Look at the workspace first.
    Inspect,
    Repair(PlannedRepair),
    /// A person is there to say whether this may be done.
    AskToRepair {
        repair: PlannedRepair,
        why: String,
    },
    /// A task that repairs this one, for the agent.
    Fix,
    /// The task has used up its attempts.
    GiveUp,
}

/// What is to be done about a failure.
#[must_use]
pub fn plan(situation: &Situation<'_>) -> Plan {
    let row = Row::of(situation.class);
    match if is_spent(&row, situation) {
        row.then
    } else {
        row.first
    } {
        Step::Wait => Plan::Wait,
        Step::StopRun => Plan::StopRun,
        Step::NewSession => Plan::TryAgain,
        Step::Again => try_again(situation),
        _ if !situation.policy.recovery => try_again(situation),
        Step::Repeat => Plan::Repeat {
            delay_ms: repeat_delay(situation),
        },
        Step::MoreTime => try_again(situation),
        Step::Split if situation.policy.listens => Plan::Split,
        Step::Split => ask(STUCK),
        Step::Enrich if situation.policy.listens => unless_used_up(situation, Plan::Enrich),
        Step::Enrich | Step::Person => ask(why_a_person(situation.class)),
        Step::Repair | Step::Fix | Step::AsOther => repair_or_fix(situation),
    }
}

/// Whether what is done at first was done often enough.
fn is_spent(row: &Row, situation: &Situation<'_>) -> bool {
    let history = &situation.history;
    match row.charge {
        Charge::Sessions => history.lost_sessions > FREE_SESSIONS,
        Charge::Repeats => history.repeats >= REPEATS,
        Charge::ModificationRequests => history.asked_to_split,
        Charge::TaskIteration => row.first == Step::Enrich && history.was_enriched,
        Charge::WaitingBudget
        | Charge::Run
        | Charge::Interruptions
        | Charge::Nothing
        | Charge::FixBudget => false,
    }
}

fn try_again(situation: &Situation<'_>) -> Plan {
    // Nobody runs a group: there is no other attempt that could help.
    match situation.policy.is_group {
        true => Plan::GiveUp,
        false => unless_used_up(situation, Plan::TryAgain),
    }
}

/// What takes one more attempt of the task is no plan when it may have none.
fn unless_used_up(situation: &Situation<'_>, plan: Plan) -> Plan {
    let is_used_up = situation.history.iterations >= situation.limits.task_iterations;
    match is_used_up && !situation.policy.is_group {
        true => Plan::GiveUp,
        false => plan,
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

fn why_a_person(class: Class) -> &'static str {
    match class {
        Class::TimeoutWithoutProgress => STUCK,
        Class::MissingContext => LACKS_CONTEXT,
        _ => INVALID,
    }
}

fn ask(why: &str) -> Plan {
    Plan::AskPerson {
        why: why.to_owned(),
    }
}

fn repair_or_fix(situation: &Situation<'_>) -> Plan {
    if situation.history.asked_to_split {
        return ask(NOT_SPLIT);
    }
    let plan = match (situation.policy.repairs, situation.inspection) {
        (RepairPolicy::Off, _) => fix(situation),
        (_, None) if is_worth_a_look(situation.failure) => Plan::Inspect,
        (RepairPolicy::Safe, Some(Inspection::Allowed(repair))) if is_new(situation, repair) => {
            Plan::Repair(repair.clone())
        }
        (RepairPolicy::Ask, Some(Inspection::Allowed(repair))) if is_new(situation, repair) => {
            ask_to_repair(situation, repair, "repairs are to be asked about")
        }
        (_, Some(Inspection::Ask { repair, why })) if is_new(situation, repair) => {
            ask_to_repair(situation, repair, why)
        }
        _ => fix(situation),
    };
    unless_used_up(situation, plan)
}

/// Only what explains the failure is worth a repair.
fn is_worth_a_look(failure: Option<&Failure>) -> bool {
    failure.is_some_and(|failure| match failure.category {
        FailureCategory::ToolError | FailureCategory::Partial => true,
        FailureCategory::Timeout
        | FailureCategory::MissingContext
        | FailureCategory::InvalidTask => false,
    })
}

/// What did not help once does not help twice.
fn is_new(situation: &Situation<'_>, repair: &PlannedRepair) -> bool {
    let was_done = |done: &RepairAction| *done == repair.action;
    !situation.history.repaired.iter().any(was_done)
}

/// Somebody is asked who is there, or who comes later where nobody else can do anything.
fn ask_to_repair(situation: &Situation<'_>, repair: &PlannedRepair, why: &str) -> Plan {
    let why = format!("it may need this: {}; {why}", repair.does);
    match (&repair.action, situation.policy) {
        (_, policy) if policy.listens && !policy.asks => Plan::Fix,
        (RepairAction::Ask { .. }, _) => Plan::AskPerson { why },
        _ => Plan::AskToRepair {
            repair: repair.clone(),
            why,
        },
    }
}

/// A fix for the agent. Commands cannot repair anything: then it is a person's, who is told what
/// the look at the workspace showed.
fn fix(situation: &Situation<'_>) -> Plan {
    match (situation.policy.listens, situation.inspection) {
        (true, _) => Plan::Fix,
        (false, Some(Inspection::Refused { why })) => Plan::AskPerson {
            why: format!("{COMMANDS_REPAIR_NOTHING}; {why}"),
        },
        (false, None) if situation.policy.repairs == RepairPolicy::Off => Plan::AskPerson {
            why: format!("{COMMANDS_REPAIR_NOTHING}, and repairs are off"),
        },
        (false, _) => ask(COMMANDS_REPAIR_NOTHING),
    }
}
