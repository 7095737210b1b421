use proptest::prelude::*;

use super::*;
use crate::check::{CheckSource, WorkflowRun};

const PATIENCE: Patience = Patience {
    settle_ms: 30,
    missing_ms: 600,
    pending_ms: 10_000,
};

fn check(name: &str, state: CheckState) -> Check {
    Check {
        name: name.to_owned(),
        source: CheckSource::Job { id: 1, suite: 1 },
        state,
        summary: String::new(),
        url: String::new(),
    }
}

fn ended(name: &str, word: &str) -> Check {
    check(name, CheckState::Ended(Conclusion::read(word)))
}

fn seen(checks: impl IntoIterator<Item = Check>) -> Seen {
    Seen {
        checks: checks.into_iter().collect(),
        runs: Vec::new(),
    }
}

fn on_base(names: &[&str]) -> Expected {
    let passed = CheckState::Ended(Conclusion::Success);
    Expected {
        on_base: names
            .iter()
            .map(|name| ((*name).to_owned(), passed.clone()))
            .collect(),
        ..Expected::default()
    }
}

/// Judges so long after the last change.
fn after(quiet: u64, expected: &Expected, seen: &Seen) -> Verdict {
    let at = SeenAt {
        changed: Timestamp::from_millis(1_000),
        now: Timestamp::from_millis(1_000 + quiet),
    };
    judge(expected, seen, at, PATIENCE)
}

fn is_green(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Green(_))
}

fn blockers(verdict: Verdict) -> Vec<Blocker> {
    match verdict {
        Verdict::NeedsPerson { blockers, .. } => blockers,
        other => panic!("{other:?}"),
    }
}

#[test]
fn all_expected_checks_passed_is_green_once_nothing_changes() {
    let all = seen([ended("lint", "success"), ended("test", "success")]);
    let expected = on_base(&["lint", "test"]);
    assert!(matches!(
        after(29, &expected, &all),
        Verdict::Waiting { .. }
    ));
    assert!(is_green(&after(30, &expected, &all)));
}

