//! Folds the ends of attempts, and what they say about the next one.

use regreen_model::{
    AttemptClass, AttemptReport, Failure, FailureRecord, PlanChanges, PromptKind, TaskKey,
};

use crate::recovery::MAX_TIME_FACTOR;
use crate::state::{Phase, State, TaskState};

impl State {
    /// In a list without ids, a task's number changes as soon as rows are added above it. This
    /// attempt is therefore also the last one of the same task under its other numbers.
    pub(super) fn outdate_namesakes(&mut self, attempted: &TaskKey) {
        for (key, task) in &mut self.tasks {
            if key != attempted && key.title == attempted.title {
                task.was_fixed = false;
            }
        }
    }

    pub(super) fn end_attempt(
        &mut self,
        key: &TaskKey,
        charged: bool,
        counted: bool,
        report: &AttemptReport,
    ) {
        if counted {
            self.iterations += 1;
        }
        if !matches!(report.class, AttemptClass::Transient { .. }) {
            self.waits = 0;
        }
        self.note_changes(&report.plan);
        self.spend_on_attempt(key, report);
        self.with(key, |task| task.attempt_ended(charged, report));
    }

    /// In a list without ids, a row that is removed again may have another number by then.
    pub(super) fn note_changes(&mut self, changes: &PlanChanges) {
        self.foreign_services
            .extend(changes.services.iter().cloned());
        let removed = changes.put_back.iter().chain(&changes.skipped);
        self.put_back.extend(removed.cloned());
    }
}

impl TaskState {
    fn attempt_ended(&mut self, charged: bool, report: &AttemptReport) {
        self.iterations += u32::from(charged);
        // The changes made before a reminder, and before an attempt was cut short, still count.
        let is_continued = self.reminded || self.was_cut_short();
        self.changed_files = report.files_changed > 0 || (is_continued && self.changed_files);
        if report.ending.timed_out && report.progressed {
            self.time_factor = (self.time_factor * 2).min(MAX_TIME_FACTOR);
        }
        self.session = report.session.clone().or_else(|| self.session.take());
        self.report = Some(Box::new(report.clone()));
        match report.class {
            AttemptClass::Interrupted => {
                self.interruptions += 1;
                self.prompt = PromptKind::Interrupted;
            }
            AttemptClass::Session { .. } => {
                self.lost_sessions += 1;
                self.session = None;
                self.prompt = PromptKind::NewSession;
            }
            AttemptClass::Ordinary if self.prompt == PromptKind::Enriched => {
                self.prompt = PromptKind::Retry;
            }
            // An agent whose service is down has not read its prompt: it gets the same one again.
            AttemptClass::Ordinary
            | AttemptClass::Transient { .. }
            | AttemptClass::Fatal { .. } => {}
        }
        // An interrupted request to split the task is made again.
        if self.asked_to_split && report.class != AttemptClass::Ordinary {
            self.prompt = PromptKind::Split;
        }
        if report.plan.claims.is_empty() {
            self.settle();
        } else {
            // The claims are judged first, even if a person has decided about the task.
            self.phase = Phase::Open;
        }
    }

    /// Whether the agent couldn't finish its last attempt: a kill, its service or a time limit ended
    /// it.
    fn was_cut_short(&self) -> bool {
        self.report
            .as_ref()
            .is_some_and(|report| report.class != AttemptClass::Ordinary || report.ending.timed_out)
    }

    /// Whether the same thing was missing or forbidden as in the previous attempt, with no file
    /// changed since. The next attempt would fail the same way.
    pub(super) fn has_stalled(&self, failure: &FailureRecord) -> bool {
        let last = self
            .failure
            .as_ref()
            .filter(|_| self.failed_attempt.is_some());
        let (Some(last), Some(found)) = (
            last.and_then(FailureRecord::confident_diagnosis),
            failure.confident_diagnosis(),
        ) else {
            return false;
        };
        found.kind.is_of_environment()
            && (found.kind, &found.fingerprint) == (last.kind, &last.fingerprint)
            && !self.changed_files
    }

    /// Charges the attempt to the repeats instead of the task. If only Verify failed, the attempt
    /// itself isn't repeated.
    pub(super) fn repeat_planned(&mut self) {
        self.repeats += 1;
        if !self.only_red {
            self.iterations = self.iterations.saturating_sub(1);
        }
    }

    /// Replaces the cause of the last failure with the one that the agent names, if it names one.
    pub(super) fn hear_opinion(&mut self, diagnosis: Option<&Failure>) {
        self.phase = Phase::Open;
        if let (Some(failure), Some(found)) = (&mut self.failure, diagnosis) {
            failure.diagnosis = Some(Box::new(found.clone()));
        }
    }
}
