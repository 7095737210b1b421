//! What the named tests of a failed check say about a task.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{FailureRecord, PlainLine};

/// The most tests that one line names.
const MAX_NAMED: usize = 5;
/// The longest line about tests.
const MAX_LINE: usize = 600;

/// The tests that failed when a check ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RedTests {
    /// The command of the check that failed.
    pub command: String,
    /// The tests, by the names that the command gives them.
    pub failed: BTreeSet<String>,
}

/// A test that failed and passed with nothing changed in between.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlakyTest {
    /// Its name.
    pub test: String,
    /// How often it ran.
    pub runs: u32,
    /// How often it failed.
    pub failed: u32,
}

/// Which tests of a failed check the task is responsible for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TestReview {
    /// Tests that failed before the task as well.
    pub known: BTreeSet<String>,
    /// Tests whose failure a person has accepted.
    pub accepted: BTreeSet<String>,
    /// Tests that failed, and passed when they ran again.
    pub flaky: Vec<FlakyTest>,
    /// Tests that fail because of the task.
    pub new: BTreeSet<String>,
    /// Tests that failed before the task and pass now.
    pub turned_green: BTreeSet<String>,
    /// Why no failure is excused, even if nothing is known against these tests.
    pub unexplained: Option<String>,
    /// The failure of the check, or of the tests that the task is responsible for.
    pub failure: Box<FailureRecord>,
}

impl TestReview {
    /// Whether the check counts as passed. Tests that were red before the task excuse nothing unless the
    /// task turned another one green: its purpose may be to mend them.
    #[must_use]
    pub fn excuses(&self) -> bool {
        let is_explained = self.unexplained.is_none() && self.new.is_empty();
        let has_mended = self.known.is_empty() || !self.turned_green.is_empty();
        let red = self.known.len() + self.accepted.len() + self.flaky.len();
        is_explained && has_mended && red > 0
    }

    /// Tells people what was found besides failures of the task itself.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let flaky = self.flaky.iter().map(FlakyTest::to_string);
        let parts = [
            (
                "known failures, red before the task",
                named(self.known.iter().cloned()),
            ),
            ("accepted failures", named(self.accepted.iter().cloned())),
            ("flaky", named(flaky)),
            ("no failure is excused", self.unexplained.clone()),
        ];
        let parts = parts.into_iter();
        parts
            .filter_map(|(what, text)| Some(format!("{what}: {}", text?)))
            .map(|line| PlainLine::flatten(&line, MAX_LINE).to_string())
            .collect()
    }

    /// Returns the tests that are red and not this task's.
    #[must_use]
    pub fn known_failures(&self) -> BTreeSet<String> {
        self.known.union(&self.accepted).cloned().collect()
    }
}

impl fmt::Display for FlakyTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { test, runs, failed } = self;
        match runs == failed {
            true => f.write_str(test),
            false => write!(f, "{test} (failed {failed} of {runs} runs)"),
        }
    }
}

/// Joins the first of them.
fn named(tests: impl Iterator<Item = String>) -> Option<String> {
    let all: Vec<String> = tests.collect();
    let mut text = all
        .iter()
        .take(MAX_NAMED)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if all.len() > MAX_NAMED {
        text.push_str(&format!(" and {} more", all.len() - MAX_NAMED));
    }
    (!all.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tests(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn what_was_red_before_is_excused_only_if_something_turned_green() {
        let still_red = TestReview {
            known: tests(&["old"]),
            ..TestReview::default()
        };
        assert!(!still_red.excuses());
        let mended = TestReview {
            turned_green: tests(&["mended"]),
            ..still_red.clone()
        };
        assert!(mended.excuses());
        let accepted = TestReview {
            accepted: tests(&["old"]),
            ..TestReview::default()
        };
        assert!(accepted.excuses());
    }

    #[test]
    fn a_new_failure_and_what_nothing_explains_are_never_excused() {
        let flaky = TestReview {
            flaky: vec![FlakyTest::default()],
            ..TestReview::default()
        };
        assert!(flaky.excuses());
        let new = TestReview {
            new: tests(&["new"]),
            ..flaky.clone()
        };
        assert!(!new.excuses());
        let unexplained = TestReview {
            unexplained: Some("the build failed".to_owned()),
            ..flaky
        };
        assert!(!unexplained.excuses());
        assert!(!TestReview::default().excuses());
    }
}
