//! Folds the results of Verify.

use regreen_model::{Failure, FailureRecord, Mark, Verdict};

use crate::state::{PassedCheck, Phase, TaskState};

impl TaskState {
    pub(super) fn verified(
        &mut self,
        verdict: &Verdict,
        diagnosis: Option<&Failure>,
        passed: PassedCheck,
    ) {
        self.passed_check = (*verdict == Verdict::Green).then_some(passed);
        let again = matches!(self.phase, Phase::Verifying { again: true, .. });
        let after_fix = matches!(self.phase, Phase::Verifying { first: true, .. });
        if *verdict == Verdict::Green && self.picked.is_partly_checked() {
            self.marks
                .extend([Mark::Unverified, Mark::ExpectationNotChecked]);
        }
        // The task it fixes doesn't cover a check that someone wrote for the fix itself.
        if matches!(verdict, Verdict::Red { .. })
            && self.picked.is_fix()
            && self.picked.has_own_verify
        {
            self.marks.extend([Mark::Unverified, Mark::VerifyFailed]);
        }
        match verdict {
            // The next prompt shows how the task fails now, not how it failed before the fix.
            Verdict::Red { error } if after_fix => {
                let failure = self.failure.take().unwrap_or_default();
                let cause = |found: Option<&Failure>| found.map(|found| found.fingerprint.clone());
                if cause(failure.diagnosis.as_deref()) != cause(diagnosis) {
                    self.experience = None;
                }
                self.failure = Some(FailureRecord {
                    error: error.clone(),
                    diagnosis: diagnosis.cloned().map(Box::new),
                    ..failure
                });
            }
            Verdict::Green if again => {
                self.marks.insert(Mark::Flaky);
            }
            // A group has nothing of its own to verify: its rows count.
            Verdict::Unverified if !self.picked.is_group => {
                self.marks.insert(Mark::Unverified);
            }
            Verdict::Green | Verdict::Red { .. } | Verdict::Unverified => {}
        }
        self.phase = Phase::Open;
    }
}
