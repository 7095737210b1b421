//! The rows that people ask about later, from what happened.

use regreen_model::{Event, Failure, FailureRecord, TaskKey, Timestamp, Verdict};
use regreen_store::{Attempt, AttemptKey, FailureRow, HistoryRow, RunId};

use crate::clock;
use crate::places::Places;

/// The kind of a failure that no rule knows.
const UNDIAGNOSED: &str = "error";

/// Who carries out repairs.
const OWN_HANDS: &str = "regreen";

/// What every row needs to know.
#[derive(Debug)]
pub(crate) struct Historian<'a> {
    pub(crate) places: &'a Places,
    pub(crate) run: &'a RunId,
    pub(crate) agent: &'a str,
    pub(crate) now: Timestamp,
}

impl Historian<'_> {
    pub(crate) fn rows(&self, events: &[Event]) -> Vec<HistoryRow> {
        events.iter().flat_map(|event| self.of(event)).collect()
    }

    fn of(&self, event: &Event) -> Vec<HistoryRow> {
        match event {
            Event::AttemptStarted { task, attempt, .. } => {
                let log = self.places.log(self.run.as_str(), task, *attempt);
                vec![HistoryRow::Attempt(Attempt {
                    log: Some(self.places.shown(&log)),
                    ..self.attempt(task, *attempt)
                })]
            }
            Event::RepairStarted { task, attempt, .. } => {
                let log = self.places.log(self.run.as_str(), task, *attempt);
                let key = self.key(task, *attempt);
                vec![HistoryRow::Attempt(Attempt {
                    log: Some(self.places.shown(&log)),
                    outcome: Some("repair".to_owned()),
                    ..Attempt::started(key, OWN_HANDS, clock::stored_ms(self.now))
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
            blocked_on: found.and_then(|found| found.blocked_on.clone()),
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
