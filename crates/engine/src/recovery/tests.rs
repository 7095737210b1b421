//! The charge, the responses and the end for every class and every kind.

use regreen_model::{
    AttemptClass, AttemptReport, Confidence, Ending, Failure, FailureCategory, FailureKind,
    Inspection, Limits, PlannedRepair, RepairAction, RepairPolicy,
};

use super::*;

pub(super) const RECOVERING: Policy = Policy {
    recovery: true,
    repairs: RepairPolicy::Safe,
    listens: true,
    asks: false,
    is_group: false,
};

pub(super) fn failure(kind: FailureKind) -> Failure {
    Failure {
        category: kind.category(),
        kind,
        message: kind.words().to_owned(),
        blocked_on: Some("it says so".to_owned()),
        line: Some(1),
        retryable: kind.retry_mode().is_retryable(),
        retry_mode: kind.retry_mode(),
        completed_steps: vec![],
        files_modified: vec![],
        tool_usage: [].into(),
        last_successful_tool: None,
        suggested_actions: vec![],
        repair: None,
        rule: "test".to_owned(),
        confidence: Confidence::percent(90),
        fingerprint: kind.name().to_owned(),
    }
}

fn planned(name: &str) -> PlannedRepair {
    PlannedRepair {
        action: RepairAction::Mkdir {
            path: name.to_owned(),
        },
        does: format!("make the folder {name}"),
    }
}

pub(super) fn situation(class: FailureClass, limits: &Limits) -> Situation<'_> {
    Situation {
        experience: None,
        templates: &[],
        class,
        failure: None,
        history: RecoveryHistory::default(),
        limits,
        policy: RECOVERING,
        inspection: None,
    }
}

/// Returns the action at the first failure of a class, at later ones, and when the task has used up
/// its attempts.
fn course(class: FailureClass) -> [RecoveryAction; 3] {
    let limits = Limits::default();
    let first = situation(class, &limits);
    let next = Situation {
        history: RecoveryHistory {
            iterations: 1,
            lost_sessions: 3,
            repeats: 2,
            was_enriched: true,
            asked_to_split: class == FailureClass::TimeoutWithoutProgress,
            ..RecoveryHistory::default()
        },
        ..first
    };
    let last = Situation {
        history: RecoveryHistory {
            iterations: 5,
            ..next.history
        },
        ..next
    };
    [action_for(&first), action_for(&next), action_for(&last)]
}

fn person(why: &str) -> RecoveryAction {
    RecoveryAction::AskPerson {
        why: why.to_owned(),
    }
}

#[test]
fn each_class_has_its_course() {
    use RecoveryAction::{Enrich, Fix, GiveUp, Repeat, Split, StopRun, TryAgain, Wait};
    let stuck = || person("it made no progress within its time limit and was not split");
    let lacks = || person("it needs information that only a person has");
    let invalid = || person("it cannot be done as written");
    let repeat = Repeat { delay_ms: 2_000 };
    let courses = [
        (FailureClass::Transient, [Wait, Wait, Wait]),
        (FailureClass::Fatal, [StopRun, StopRun, StopRun]),
        (FailureClass::Session, [TryAgain, Fix, GiveUp]),
        (FailureClass::Interrupted, [TryAgain, TryAgain, GiveUp]),
        (FailureClass::PassingTrouble, [repeat, Fix, GiveUp]),
        (
            FailureClass::TimeoutWithProgress,
            [TryAgain, TryAgain, GiveUp],
        ),
        (
            FailureClass::TimeoutWithoutProgress,
            [Split, stuck(), stuck()],
        ),
        (FailureClass::MissingContext, [Enrich, lacks(), lacks()]),
        (FailureClass::InvalidTask, [invalid(), invalid(), invalid()]),
        (FailureClass::Repairable, [Fix, Fix, GiveUp]),
        (FailureClass::Other, [Fix, Fix, GiveUp]),
    ];
    assert_eq!(
        courses.each_ref().map(|(class, _)| *class),
        FailureClass::ALL
    );
    for (class, expected) in courses {
        assert_eq!(course(class), expected, "{class}");
    }
}

