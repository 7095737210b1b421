//! Folds the events of the final check, and what it needs to know about tasks.

use regreen_model::{
    FinalCheckPolicy, Mark, NotRepeated, NotRepeatedReason, PickedTask, PromptKind, Regression,
    TaskKey,
};

use crate::state::{FinalCheckPhase, PassedCheck, Phase, State, TaskState};

impl State {
    /// Counts the start of something that may change the work.
    pub(super) fn begin_step(&mut self, task: &TaskKey, attempt: u32) {
        self.steps += 1;
        self.last_attempt = Some((task.clone(), attempt));
        let steps = self.steps;
        self.with(task, |task| task.attempted_at = steps);
        // In a list without ids, a row's id changes with the rows above it. The state under the old
        // id no longer says whether the agent has done its part.
        let namesakes = self.tasks.values_mut();
        let namesakes = namesakes.filter(|other| other.key().title == task.title);
        namesakes.for_each(|other| other.regressed_at = None);
    }

    /// Remembers the checks of the rows that stay ticked.
    pub(super) fn keep_claims(&mut self, task: &TaskKey, kept: &[TaskKey]) {
        let report = self.tasks.get(task).and_then(|task| task.report.as_ref());
        let claims = report.map(|report| report.plan.claims.clone());
        let claims = claims.unwrap_or_default().into_iter();
        let passed = PassedCheck {
            at: self.steps,
            took_ms: 0,
        };
        for claim in claims.filter(|claim| kept.contains(&claim.task)) {
            self.claimed.retain(|(known, _)| known.task != claim.task);
            self.claimed.push((claim, passed));
        }
    }

    /// Forgets that a task passed: once it is open again, it must pass again.
    pub(super) fn forget_passed(&mut self, task: &TaskKey) {
        self.claimed.retain(|(claim, _)| claim.task != *task);
        self.earlier_checks.retain(|passed| passed.task != *task);
    }

    /// Adds a mark to these tasks.
    pub(super) fn mark_all(&mut self, tasks: &[TaskKey], mark: Mark) {
        for task in tasks {
            self.with(task, |task| {
                task.marks.insert(mark);
            });
        }
    }

    pub(super) fn end_final_check(
        &mut self,
        regressed: &[Regression],
        not_repeated: &[NotRepeated],
        took_ms: u64,
    ) {
        self.spent.add_time(took_ms);
        let is_accepted = regressed.is_empty() || self.config.final_check == FinalCheckPolicy::Warn;
        self.reading = None;
        self.final_check.phase = FinalCheckPhase::Idle;
        self.final_check.passed_at = is_accepted.then_some(self.steps);
        self.final_check.checked_at = self.steps;
        self.final_check.regressed = regressed.to_vec();
        let out_of_time = not_repeated
            .iter()
            .filter(|one| one.why == NotRepeatedReason::NoTime);
        self.final_check.out_of_time = out_of_time.map(|one| one.task.clone()).collect();
    }

    /// Reopens a task that no longer passes. It keeps its attempts and fixes, and is healed like
    /// one that has just failed.
    pub(super) fn reopen(&mut self, key: &TaskKey) {
        self.final_check.phase = FinalCheckPhase::Idle;
        self.forget_passed(key);
        let Some(regression) = self.regression_of(key).cloned() else {
            return;
        };
        let checked_at = self.final_check.checked_at;
        self.with(key, |task| {
            task.phase = Phase::Open;
            task.passed_check = None;
            task.regressed_at = Some(checked_at);
            task.fail_as(regression);
        });
    }

    pub(super) fn regression_of(&self, task: &TaskKey) -> Option<&Regression> {
        let mut regressed = self.final_check.regressed.iter();
        regressed.find(|regression| regression.task == *task)
    }
}

impl TaskState {
    /// Creates the state of a picked task. If an agent had ticked it while working on another one,
    /// it starts with the reason why it no longer passes.
    pub(super) fn new_or_regressed(picked: PickedTask, regression: Option<Regression>) -> Self {
        let mut task = Self::new(picked);
        if let Some(regression) = regression {
            task.fail_as(regression);
        }
        task
    }

    fn fail_as(&mut self, regression: Regression) {
        self.result = Some(false);
        self.prompt = PromptKind::Retry;
        self.failure = Some(regression.failure);
    }
}
