//! Checks that name the tests that failed. The names say what is the matter with them, so that what is
//! true is known without the engine.

use regreen_engine::TestReviewOrder;
use regreen_model::{FlakyTest, RedTests, TestReview, Verdict};

use crate::world::{World, name_of};

/// A test that the task broke.
const NEW: &str = "new";
/// A test that was red before the task.
const OLD: &str = "old";
/// The same, while another test that was red before passes now.
const OLD_BESIDE_MENDED: &str = "old, beside a mended one";
const FLAKY: &str = "flaky";
/// A test in a build that can't be compared.
const UNEXPLAINED: &str = "unexplained";

/// What red checks name, one after the other.
const NAMED: [&[&str]; 6] = [
    &[OLD_BESIDE_MENDED],
    &[NEW, OLD],
    &[FLAKY],
    &[OLD],
    &[NEW],
    &[OLD_BESIDE_MENDED, FLAKY, UNEXPLAINED],
];

impl World {
    /// Returns the tests that a red check names, in worlds where checks name tests.
    pub(crate) fn red_tests(&mut self, verdict: &Verdict) -> Option<Box<RedTests>> {
        if !self.names_tests || !matches!(verdict, Verdict::Red { .. }) {
            return None;
        }
        self.reds += 1;
        let named = NAMED[self.reds % NAMED.len()];
        Some(Box::new(RedTests {
            command: "pytest".to_owned(),
            failed: named.iter().map(|test| (*test).to_owned()).collect(),
        }))
    }

    /// Reviews the tests by their names.
    pub(crate) fn review_tests(&mut self, order: &TestReviewOrder) -> TestReview {
        let is = |name: &str| order.red.failed.contains(name);
        let of = |names: &[&str]| {
            let named = names.iter().filter(|name| is(name));
            named.map(|name| (*name).to_owned()).collect()
        };
        let review = TestReview {
            known: of(&[OLD, OLD_BESIDE_MENDED]),
            flaky: of(&[FLAKY])
                .into_iter()
                .map(|test| FlakyTest {
                    test,
                    runs: 3,
                    failed: 2,
                })
                .collect(),
            new: of(&[NEW]),
            turned_green: is(OLD_BESIDE_MENDED)
                .then(|| "mended".to_owned())
                .into_iter()
                .collect(),
            unexplained: is(UNEXPLAINED).then(|| "the build failed".to_owned()),
            failure: Box::new(order.failure.clone()),
            ..TestReview::default()
        };
        let is_excused = !is(NEW) && !is(OLD) && !is(UNEXPLAINED);
        let name = name_of(&order.task);
        if is_excused {
            self.works.insert(name.clone(), true);
            self.watch.checked(&name, &order.commands, &Verdict::Green);
        }
        self.watch
            .saw_review(&name, is_excused, !review.known.is_empty());
        review
    }
}
