//! Folds fix tasks, repairs, and rows that an agent asked for.

use regreen_model::{
    FailureRecord, PlannedRepair, PromptKind, RecoveryTemplate, RepairResult, TaskId, TaskKey,
};

use crate::state::{AutomaticFix, Phase, State, TaskState};

impl State {
    /// Notes that a strategy of a template is used for a task.
    pub(super) fn apply_template(&mut self, task: &TaskKey, template: &str, step: u32) {
        let templates = self.config.templates.iter();
        let mut named = templates.filter(|one| one.name() == template);
        let guidance = named.next().and_then(RecoveryTemplate::guidance);
        self.with(task, |task| {
            task.template_steps.insert(template.to_owned(), step);
            task.guidance = guidance;
        });
    }

    pub(super) fn end_repair(&mut self, fix: &TaskKey, result: &RepairResult) {
        let root = self.tasks.get(fix).map(|fix| fix.picked.root.clone());
        let is_owner = |task: &&mut TaskState| {
            Some(&task.picked.root) == root.as_ref() && task.owns_automatic_fix(&fix.id)
        };
        for task in self.tasks.values_mut().filter(is_owner) {
            task.repaired
                .extend(task.automatic_fix.take().map(|own| own.repair.action));
        }
        if let RepairResult::Done { environment, .. } = result {
            for (name, value) in environment {
                self.environment.retain(|(set, _)| set != name);
                self.environment.push((name.clone(), value.clone()));
            }
        }
        self.with(fix, |fix| fix.repair_ended(result));
    }
}

impl TaskState {
    pub(super) fn plan_repair(&mut self, fix: Option<&TaskId>, repair: Option<&PlannedRepair>) {
        let agreed = self.automatic_fix.as_ref().is_some_and(|own| own.agreed);
        self.automatic_fix = repair.map(|repair| AutomaticFix {
            fix: fix.cloned(),
            repair: repair.clone(),
            agreed,
        });
    }

    pub(crate) fn owns_automatic_fix(&self, fix: &TaskId) -> bool {
        let own = self.automatic_fix.as_ref();
        own.is_some_and(|own| own.fix.as_ref() == Some(fix))
    }

    /// Records the result. A fix that regreen could not make is left to the agent, whose prompt
    /// says so.
    fn repair_ended(&mut self, result: &RepairResult) {
        self.settle();
        if let RepairResult::Failed { why } = result {
            self.prompt = PromptKind::Retry;
            self.failure = Some(FailureRecord {
                error: why.clone(),
                ..FailureRecord::default()
            });
        }
    }

    /// The fix for the last failure is now in the file.
    pub(super) fn fix_inserted(&mut self, fix: &TaskId) {
        self.phase = Phase::Open;
        self.was_fixed = true;
        if !self.fixes.iter().any(|(made, _)| made == fix) {
            let failure = self.failure.clone().unwrap_or_default();
            self.fixes.push((fix.clone(), failure.cause().to_owned()));
            self.fixed_blocker = failure.diagnosis.map(|found| found.fingerprint);
        }
    }

    /// Notes for the next prompt that the rows the agent asked for now exist.
    pub(super) fn rows_added(&mut self, added: &[TaskKey]) {
        self.phase = Phase::Open;
        if self.report.as_ref().is_some_and(|report| report.signalled) {
            return;
        }
        let rows: Vec<String> = added.iter().map(ToString::to_string).collect();
        let rows = rows.join(", ");
        self.prompt = PromptKind::Retry;
        self.failure = Some(FailureRecord {
            error: format!(
                "The task is not done yet: an attempt asked for other rows in the plan ({rows}). They are in the plan now. Do the rest of this task"
            ),
            attempted_fix: String::new(),
            ..FailureRecord::default()
        });
    }

    /// Notes for the next prompt why the agent, which asked for rows instead of finishing, didn't
    /// get them.
    pub(super) fn rows_refused(&mut self, why: &str) {
        self.phase = Phase::Open;
        if let Some(report) = &mut self.report
            && !report.signalled
            && !report.reports_failure
        {
            report.failure.error = format!("{}: {why}", report.failure.error);
        }
    }
}
