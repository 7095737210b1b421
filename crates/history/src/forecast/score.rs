//! How good the predictions were.

use serde::Serialize;

use super::TaskCase;
use super::risk::Prediction;
use crate::Rate;

/// How good the predictions for the tasks of a period were, each made from what was known before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ForecastFigures {
    /// The risk; `None` if none was predicted.
    pub risk: Option<RiskFigures>,
    /// The time limits; `None` if none was suggested.
    pub time_limit: Option<LimitFigures>,
}

/// How good the predicted risks were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RiskFigures {
    /// For how many tasks a risk was predicted.
    pub outcomes: u64,
    /// The average predicted risk.
    pub predicted: f64,
    /// The part of them that failed at first.
    pub failed: f64,
    /// The mean squared error of the predictions.
    pub brier: f64,
    /// The mean squared error of always predicting the base rate, as known at that time.
    pub base_brier: f64,
}

/// How good the suggested time limits were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LimitFigures {
    /// First attempts that ended by themselves within the 90 % limit.
    pub kept: Rate,
}

/// The sums so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scores {
    risk: RiskFigures,
    kept: Rate,
}

impl Scores {
    /// Adds a task with what was predicted for it.
    pub(super) fn add(
        &mut self,
        case: &TaskCase,
        limit_ms: Option<u64>,
        predicted: Option<Prediction>,
    ) {
        if let (Some(first), Some(limit)) = (case.first_attempt, limit_ms) {
            // An attempt that a shorter limit ended shows nothing about a longer one.
            if !first.timed_out || first.time_ms >= limit {
                self.kept.add(!first.timed_out && first.time_ms <= limit);
            }
        }
        if let Some(predicted) = predicted {
            let failed = f64::from(u8::from(case.failed_first));
            self.risk.outcomes += 1;
            self.risk.predicted += predicted.risk;
            self.risk.failed += failed;
            self.risk.brier += (predicted.risk - failed).powi(2);
            self.risk.base_brier += (predicted.base - failed).powi(2);
        }
    }

    pub(super) fn figures(&self) -> ForecastFigures {
        let outcomes = self.risk.outcomes;
        let mean = |sum: f64| sum / outcomes.max(1) as f64;
        ForecastFigures {
            risk: (outcomes > 0).then(|| RiskFigures {
                outcomes,
                predicted: mean(self.risk.predicted),
                failed: mean(self.risk.failed),
                brier: mean(self.risk.brier),
                base_brier: mean(self.risk.base_brier),
            }),
            time_limit: (self.kept.of > 0).then_some(LimitFigures { kept: self.kept }),
        }
    }
}
