use regreen_model::{FailureRecord, TaskKey};
use regreen_store::{AttemptKey, RunId, Store, StoreError};

/// What earlier runs left of tasks that they did not finish.
#[derive(Debug)]
pub(crate) struct Past<'s> {
    pub(crate) store: &'s Store,
    /// What the journal calls the spec.
    pub(crate) spec: String,
    /// The run that goes on now.
    pub(crate) run: String,
}

impl Past<'_> {
    /// The runs that gave the task up, since it was last finished.
    pub(crate) fn unfinished(&self, task: &TaskKey) -> Result<Vec<RunId>, StoreError> {
        let attempts = self.store.attempts_of_task(&self.spec, &task.id)?;
        let mut runs: Vec<RunId> = Vec::new();
        // The last attempt of a run is the one that tells.
        for attempt in attempts.into_iter().rev() {
            let run = attempt.key.run;
            let is_news = run.as_str() != self.run && !runs.contains(&run);
            if attempt.key.task != *task || !is_news {
                continue;
            }
            if attempt.outcome.as_deref() == Some("ordinary") {
                break;
            }
            runs.push(run);
        }
        Ok(runs)
    }

    /// How the task failed then.
    pub(crate) fn failure(&self, task: &TaskKey) -> Result<Option<FailureRecord>, StoreError> {
        let runs = self.unfinished(task)?;
        if runs.is_empty() {
            return Ok(None);
        }
        self.last(task, |run| runs.contains(run))
    }

    /// How the task failed last, in this run or an earlier one.
    pub(crate) fn last_failure(&self, task: &TaskKey) -> Result<Option<FailureRecord>, StoreError> {
        self.last(task, |_| true)
    }

    fn last(
        &self,
        task: &TaskKey,
        counts: impl Fn(&RunId) -> bool,
    ) -> Result<Option<FailureRecord>, StoreError> {
        let failures = self.store.failures_of_task(&self.spec, &task.id)?;
        let is_it = |attempt: &AttemptKey| attempt.task == *task && counts(&attempt.run);
        let last = failures.into_iter().rev().find(|row| is_it(&row.attempt));
        // What another version stored in another form is not worth a failure of its own.
        Ok(last.and_then(|row| serde_json::from_str(&row.report).ok()))
    }
}