#[test]
fn each_class_is_charged_to_one_thing() {
    let charges = FailureClass::ALL.map(|class| RecoveryRule::of(class).charge);
    use Charge as C;
    assert_eq!(
        charges,
        [
            C::WaitingBudget,
            C::Run,
            C::Sessions,
            C::Interruptions,
            C::Repeats,
            C::TaskIteration,
            C::ModificationRequests,
            C::TaskIteration,
            C::Nothing,
            C::FixBudget,
            C::FixBudget,
        ]
    );
}

/// Covers every kind that a diagnosis can name, found in a command's output or in an agent's
/// message.
#[test]
fn each_kind_belongs_to_the_class_that_its_category_and_retry_mode_say() {
    for kind in FailureKind::ALL {
        let class = FailureClass::of(None, Some(&failure(kind)));
        let expected = match (kind.category(), kind) {
            (FailureCategory::MissingContext, _) => FailureClass::MissingContext,
            (FailureCategory::InvalidTask, _) => FailureClass::InvalidTask,
            (
                FailureCategory::ToolError,
                FailureKind::ConnectionRefused
                | FailureKind::DnsFailure
                | FailureKind::RateLimited
                | FailureKind::ServiceUnavailable
                | FailureKind::DatabaseLocked
                | FailureKind::CrashedBySignal,
            ) => FailureClass::PassingTrouble,
            _ => FailureClass::Other,
        };
        assert_eq!(class, expected, "{kind}");
    }
}

/// The ending of an attempt takes precedence over its words, whatever kind they suggest.
#[test]
fn no_kind_turns_trouble_of_the_agents_own_into_the_tasks() {
    let why = || "429".to_owned();
    let ends = [
        (
            AttemptClass::Transient {
                why: why(),
                until: None,
            },
            FailureClass::Transient,
        ),
        (AttemptClass::Fatal { why: why() }, FailureClass::Fatal),
        (AttemptClass::Session { why: why() }, FailureClass::Session),
        (AttemptClass::Interrupted, FailureClass::Interrupted),
    ];
    for (class, expected) in ends {
        let report = AttemptReport {
            class,
            ..AttemptReport::default()
        };
        for kind in FailureKind::ALL {
            assert_eq!(
                FailureClass::of(Some(&report), Some(&failure(kind))),
                expected
            );
        }
    }
}

#[test]
fn a_timeout_is_classified_by_signs_of_progress() {
    let timed_out = |progressed| AttemptReport {
        ending: Ending {
            timed_out: true,
            ..Ending::default()
        },
        progressed,
        ..AttemptReport::default()
    };
    let class = |progressed| FailureClass::of(Some(&timed_out(progressed)), None);
    assert_eq!(class(true), FailureClass::TimeoutWithProgress);
    assert_eq!(class(false), FailureClass::TimeoutWithoutProgress);
}

#[test]
fn without_recovery_all_but_the_agents_own_trouble_is_tried_again_until_it_is_used_up() {
    let limits = Limits::default();
    for class in FailureClass::ALL {
        let mut off = situation(class, &limits);
        off.policy.recovery = false;
        let with = action_for(&situation(class, &limits));
        let expected = match class.is_the_agents_own() {
            true => with,
            false => RecoveryAction::TryAgain,
        };
        assert_eq!(action_for(&off), expected, "{class}");
        off.history.iterations = limits.task_iterations;
        if !class.is_the_agents_own() {
            assert_eq!(action_for(&off), RecoveryAction::GiveUp, "{class}");
        }
    }
}

