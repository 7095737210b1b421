//! Reviewing the named tests of a failed check: those that were red before the task, and those that
//! flicker, are no failure of the task.

use std::collections::BTreeSet;

use regreen_model::{Event, FailureRecord, Mark, TestReview, Verdict};

use super::turn::Turn;
use super::{attempting, ending, healing, verifying};
use crate::command::{Command, TestReviewOrder};
use crate::state::TaskState;

/// How often a test flickers in a run before it isn't run again.
const FLICKERS: u32 = 2;
/// How many tests a message names.
const MAX_NAMED: usize = 5;

/// The error in strict mode if known failures are all that failed.
pub(super) const STRICT: &str = "With --strict, known failures fail a task";

/// Reviews the tests of the failed check, if it names them. Returns whether it does.
pub(super) fn start(turn: &mut Turn<'_>, first: bool, failure: FailureRecord) -> bool {
    let Some(task) = turn.task() else {
        return false;
    };
    let Some(red) = task.red_tests.last().filter(|red| !red.failed.is_empty()) else {
        return false;
    };
    let (config, state) = (&turn.state.config, &turn.state);
    let order = TestReviewOrder {
        task: task.key().clone(),
        attempt: task.attempts,
        commands: task.picked.verify.clone(),
        gate: config.gate.clone().filter(|_| !task.picked.is_group),
        timeout_ms: config.verify_timeout_ms,
        environment: state.environment.clone(),
        red: red.clone(),
        red_at_first: red_at_first(task),
        accepted: config.accepted_tests.iter().cloned().collect(),
        quarantined: state.quarantined_tests(),
        failure,
    };
    let (task, attempt) = (order.task.clone(), order.attempt);
    turn.ask(Command::ReviewTests(Box::new(order)), |seq| {
        Event::TestReviewStarted {
            seq,
            task,
            attempt,
            first,
        }
    });
    // When the run is resumed, the task is verified again.
    ending::stop_if_asked(turn);
    true
}

/// Returns the tests that failed when the same command ran before; `None` if it didn't.
fn red_at_first(task: &TaskState) -> Option<BTreeSet<String>> {
    match task.red_tests.as_slice() {
        [first, second] if first.command == second.command => Some(first.failed.clone()),
        _ => None,
    }
}

pub(super) fn ended(turn: &mut Turn<'_>, first: bool, review: &TestReview, took_ms: u64) {
    let Some(task) = turn.task() else { return };
    let (key, attempt) = (task.key().clone(), task.attempts);
    turn.emit(Event::TestsReviewed {
        task: key.clone(),
        attempt,
        review: review.clone(),
        took_ms,
    });
    if let Some(error) = objection(turn, review) {
        // The agent works again before a failure counts.
        if first {
            return attempting::start_unless_used_up(turn);
        }
        let failure = FailureRecord {
            error,
            ..(*review.failure).clone()
        };
        return healing::fail_verify(turn, verifying::cause(turn, failure));
    }
    let marks = [
        (Mark::KnownFailures, !review.known_failures().is_empty()),
        (Mark::Flaky, !review.flaky.is_empty()),
    ];
    for (mark, _) in marks.into_iter().filter(|(_, applies)| *applies) {
        let task = key.clone();
        turn.emit(Event::Marked { task, mark });
    }
    verifying::accept(turn, &Verdict::Green);
}

/// Returns why the task fails all the same; `None` if all failures are excused.
fn objection(turn: &Turn<'_>, review: &TestReview) -> Option<String> {
    if review.excuses() {
        let is_strict = turn.state.config.strict;
        return is_strict.then(|| strictly(review));
    }
    let error = &review.failure.error;
    if review.new.is_empty() && review.unexplained.is_none() {
        let names = named(&review.known);
        return Some(format!(
            "These tests failed before the task and still fail: {names}. If they are not for this task to mend, a person can accept them with `regreen baseline accept TEST`\n{error}"
        ));
    }
    Some(error.clone())
}

fn strictly(review: &TestReview) -> String {
    let known = review.known_failures();
    match known.is_empty() {
        true => verifying::FLAKY.to_owned(),
        false => format!("{STRICT}: {}", named(&known)),
    }
}

/// Names the first of them.
fn named(tests: &BTreeSet<String>) -> String {
    let mut names: Vec<String> = tests.iter().take(MAX_NAMED).cloned().collect();
    let more = tests.len().saturating_sub(MAX_NAMED);
    if more > 0 {
        names.push(format!("and {more} more"));
    }
    names.join(", ")
}

impl crate::state::State {
    /// Returns the tests that have flickered so often in this run that they aren't run again.
    #[must_use]
    pub fn quarantined_tests(&self) -> BTreeSet<String> {
        let often = self
            .flickers
            .iter()
            .filter(|(_, times)| **times >= FLICKERS);
        often.map(|(test, _)| test.clone()).collect()
    }
}
