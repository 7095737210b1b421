//! What templates decide, and what they can't.

use std::collections::BTreeMap;

use regreen_model::{
    Experience, FailureKind, Inspection, Limits, RecoveryTemplate, RepairPolicy, TemplateMatch,
    TemplateOwner, TemplateStrategy, UserRepair,
};

use super::tests::{RECOVERING, failure, situation};
use super::*;
use TemplateStrategy::{Ask, Fix, Repair, Retry, Split, Wait};

const KIND: FailureKind = FailureKind::MissingFile;

fn template(owner: TemplateOwner, first: &[TemplateStrategy]) -> RecoveryTemplate {
    RecoveryTemplate {
        applies_to: TemplateMatch::Kind(KIND),
        owner,
        first: first.to_vec(),
        prompt: None,
        question: Some("is the disk mounted?".to_owned()),
        wait_ms: 7_000,
        repair: Some(UserRepair {
            does: "mount it".to_owned(),
            argv: vec!["mount-it".to_owned()],
            check: vec!["is-mounted".to_owned()],
            timeout_ms: 1_000,
        }),
    }
}

fn own(first: &[TemplateStrategy]) -> Vec<RecoveryTemplate> {
    vec![template(TemplateOwner::User, first)]
}

/// Returns the action for a failure of the kind, after so many strategies of the template.
fn action(
    templates: &[RecoveryTemplate],
    used: u32,
    change: fn(&mut Situation<'_>),
) -> RecoveryAction {
    let (limits, broken) = (Limits::default(), failure(KIND));
    let steps = BTreeMap::from([(KIND.name().to_owned(), used)]);
    let mut situation = Situation {
        failure: Some(&broken),
        templates,
        ..situation(FailureClass::Other, &limits)
    };
    situation.history.template_steps = Some(&steps);
    change(&mut situation);
    let action = action_for(&situation);
    let applied = applied_template(&situation);
    assert!(applied.is_none_or(|applied| applied.step > used));
    action
}

fn planned() -> regreen_model::PlannedRepair {
    own(&[Repair])[0].planned_repair().unwrap()
}

#[test]
fn each_strategy_is_used_once_and_then_the_table_decides() {
    let templates = own(&[Retry, Wait, Repair, Split, Fix, Ask]);
    let actions: Vec<RecoveryAction> = (0..7)
        .map(|used| action(&templates, used, |_| {}))
        .collect();
    assert_eq!(
        actions,
        [
            RecoveryAction::TryAgain,
            RecoveryAction::Pause { delay_ms: 7_000 },
            RecoveryAction::Repair(planned()),
            RecoveryAction::Split,
            RecoveryAction::Fix,
            RecoveryAction::AskPerson {
                why: "is the disk mounted?".to_owned()
            },
            // The table's own answer to this failure.
            RecoveryAction::Inspect,
        ]
    );
}

#[test]
fn a_template_lifts_no_limit() {
    let used_up = |situation: &mut Situation<'_>| situation.history.iterations = 5;
    for strategy in [Retry, Wait, Repair, Split, Fix] {
        assert_eq!(
            action(&own(&[strategy]), 0, used_up),
            RecoveryAction::GiveUp
        );
    }
    let off = |situation: &mut Situation<'_>| situation.policy.recovery = false;
    assert_eq!(action(&own(&[Fix]), 0, off), RecoveryAction::TryAgain);
    let waits = |situation: &mut Situation<'_>| situation.class = FailureClass::Transient;
    assert_eq!(action(&own(&[Ask]), 0, waits), RecoveryAction::Wait);
    // What an inspection has found is acted upon.
    let inspected =
        |situation: &mut Situation<'_>| situation.inspection = Some(&Inspection::Nothing);
    assert_eq!(action(&own(&[Ask]), 0, inspected), RecoveryAction::Fix);
}

#[test]
fn the_policy_for_repairs_holds_for_the_users_own() {
    let templates = own(&[Repair, Ask]);
    let asks = action(&templates, 1, |_| {});
    let off = |situation: &mut Situation<'_>| situation.policy.repairs = RepairPolicy::Off;
    assert_eq!(action(&templates, 0, off), asks);
    let asking = |situation: &mut Situation<'_>| {
        situation.policy = Policy {
            repairs: RepairPolicy::Ask,
            asks: true,
            ..RECOVERING
        };
    };
    assert!(matches!(
        action(&templates, 0, asking),
        RecoveryAction::AskToRepair { .. }
    ));
    let useless = Experience {
        useless: vec![planned().action.response()],
        ..Experience::default()
    };
    let (limits, broken) = (Limits::default(), failure(KIND));
    let known = Situation {
        failure: Some(&broken),
        templates: &templates,
        experience: Some(&useless),
        ..situation(FailureClass::Other, &limits)
    };
    assert_eq!(action_for(&known), asks);
}

#[test]
fn a_repository_runs_nothing() {
    let offered = [template(TemplateOwner::Workspace, &[Repair, Retry])];
    assert_eq!(action(&offered, 0, |_| {}), RecoveryAction::TryAgain);
}

#[test]
fn a_cause_counts_before_its_kind_and_the_first_template_before_others() {
    let cause = RecoveryTemplate {
        applies_to: TemplateMatch::Fingerprint(KIND.name().to_owned()),
        ..template(TemplateOwner::User, &[Ask])
    };
    let kind = template(TemplateOwner::User, &[Retry]);
    let other = template(TemplateOwner::Workspace, &[Fix]);
    let first = |templates: &[RecoveryTemplate]| {
        let found = RecoveryTemplate::for_failure(templates, &failure(KIND));
        found.map(|template| template.first[0])
    };
    assert_eq!(first(&[kind.clone(), other.clone(), cause]), Some(Ask));
    assert_eq!(first(&[kind, other.clone()]), Some(Retry));
    assert_eq!(first(&[other]), Some(Fix));
    assert_eq!(first(&[]), None);
}

#[test]
fn no_agent_is_asked_where_none_reads() {
    let commands = |situation: &mut Situation<'_>| situation.policy.listens = false;
    let templates = own(&[Split, Fix, Retry]);
    assert_eq!(action(&templates, 0, commands), RecoveryAction::TryAgain);
    let group = |situation: &mut Situation<'_>| situation.policy.is_group = true;
    assert_eq!(
        action(&own(&[Retry, Split, Fix]), 0, group),
        RecoveryAction::Fix
    );
}

#[test]
fn a_wait_is_a_repeat_as_long_as_the_table_allows_one() {
    let passing = |situation: &mut Situation<'_>| situation.class = FailureClass::PassingTrouble;
    let repeat = RecoveryAction::Repeat { delay_ms: 7_000 };
    assert_eq!(action(&own(&[Wait]), 0, passing), repeat);
    let repeated = |situation: &mut Situation<'_>| {
        situation.class = FailureClass::PassingTrouble;
        situation.history.repeats = REPEATS;
    };
    let pause = RecoveryAction::Pause { delay_ms: 7_000 };
    assert_eq!(action(&own(&[Wait]), 0, repeated), pause);
}
