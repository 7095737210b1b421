//! Checks an attempt, and whether the check itself left everything as it was.

use regreen_model::{Failure, RedTests, TaskKey, Verdict};
use regreen_workspace::AttemptName;

use super::own_modules::without_own_modules;
use super::tampering::review_check;
use crate::clock::millis;
use crate::observer::RunObserver;
use crate::performer::{PerformError, Performer};
use crate::verify::{Check, CheckResult};

/// A verdict, with the diagnosis of a failed check and the tests that it names.
#[derive(Debug)]
pub(crate) struct JudgedAttempt {
    pub(crate) verdict: Verdict,
    pub(crate) diagnosis: Option<Box<Failure>>,
    pub(crate) tests: Option<Box<RedTests>>,
}

/// Runs the check of an attempt. Also returns how long the check took, in milliseconds.
pub(crate) fn verify_attempt(
    performer: &mut Performer,
    task: &TaskKey,
    attempt: u32,
    check: &Check<'_>,
    observer: &mut dyn RunObserver,
) -> Result<(JudgedAttempt, u64), PerformError> {
    let asleep = performer.context.processes.asleep.clone();
    let watch = asleep.stopwatch();
    let mut tests = None;
    let (verdict, diagnosis) = match performer.own_service_trouble() {
        Some(red) => red,
        None => {
            let mut result = performer.context.verify(check, observer)?;
            tests = result.take_tests();
            if let CheckResult::RanNoTest { command } = &result {
                performer.notices.add(format!(
                    "`{}` passed without running a test, so it verifies nothing",
                    performer.context.processes.masks.mask(command)
                ));
            }
            result.into_verdict()
        }
    };
    let took_ms = millis(watch.elapsed());
    // The agent may have written the check, so the check must neither take work off the branch nor
    // weaken what the commit is checked by.
    let name = AttemptName::new(&performer.run, task, attempt);
    let moved = performer.tree.put_head_back(&name)?;
    let (verdict, diagnosis) = match moved.or(review_check(performer)?) {
        Some(error) => {
            tests = None;
            (Verdict::Red { error }, None)
        }
        None => (verdict, diagnosis),
    };
    let verdict = performer.with_services_that_are_down(verdict);
    let diagnosis = without_own_modules(performer, task, diagnosis)?;
    let judged = JudgedAttempt {
        verdict,
        diagnosis,
        tests,
    };
    Ok((judged, took_ms))
}
