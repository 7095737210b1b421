//! What a recovery template does about a failure, before the table decides.

use regreen_model::{RecoveryTemplate, RepairPolicy, TemplateOwner, TemplateStrategy};

use super::action::{RecoveryAction, Situation, ask_to_repair};
use super::class::FailureClass;
use super::table::REPEATS;

const ASKED_BY_TEMPLATE: &str = "a recovery template asks a person about failures like this";
const ASKS_FIRST: &str = "regreen is set to ask before repairs";

/// The strategy of a template that decides about a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedTemplate {
    /// The name of the template.
    pub template: String,
    /// Who wrote it.
    pub owner: TemplateOwner,
    /// The strategy.
    pub strategy: TemplateStrategy,
    /// Its position, counted from 1.
    pub step: u32,
}

/// Returns the strategy of a template that [`action_for`](super::action_for) follows; `None` if the
/// table decides.
#[must_use]
pub fn applied_template(situation: &Situation<'_>) -> Option<AppliedTemplate> {
    strategy_for(situation).map(|(applied, _)| applied)
}

/// Returns what the template for the failure does next; `None` if there is none, or if nothing that
/// it names is possible: then the table decides. Trouble of the agent's own is never a template's.
pub(super) fn strategy_for(situation: &Situation<'_>) -> Option<(AppliedTemplate, RecoveryAction)> {
    let may_apply = situation.policy.recovery
        && situation.inspection.is_none()
        && !situation.class.is_the_agents_own();
    let failure = situation.failure.filter(|_| may_apply)?;
    let template = RecoveryTemplate::for_failure(situation.templates, failure)?;
    let used = situation.history.steps_of(template.name());
    let steps = (1..).zip(&template.first);
    let mut left = steps.skip_while(|(step, _)| *step <= used);
    left.find_map(|(step, strategy)| {
        let action = action(situation, template, *strategy)?;
        let applied = AppliedTemplate {
            template: template.name().to_owned(),
            owner: template.owner,
            strategy: *strategy,
            step,
        };
        Some((applied, action))
    })
}

/// Returns what a strategy does; `None` if it can't, or if a limit is in the way.
fn action(
    situation: &Situation<'_>,
    template: &RecoveryTemplate,
    strategy: TemplateStrategy,
) -> Option<RecoveryAction> {
    let policy = situation.policy;
    let has_attempt = policy.is_group || situation.history.may_attempt(situation.limits);
    match strategy {
        TemplateStrategy::Ask => Some(RecoveryAction::AskPerson {
            why: template
                .question
                .clone()
                .unwrap_or_else(|| ASKED_BY_TEMPLATE.to_owned()),
        }),
        _ if !has_attempt => None,
        TemplateStrategy::Wait => Some(wait(situation, template.wait_ms)),
        TemplateStrategy::Repair => own_repair(situation, template),
        TemplateStrategy::Fix => policy.listens.then_some(RecoveryAction::Fix),
        // No agent works on a group.
        _ if policy.is_group => None,
        TemplateStrategy::Retry => Some(RecoveryAction::TryAgain),
        TemplateStrategy::Split => policy.listens.then_some(RecoveryAction::Split),
    }
}

/// A wait takes the place of a repeat as long as the table allows one; then it costs an attempt.
fn wait(situation: &Situation<'_>, delay_ms: u64) -> RecoveryAction {
    let is_repeat = situation.class == FailureClass::PassingTrouble;
    if is_repeat && situation.history.repeats < REPEATS {
        RecoveryAction::Repeat { delay_ms }
    } else {
        RecoveryAction::Pause { delay_ms }
    }
}

/// The policy for repairs and what earlier failures show hold for the user's own as well.
fn own_repair(situation: &Situation<'_>, template: &RecoveryTemplate) -> Option<RecoveryAction> {
    let repair = template.planned_repair()?;
    let known = situation.experience;
    let is_useless = situation.history.repaired.contains(&repair.action)
        || known.is_some_and(|known| known.refuses(&repair.action));
    match situation.policy.repairs {
        _ if is_useless => None,
        RepairPolicy::Off => None,
        RepairPolicy::Safe => Some(RecoveryAction::Repair(repair)),
        RepairPolicy::Ask => Some(ask_to_repair(situation, &repair, ASKS_FIRST)),
    }
}