#[test]
fn four_of_fourteen_is_not_green() {
    let names: Vec<String> = (1..=14).map(|n| format!("job {n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let expected = on_base(&names);
    let four = seen(names[..4].iter().map(|name| ended(name, "success")));
    let Verdict::Waiting { missing, .. } = after(599, &expected, &four) else {
        panic!("it has to wait");
    };
    assert_eq!(missing.len(), 10);
    let found = blockers(after(600, &expected, &four));
    assert!(
        found[0]
            .to_string()
            .starts_with("10 of 14 expected checks never reported: job 10, "),
        "{}",
        found[0]
    );
}

#[test]
fn a_check_that_a_person_left_out_is_not_waited_for() {
    let mut expected = on_base(&["test", "deploy"]);
    expected.without.insert("deploy".to_owned());
    assert!(is_green(&after(
        30,
        &expected,
        &seen([ended("test", "success")])
    )));
}

#[test]
fn a_workflow_that_still_runs_may_have_more_jobs() {
    let run = WorkflowRun {
        id: 1,
        workflow: 1,
        name: "CI".to_owned(),
        event: "push".to_owned(),
        suite: 1,
        attempt: 1,
        state: RunState::Pending,
    };
    let late = Seen {
        runs: vec![run],
        ..seen([ended("test", "success")])
    };
    let Verdict::Waiting { pending, .. } = after(9_999, &Expected::default(), &late) else {
        panic!("it has to wait");
    };
    assert_eq!(pending, ["workflow CI"]);
    assert!(matches!(
        after(10_000, &Expected::default(), &late),
        Verdict::Stuck { .. }
    ));
}

#[test]
fn a_red_waits_until_all_that_runs_has_ended() {
    let both = [ended("lint", "failure"), check("test", CheckState::Pending)];
    let expected = on_base(&["lint", "test", "deploy"]);
    assert!(matches!(
        after(500, &expected, &seen(both.clone())),
        Verdict::Waiting { .. }
    ));
    // A check that stays away can't make it better.
    let [lint, _] = both;
    assert!(matches!(
        after(30, &expected, &seen([lint])),
        Verdict::Red { .. }
    ));
}

#[test]
fn no_check_at_all_is_not_green() {
    let nothing = Seen::default();
    assert!(matches!(
        after(599, &Expected::default(), &nothing),
        Verdict::Waiting { .. }
    ));
    let found = blockers(after(600, &Expected::default(), &nothing));
    assert_eq!(found, [Blocker::NoChecks]);
}

#[test]
fn what_ran_on_the_base_branch_has_to_run_here() {
    let expected = on_base(&["test"]);
    for word in ["skipped", "neutral"] {
        let found = blockers(after(30, &expected, &seen([ended("test", word)])));
        assert!(matches!(found[..], [Blocker::NoResult { .. }]), "{word}");
    }
}

#[test]
fn what_was_skipped_on_the_base_branch_too_is_only_listed() {
    let mut expected = on_base(&["test"]);
    let skipped = CheckState::Ended(Conclusion::Skipped);
    expected.on_base.insert("deploy".to_owned(), skipped);
    let both = seen([ended("test", "success"), ended("deploy", "skipped")]);
    let Verdict::Green(judgement) = after(30, &expected, &both) else {
        panic!("it is green");
    };
    assert_eq!(
        judgement.without_result,
        [("deploy".to_owned(), Conclusion::Skipped)]
    );
}

#[test]
fn a_required_check_that_was_skipped_proves_nothing() {
    let expected = Expected {
        required: BTreeSet::from(["test".to_owned()]),
        ..Expected::default()
    };
    let found = blockers(after(30, &expected, &seen([ended("test", "skipped")])));
    assert!(matches!(found[..], [Blocker::NoResult { .. }]));
}

#[test]
fn an_approval_is_a_persons() {
    let found = blockers(after(
        30,
        &on_base(&["deploy"]),
        &seen([ended("deploy", "action_required")]),
    ));
    let name = "deploy".to_owned();
    assert_eq!(found, [Blocker::Approval { name }]);
}

/// Every word that the code host uses, and one that it may invent.
const WORDS: [&str; 10] = [
    "success",
    "failure",
    "error",
    "neutral",
    "cancelled",
    "skipped",
    "timed_out",
    "action_required",
    "stale",
    "startup_failure",
];

proptest! {
    #[test]
    fn only_success_of_every_expected_check_is_green(
        words in proptest::collection::vec(
            prop_oneof![proptest::sample::select(&WORDS[..]), Just("new_word"), Just("pending")],
            0..6,
        ),
        known in 0_usize..8,
        quiet in 0_u64..20_000,
    ) {
        let names: Vec<String> = (0..known).map(|n| format!("c{n}")).collect();
        let expected = on_base(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let checks = words.iter().enumerate().map(|(n, word)| match *word {
            "pending" => check(&format!("c{n}"), CheckState::Pending),
            word => ended(&format!("c{n}"), word),
        });
        let verdict = after(quiet, &expected, &seen(checks));
        if is_green(&verdict) {
            prop_assert!(quiet >= PATIENCE.settle_ms);
            prop_assert!(!words.is_empty() && words.len() >= known);
            for (n, word) in words.iter().enumerate() {
                // What nothing expects may say nothing, and is listed.
                let is_listed = n >= known && matches!(*word, "neutral" | "skipped");
                prop_assert!(*word == "success" || is_listed, "{word}");
            }
        }
        let has_failed = words.iter().any(|word| {
            ["failure", "error", "cancelled", "timed_out", "stale", "startup_failure"].contains(word)
        });
        let is_red = matches!(verdict, Verdict::Red { .. });
        prop_assert!(!is_red || has_failed);
    }
}

fn job(id: u64, suite: u64, name: &str, word: &str) -> Check {
    Check {
        source: CheckSource::Job { id, suite },
        ..ended(name, word)
    }
}

fn workflow(id: u64, word: &str) -> WorkflowRun {
    WorkflowRun {
        id,
        attempt: 1,
        workflow: 7,
        event: "pull_request".to_owned(),
        suite: id,
        name: "CI".to_owned(),
        state: RunState::Ended(Conclusion::read(word)),
    }
}

#[test]
fn a_workflow_that_failed_is_not_green_because_the_jobs_that_it_shows_passed() {
    for word in ["failure", "cancelled", "timed_out"] {
        let all = Seen {
            checks: vec![job(1, 1, "build", "success"), job(2, 1, "test", "skipped")],
            runs: vec![workflow(1, word)],
        };
        let verdict = after(10_000, &Expected::default(), &all);
        assert!(!is_green(&verdict), "{word}: {verdict:?}");
    }
}

#[test]
fn a_later_run_that_skips_a_job_does_not_hide_that_it_failed() {
    let all = Seen {
        checks: vec![
            job(1, 1, "test", "failure"),
            job(2, 2, "test", "skipped"),
            job(3, 2, "label", "success"),
        ],
        runs: vec![workflow(1, "failure"), workflow(2, "success")],
    };
    let verdict = after(10_000, &Expected::default(), &all);
    assert!(matches!(verdict, Verdict::Red { .. }), "{verdict:?}");
    let passed = Seen {
        checks: vec![job(1, 1, "test", "failure"), job(2, 2, "test", "success")],
        ..all
    };
    assert!(is_green(&after(10_000, &Expected::default(), &passed)));
}

#[test]
fn nothing_is_green_if_nothing_passed() {
    let all = seen([ended("test", "skipped"), ended("lint", "neutral")]);
    let verdict = after(10_000, &Expected::default(), &all);
    assert_eq!(blockers(verdict), [Blocker::NoChecks]);
}
