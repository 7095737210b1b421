//! What earlier tasks say about tasks to come: how long they take, and how likely they fail at first.
//!
//! Everything is learnt in the order in which runs happened, and every run is predicted from those
//! that had ended before it began. So the scores of the predictions are those that people would have
//! got, and what is learnt needs no scores to be stored.

mod risk;
mod score;
mod times;

use std::collections::BTreeSet;

use regreen_model::{TaskFeatures, TimeForecast};

pub use risk::{Risk, RiskFactor, RiskReason};
pub use score::{ForecastFigures, LimitFigures, RiskFigures};

use self::risk::RiskModel;
use self::score::Scores;
use self::times::TaskTimes;
use crate::digest::short_title;
use crate::{FirstAttempt, Workspace};

/// A task to come, or how to recognize one of the past.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskIdentity {
    /// The folder of its workspace.
    pub workspace: String,
    /// Its spec.
    pub spec: String,
    /// The beginning of its title.
    pub title: String,
}

impl TaskIdentity {
    /// Identifies a task.
    #[must_use]
    pub fn new(workspace: &Workspace, spec: &str, title: &str) -> Self {
        Self {
            workspace: workspace.path.clone(),
            spec: spec.to_owned(),
            title: short_title(title),
        }
    }
}

/// A task of the past.
#[derive(Clone, Debug)]
pub(crate) struct TaskCase {
    pub(crate) run: i64,
    pub(crate) agent: String,
    pub(crate) identity: TaskIdentity,
    pub(crate) started_ms: i64,
    pub(crate) ended_ms: i64,
    pub(crate) failed_first: bool,
    pub(crate) time_ms: u64,
    pub(crate) first_attempt: Option<FirstAttempt>,
    pub(crate) verify_ms: Option<u64>,
    pub(crate) features: Option<TaskFeatures>,
}

/// What is learnt from all tasks of the past.
#[derive(Debug, Default)]
pub struct Forecast {
    times: TaskTimes,
    risk: RiskModel,
    scores: Scores,
}

impl Forecast {
    /// Learns from tasks. Those of the runs for which `is_scored` holds are scored.
    pub(crate) fn learn(cases: &[TaskCase], is_scored: impl Fn(i64) -> bool) -> Self {
        let mut forecast = Self::default();
        for (_, is_start, at) in moments(cases) {
            let Some(case) = cases.get(at) else { continue };
            if is_start {
                forecast.predict(case, is_scored(case.run));
            } else {
                forecast.times.learn(case);
                forecast.risk.learn(case);
            }
        }
        forecast
    }

    fn predict(&mut self, case: &TaskCase, is_scored: bool) {
        let predicted = self.risk.predict_case(case);
        if is_scored {
            self.scores.add(case, self.times.limit(case), predicted);
        }
    }

    /// Returns what is known about the times of tasks of an agent in a workspace.
    #[must_use]
    pub fn times(&self, agent: &str, workspace: &Workspace) -> TimeForecast {
        self.times.table(agent, &workspace.path)
    }

    /// Returns how likely a task fails at first; `None` if too little is known to say.
    #[must_use]
    pub fn risk(
        &self,
        agent: &str,
        identity: &TaskIdentity,
        features: &TaskFeatures,
    ) -> Option<Risk> {
        self.risk.risk(agent, identity, features)
    }

    pub(crate) fn figures(&self) -> ForecastFigures {
        self.scores.figures()
    }
}

/// Returns when each task began and when its run ended, in order. What ended when another began was
/// known by then.
fn moments(cases: &[TaskCase]) -> BTreeSet<(i64, bool, usize)> {
    let cases = cases.iter().enumerate();
    cases
        .flat_map(|(at, case)| {
            // A run that is over at once still begins before it ends.
            let ended = case.ended_ms.max(case.started_ms.saturating_add(1));
            [(case.started_ms, true, at), (ended, false, at)]
        })
        .collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A task that ran alone, one minute long, the nth of all.
    pub(crate) fn case(n: i64, failed_first: bool) -> TaskCase {
        TaskCase {
            run: n,
            agent: "claude".to_owned(),
            identity: TaskIdentity {
                workspace: "/srv/shop".to_owned(),
                spec: "login".to_owned(),
                title: format!("Task {n}"),
            },
            started_ms: n * 100_000,
            ended_ms: n * 100_000 + 60_000,
            failed_first,
            time_ms: 60_000,
            first_attempt: Some(FirstAttempt {
                time_ms: 60_000,
                timed_out: false,
            }),
            verify_ms: None,
            features: Some(TaskFeatures {
                words: 10,
                files: 1,
                file_kind: Some("rs".to_owned()),
                work: "add".to_owned(),
                verify: None,
                is_vague: false,
            }),
        }
    }

    #[test]
    fn a_task_is_predicted_from_what_had_ended_before_it_began() {
        let mut cases: Vec<TaskCase> = (0..40).map(|n| case(n, n % 2 == 0)).collect();
        let scored = |cases: &[TaskCase]| {
            let figures = Forecast::learn(cases, |run| run == 39).figures();
            figures.risk.map(|risk| risk.outcomes)
        };
        assert_eq!(scored(&cases), Some(1));
        // The first 15 take until the last one has begun, so only 24 are known then.
        for case in &mut cases[..15] {
            case.ended_ms = 39 * 100_000 + 1;
        }
        assert_eq!(scored(&cases), None);
    }
}