#[test]
fn a_repeat_waits_as_long_as_the_text_says_but_not_for_ever() {
    let limits = Limits::default();
    let delay = |line: &str, repeats| {
        let failure = Failure {
            blocked_on: Some(line.to_owned()),
            ..failure(FailureKind::ServiceUnavailable)
        };
        let mut situation = situation(FailureClass::PassingTrouble, &limits);
        situation.failure = Some(&failure);
        situation.history.repeats = repeats;
        action_for(&situation)
    };
    let repeat = |delay_ms| RecoveryAction::Repeat { delay_ms };
    assert_eq!(delay("503 Service Unavailable", 0), repeat(2_000));
    assert_eq!(delay("503 Service Unavailable", 1), repeat(5_000));
    assert_eq!(delay("503, retry after 7 seconds", 1), repeat(7_000));
    assert_eq!(delay("try again in 3h", 0), repeat(60_000));
}

/// The inspection decides, and only what explains the failure is inspected.
#[test]
fn a_repair_is_carried_out_only_if_inspection_allows_it() {
    let limits = Limits::default();
    let broken = failure(FailureKind::MissingFile);
    let inspect = Situation {
        failure: Some(&broken),
        ..situation(FailureClass::Other, &limits)
    };
    assert_eq!(action_for(&inspect), RecoveryAction::Inspect);
    let after = |inspection: &Inspection, policy| {
        action_for(&Situation {
            inspection: Some(inspection),
            policy,
            ..inspect
        })
    };
    let allowed = Inspection::Allowed(planned("out"));
    let asks = Inspection::Ask {
        repair: planned("out"),
        why: "it is outside".to_owned(),
    };
    let refused = Inspection::Refused {
        why: "no".to_owned(),
    };
    assert_eq!(
        after(&allowed, RECOVERING),
        RecoveryAction::Repair(planned("out"))
    );
    assert_eq!(after(&asks, RECOVERING), RecoveryAction::Fix);
    assert_eq!(after(&refused, RECOVERING), RecoveryAction::Fix);
    let on_terminal = Policy {
        asks: true,
        ..RECOVERING
    };
    let ask_to_repair = |why: &str| RecoveryAction::AskToRepair {
        repair: planned("out"),
        why: why.to_owned(),
    };
    let outside = "this may help: make the folder out; it is outside";
    assert_eq!(after(&asks, on_terminal), ask_to_repair(outside));
    let careful = Policy {
        repairs: RepairPolicy::Ask,
        ..on_terminal
    };
    let why = "this may help: make the folder out; regreen is set to ask before repairs";
    assert_eq!(after(&allowed, careful), ask_to_repair(why));
    let off = Policy {
        repairs: RepairPolicy::Off,
        ..RECOVERING
    };
    assert_eq!(after(&allowed, off), RecoveryAction::Fix);
    let commands = Policy {
        listens: false,
        ..RECOVERING
    };
    // The next run asks again.
    assert_eq!(after(&asks, commands), ask_to_repair(outside));
    let persons = Inspection::Ask {
        repair: PlannedRepair {
            action: RepairAction::Ask {
                what: "a name".to_owned(),
            },
            does: "say who commits".to_owned(),
        },
        why: "it is yours".to_owned(),
    };
    assert_eq!(
        after(&persons, commands),
        person("this may help: say who commits; it is yours")
    );
}

#[test]
fn a_repair_that_did_not_help_is_not_repeated() {
    let limits = Limits::default();
    let broken = failure(FailureKind::MissingFile);
    let done = [planned("out").action];
    let inspection = Inspection::Allowed(planned("out"));
    let again = Situation {
        failure: Some(&broken),
        history: RecoveryHistory {
            repaired: &done,
            ..RecoveryHistory::default()
        },
        inspection: Some(&inspection),
        ..situation(FailureClass::Other, &limits)
    };
    assert_eq!(action_for(&again), RecoveryAction::Fix);
}

#[test]
fn an_agent_that_takes_no_prompt_gets_no_advice() {
    let limits = Limits::default();
    for class in FailureClass::ALL {
        let mut shell = situation(class, &limits);
        shell.policy.listens = false;
        let action = action_for(&shell);
        let talks = [
            RecoveryAction::Enrich,
            RecoveryAction::Split,
            RecoveryAction::Fix,
        ];
        assert!(!talks.contains(&action), "{class}: {action:?}");
    }
}
