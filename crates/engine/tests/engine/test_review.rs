//! Which red tests fail a task.

use std::collections::BTreeSet;

use regreen_engine::{Command, Input, Phase, TestReviewOrder};
use regreen_model::{
    FailureRecord, FlakyTest, Mark, PickedTask, RedTests, RunConfig, TestReview, Verdict,
    VerifyCommand,
};

use crate::script::{Run, picked, signalled, task};

fn names(tests: &[&str]) -> BTreeSet<String> {
    tests.iter().map(|test| (*test).to_owned()).collect()
}

fn tested(id: &str) -> PickedTask {
    PickedTask {
        verify: vec![VerifyCommand::always("pytest")],
        ..picked(id, 0)
    }
}

fn red(run: &mut Run, tests: &[&str]) {
    run.tell(&Input::Verified {
        seq: run.seq(),
        verdict: Verdict::Red {
            error: "Verify failed: `pytest`".to_owned(),
        },
        diagnosis: None,
        tests: Some(Box::new(RedTests {
            command: "pytest".to_owned(),
            failed: names(tests),
        })),
        took_ms: 5,
    });
}

/// A run whose task was red twice with these tests.
fn red_twice(config: RunConfig, tests: &[&str]) -> Run {
    let mut run = Run::start_with(config, vec![]);
    red_again(&mut run, "1.1", tests);
    run
}

fn red_again(run: &mut Run, id: &str, tests: &[&str]) {
    run.pick(tested(id));
    run.attempt_ends(signalled());
    red(run, tests);
    red(run, tests);
}

fn order(run: &Run) -> &TestReviewOrder {
    match run.command() {
        Command::ReviewTests(order) => order,
        other => panic!("no review was ordered, but {other:?}"),
    }
}

fn reviewed(run: &mut Run, review: TestReview) {
    run.tell(&Input::TestsReviewed {
        seq: run.seq(),
        review: Box::new(TestReview {
            failure: Box::new(FailureRecord::new("Verify failed: `pytest`")),
            ..review
        }),
        took_ms: 7,
    });
}

fn mended() -> TestReview {
    TestReview {
        known: names(&["old"]),
        turned_green: names(&["mended"]),
        ..TestReview::default()
    }
}

fn flickering() -> TestReview {
    TestReview {
        flaky: vec![FlakyTest {
            test: "flaky".to_owned(),
            runs: 3,
            failed: 2,
        }],
        ..TestReview::default()
    }
}

/// Why a task failed last.
fn failure(run: &Run) -> Option<String> {
    let failed = run
        .state
        .tasks
        .values()
        .find_map(|task| task.failure.as_ref());
    failed.map(|failure| failure.error.clone())
}

fn marks(run: &Run) -> BTreeSet<Mark> {
    run.state.tasks[&task("1.1")].marks.clone()
}

#[test]
fn known_failures_beside_a_test_that_turned_green_pass_with_a_mark() {
    let mut run = red_twice(RunConfig::default(), &["old"]);
    assert_eq!(order(&run).red.failed, names(&["old"]));
    reviewed(&mut run, mended());
    assert_eq!(failure(&run), None);
    assert_eq!(marks(&run), BTreeSet::from([Mark::KnownFailures]));
    run.finish_task();
    assert_eq!(marks(&run), BTreeSet::from([Mark::KnownFailures]));
}

#[test]
fn what_is_the_tasks_own_fails_it() {
    let own = [
        TestReview {
            new: names(&["new"]),
            ..mended()
        },
        TestReview {
            unexplained: Some("the build failed".to_owned()),
            ..mended()
        },
        TestReview {
            turned_green: BTreeSet::new(),
            ..mended()
        },
    ];
    for review in own {
        let mut run = red_twice(RunConfig::default(), &["old"]);
        reviewed(&mut run, review.clone());
        assert!(failure(&run).is_some(), "{review:?}");
        assert!(marks(&run).is_empty());
    }
}

#[test]
fn a_strict_run_excuses_nothing() {
    for review in [mended(), flickering()] {
        let strict = RunConfig {
            strict: true,
            ..RunConfig::default()
        };
        let mut run = red_twice(strict, &["old"]);
        reviewed(&mut run, review);
        let failure = failure(&run).unwrap_or_default();
        assert!(failure.contains("--strict"), "{failure}");
    }
}

#[test]
fn a_test_that_flickered_twice_is_not_run_again() {
    let mut run = Run::start_with(RunConfig::default(), vec![]);
    for (id, quarantined) in [
        ("1.1", names(&[])),
        ("1.2", names(&[])),
        ("1.3", names(&["flaky"])),
    ] {
        red_again(&mut run, id, &["flaky"]);
        assert_eq!(order(&run).quarantined, quarantined);
        reviewed(&mut run, flickering());
        assert_eq!(failure(&run), None);
        run.finish_task();
    }
}

#[test]
fn tests_of_an_unnamed_failure_are_not_reviewed() {
    let run = red_twice(RunConfig::default(), &[]);
    assert!(failure(&run).is_some());
}

#[test]
fn a_review_that_was_interrupted_begins_with_the_check() {
    let mut run = red_twice(RunConfig::default(), &["old"]);
    run.resume(vec![]);
    let phase = &run.state.tasks[&task("1.1")].phase;
    assert!(matches!(phase, Phase::Verifying { .. }), "{phase:?}");
}
