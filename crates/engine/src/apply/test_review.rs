//! Folds what is known about tests that failed.

use regreen_model::{RedTests, TaskKey, TestReview};

use crate::state::{PassedCheck, Phase, State, TaskState};

impl State {
    pub(super) fn review_tests(&mut self, task: &TaskKey, review: &TestReview, took_ms: u64) {
        self.spend(task, |spent| spent.add_time(took_ms));
        for flaky in &review.flaky {
            let times = self.flickers.entry(flaky.test.clone()).or_default();
            *times = times.saturating_add(1);
        }
        let passes = review.excuses() && !self.config.strict;
        let passed = PassedCheck {
            at: self.steps,
            took_ms,
        };
        self.with(task, |task| {
            task.phase = Phase::Open;
            task.passed_check = passes.then_some(passed);
            task.known_failures = match passes {
                true => review.known_failures(),
                false => Default::default(),
            };
        });
    }
}

impl TaskState {
    /// Notes the tests that failed: in the first run of a check, and when it ran again.
    pub(super) fn note_red_tests(&mut self, tests: Option<&RedTests>) {
        if !matches!(self.phase, Phase::Verifying { again: true, .. }) {
            self.red_tests.clear();
        }
        self.known_failures.clear();
        // A run that names none must not be judged by the tests of the run before.
        self.red_tests.push(tests.cloned().unwrap_or_default());
    }
}
