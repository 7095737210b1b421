//! Folds what the run and its tasks spend.

use regreen_model::{AttemptReport, Spending, TaskKey};

use crate::state::{Phase, State};

impl State {
    /// Every attempt costs something, however it ended.
    pub(super) fn spend_on_attempt(&mut self, key: &TaskKey, report: &AttemptReport) {
        let mut used = None;
        self.with(key, |task| {
            let session = report.session.as_deref();
            let usage = report.usage.as_ref();
            used = usage.map(|usage| task.sessions.count(session, usage));
        });
        self.spend(key, |spent| {
            spent.add_time(report.ending.duration_ms);
            if let Some(used) = &used {
                spent.add_usage(used);
            }
        });
    }

    /// Charges the run and the task's original.
    pub(super) fn spend(&mut self, key: &TaskKey, spend: impl Fn(&mut Spending)) {
        spend(&mut self.spent);
        let root = self.root_of(key);
        match self.spent_on.iter_mut().find(|(task, _)| *task == root) {
            Some((_, spent)) => spend(spent),
            None => {
                let mut spent = Spending::default();
                spend(&mut spent);
                self.spent_on.push((root, spent));
            }
        }
    }

    /// Called when the original is done, or when a person has it start over.
    pub(super) fn forget_spending(&mut self, root: &TaskKey) {
        self.spent_on.retain(|(task, _)| task != root);
    }

    pub(super) fn root_of(&self, key: &TaskKey) -> TaskKey {
        let task = self.tasks.get(key);
        task.map_or(key, |task| &task.picked.root).clone()
    }

    /// Whether the task waits before a repeat.
    pub(super) fn is_repeating(&self, task: &TaskKey) -> bool {
        let phase = self.tasks.get(task).map(|task| &task.phase);
        matches!(phase, Some(Phase::Waiting { repeats: true, .. }))
    }

    /// Returns how much of a wait passed while this process was running.
    pub(super) fn driven_ms(&self, key: &TaskKey, waited_ms: u64) -> u64 {
        let phase = self.tasks.get(key).map(|task| &task.phase);
        match (phase, self.resumed_at) {
            (Some(Phase::Waiting { since, .. }), Some(resumed)) => {
                waited_ms.min(since.plus(waited_ms).since(resumed))
            }
            _ => waited_ms,
        }
    }
}
