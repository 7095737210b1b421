//! The history of attempts and failures: written from events, read by later runs.

use regreen_diagnosis::reported_blocker;
use regreen_model::{Event, Failure, FailureRecord, TaskId, TaskKey, Timestamp, Verdict};
use regreen_store::{Attempt, AttemptKey, FailureRow, HistoryRow, RunId, Store, StoreError};

use crate::clock;
use crate::spec_paths::SpecPaths;

/// The kind of an undiagnosed failure.
const UNDIAGNOSED: &str = "error";

/// The agent name of attempts that regreen makes itself, as repairs.
const REPAIRER: &str = "regreen";

/// Turns events into rows of the history.
#[derive(Debug)]
pub(crate) struct HistoryWriter<'a> {
    pub(crate) paths: &'a SpecPaths,
    pub(crate) run: &'a RunId,
    pub(crate) agent: &'a str,
    pub(crate) now: Timestamp,
}

impl HistoryWriter<'_> {
    pub(crate) fn rows(&self, events: &[Event]) -> Vec<HistoryRow> {
        events.iter().flat_map(|event| self.of(event)).collect()
    }

    fn of(&self, event: &Event) -> Vec<HistoryRow> {
        match event {
            Event::AttemptStarted { task, attempt, .. } => {
                let log = self.paths.log(self.run.as_str(), task, *attempt);
                vec![HistoryRow::Attempt(Attempt {
                    log: Some(self.paths.shown(&log)),
                    ..self.attempt(task, *attempt)
                })]
            }
            Event::RepairStarted { task, attempt, .. } => {
                let log = self.paths.log(self.run.as_str(), task, *attempt);
                let key = self.key(task, *attempt);
                vec![HistoryRow::Attempt(Attempt {
                    log: Some(self.paths.shown(&log)),
                    outcome: Some("repair".to_owned()),
                    ..Attempt::started(key, REPAIRER, clock::stored_ms(self.now))
                })]
            }
            Event::SessionSeen {
                task,
                attempt,
                session,
            } => vec![HistoryRow::Attempt(Attempt {
                session: Some(session.clone()),
                ..self.attempt(task, *attempt)
            })],
            Event::AttemptEnded {
                task,
                attempt,
                report,
                ..
            } => vec![HistoryRow::Attempt(Attempt {
                ended_ms: Some(clock::stored_ms(self.now)),
                session: report.session.clone(),
                exit_code: report.ending.exit_code,
                signal: report.ending.signal,
                outcome: Some(report.class.name().to_owned()),
                ..self.attempt(task, *attempt)
            })],
            Event::VerifyEnded {
                task,
                attempt,
                verdict,
                ..
            } if *attempt > 0 => vec![HistoryRow::Attempt(Attempt {
                verify: Some(word(verdict).to_owned()),
                ..self.attempt(task, *attempt)
            })],
            Event::TaskFailed {
                task,
                attempt,
                failure,
                ..
            } if *attempt > 0 => {
                let failed = Attempt {
                    outcome: Some("failed".to_owned()),
                    ..self.attempt(task, *attempt)
                };
                let row = self.failure(self.key(task, *attempt), failure);
                vec![HistoryRow::Attempt(failed), HistoryRow::Failure(row)]
            }
            _ => Vec::new(),
        }
    }

    fn failure(&self, attempt: AttemptKey, failure: &FailureRecord) -> FailureRow {
        let found = failure.diagnosis.as_deref();
        let name = |name: fn(&Failure) -> &str| found.map(name).unwrap_or_default().to_owned();
        FailureRow {
            attempt,
            at_ms: clock::stored_ms(self.now),
            category: name(|found| found.category.name()),
            kind: found
                .map_or(UNDIAGNOSED, |found| found.kind.name())
                .to_owned(),
            message: failure.error.clone(),
            blocked_on: found.and_then(reported_blocker),
            fingerprint: name(|found| &found.fingerprint),
            report: serde_json::to_string(failure).unwrap_or_default(),
        }
    }

    fn attempt(&self, task: &TaskKey, number: u32) -> Attempt {
        let started = clock::stored_ms(self.now);
        Attempt::started(self.key(task, number), self.agent, started)
    }

    fn key(&self, task: &TaskKey, number: u32) -> AttemptKey {
        AttemptKey {
            run: self.run.clone(),
            task: task.clone(),
            number,
        }
    }
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Green => "green",
        Verdict::Red { .. } => "red",
        Verdict::Unverified => "unverified",
    }
}

/// What earlier runs recorded about the tasks that they did not finish.
#[derive(Debug)]
pub(crate) struct EarlierRuns<'s> {
    pub(crate) store: &'s Store,
    /// The spec's name in the journal.
    pub(crate) spec: String,
    /// The current run.
    pub(crate) run: String,
}

impl EarlierRuns<'_> {
    /// Returns the runs that gave up on the task since it was last finished.
    pub(crate) fn unfinished(&self, task: &TaskKey) -> Result<Vec<RunId>, StoreError> {
        let attempts = self.store.attempts_of_task(&self.spec, &task.id)?;
        let mut runs: Vec<RunId> = Vec::new();
        // The last attempt of each run decides.
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

    /// Whether any run, including this one, attempted or repaired a task with this id.
    pub(crate) fn has_attempt(&self, id: &TaskId) -> Result<bool, StoreError> {
        Ok(!self.store.attempts_of_task(&self.spec, id)?.is_empty())
    }

    /// Returns how the task failed in those runs.
    pub(crate) fn failure(&self, task: &TaskKey) -> Result<Option<FailureRecord>, StoreError> {
        let runs = self.unfinished(task)?;
        if runs.is_empty() {
            return Ok(None);
        }
        self.last(task, |run| runs.contains(run))
    }

    /// Returns how the task last failed, in this run or an earlier one.
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
        // A row that another version wrote in another format is no reason to fail.
        Ok(last.and_then(|row| serde_json::from_str(&row.report).ok()))
    }
}
