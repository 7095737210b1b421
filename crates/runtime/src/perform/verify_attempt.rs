//! Checks an attempt, and whether the check itself left everything as it was.

use std::time::Instant;

use regreen_model::{Failure, TaskKey, Verdict};
use regreen_workspace::AttemptName;

use super::own_modules::without_own_modules;
use super::tampering::review_check;
use crate::clock::millis;
use crate::observer::RunObserver;
use crate::performer::{PerformError, Performer};
use crate::verify::{Check, CheckResult};

/// A verdict, with the diagnosis of a failed check.
type Judged = (Verdict, Option<Box<Failure>>);

/// Runs the check of an attempt. Also returns how long the check took, in milliseconds.
pub(crate) fn verify_attempt(
    performer: &mut Performer,
    task: &TaskKey,
    attempt: u32,
    check: &Check<'_>,
    observer: &mut dyn RunObserver,
) -> Result<(Judged, u64), PerformError> {
    let began = Instant::now();
    let (verdict, diagnosis) = match performer.own_service_trouble() {
        Some(red) => red,
        None => performer
            .context
            .verify(check, observer)
            .map(CheckResult::into_verdict)?,
    };
    let took_ms = millis(began.elapsed());
    // The agent may have written the check, so the check must neither take work off the branch nor
    // weaken what the commit is checked by.
    let name = AttemptName::new(&performer.run, task, attempt);
    let moved = performer.tree.put_head_back(&name)?;
    let (verdict, diagnosis) = match moved.or(review_check(performer)?) {
        Some(error) => (Verdict::Red { error }, None),
        None => (verdict, diagnosis),
    };
    let verdict = performer.with_services_that_are_down(verdict);
    let diagnosis = without_own_modules(performer, task, diagnosis)?;
    Ok(((verdict, diagnosis), took_ms))
}
