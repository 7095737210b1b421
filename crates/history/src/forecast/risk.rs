//! How likely a task fails at first, from the rates of this machine's own outcomes.
//!
//! The rate of all tasks is the beginning. The agent shifts its log odds by as much as its rate
//! differs, and so does each feature of the task: by its rate with this agent as far as enough is known
//! of it, else with any. Rates are smoothed towards broader ones, and old outcomes count less.
//!
//! Features that go together would count twice, and those of a few tasks may differ by chance. So
//! shifts are trusted only as far as that would have predicted earlier outcomes best, each before it
//! was known: a trust of 0 leaves the base rate.

use std::collections::BTreeMap;

use regreen_model::TaskFeatures;
use serde::Serialize;

use super::{TaskCase, TaskIdentity};
use crate::Rate;

/// Before so many outcomes, nothing is said.
const MIN_OUTCOMES: u64 = 30;
/// A rate counts as if it had so many outcomes of the broader one.
const SMOOTHING: f64 = 8.0;
/// How much less an outcome counts with each one after it: half after 300.
const DECAY: f64 = 0.9977;
/// How far the shift of the agent, and those of features, may be trusted.
const TRUSTS: [(f64, f64); 6] = [
    (0.0, 0.0),
    (1.0, 0.0),
    (1.0, 0.25),
    (1.0, 0.5),
    (1.0, 0.75),
    (1.0, 1.0),
];
/// What a full trust has to make good first.
const DOUBT: f64 = 0.25;
/// A factor with a smaller shift isn't worth telling.
const MIN_SHIFT: f64 = 0.1;
/// How many reasons are given.
const MAX_REASONS: usize = 3;

/// How likely a task fails at first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Risk {
    /// The probability, in percent.
    pub percent: u64,
    /// The probability for an average task, in percent.
    pub average_percent: u64,
    /// How many outcomes this is based on.
    pub outcomes: u64,
    /// What raises it, most important first.
    pub reasons: Vec<RiskReason>,
}

/// Something that raises a risk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RiskReason {
    /// What it is.
    pub factor: RiskFactor,
    /// How many tasks with it failed at first.
    pub failed: Rate,
}

/// Something about a task that may have to do with how it goes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "factor", content = "value", rename_all = "snake_case")]
pub enum RiskFactor {
    /// The agent that works on it.
    Agent(String),
    /// The kind of work.
    Work(String),
    /// The kind of files that it names; empty if it names none.
    Files(String),
    /// Whether it names many files.
    ManyFiles(bool),
    /// Whether it has a long text.
    LongText(bool),
    /// Whether it has no Verify.
    NoVerify(bool),
    /// Whether it has words that need a conversation.
    Vague(bool),
    /// How this very task went when it was last attempted: whether it failed. `None` for a new one.
    Before(Option<bool>),
}

/// A predicted risk, and the one of an average task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prediction {
    pub(super) risk: f64,
    pub(super) base: f64,
}

/// All that is learnt about outcomes.
#[derive(Debug, Default)]
pub(super) struct RiskModel {
    outcomes: u64,
    all: Tally,
    factors: BTreeMap<RiskFactor, Tally>,
    factors_by_agent: BTreeMap<(String, RiskFactor), Tally>,
    past: BTreeMap<TaskIdentity, bool>,
    /// The squared errors that each trust would have made.
    losses: [f64; TRUSTS.len()],
}

/// Outcomes, of which older ones count less.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    failed: f64,
    count: f64,
    /// After which outcome the sums are as they are.
    at: u64,
    /// The same, all counting equally.
    whole: Rate,
}

impl Tally {
    fn add(&mut self, now: u64, failed: bool) {
        let decay = self.decay(now);
        self.failed = self.failed * decay + f64::from(u8::from(failed));
        self.count = self.count * decay + 1.0;
        self.at = now;
        self.whole.add(failed);
    }

    fn decay(&self, now: u64) -> f64 {
        DECAY.powi(i32::try_from(now.saturating_sub(self.at)).unwrap_or(i32::MAX))
    }

    /// Returns the rate, smoothed towards a broader one.
    fn rate(&self, now: u64, broader: f64) -> f64 {
        let decay = self.decay(now);
        (self.failed * decay + SMOOTHING * broader) / (self.count * decay + SMOOTHING)
    }
}

/// By how much the agent and each feature of a task shift the log odds of the base rate.
struct Shifts {
    base: f64,
    agent: f64,
    features: Vec<(RiskFactor, f64)>,
}

impl Shifts {
    fn risk(&self, (of_agent, of_features): (f64, f64)) -> f64 {
        let sum: f64 = self.features.iter().map(|(_, shift)| shift).sum();
        probability(self.base + of_agent * self.agent + of_features * sum)
    }
}

impl RiskModel {
    pub(super) fn learn(&mut self, case: &TaskCase) {
        let Some(features) = &case.features else {
            return;
        };
        let factors = self.factors_of(&case.identity, features);
        self.outcomes += 1;
        let (now, failed) = (self.outcomes, case.failed_first);
        self.all.add(now, failed);
        for factor in factors {
            let own = (case.agent.clone(), factor.clone());
            self.factors_by_agent
                .entry(own)
                .or_default()
                .add(now, failed);
            self.factors.entry(factor).or_default().add(now, failed);
        }
        let agent = RiskFactor::Agent(case.agent.clone());
        self.factors.entry(agent).or_default().add(now, failed);
        self.past.insert(case.identity.clone(), failed);
    }

    fn factors_of(&self, identity: &TaskIdentity, features: &TaskFeatures) -> Vec<RiskFactor> {
        vec![
            RiskFactor::Work(features.work.clone()),
            RiskFactor::Files(features.file_kind.clone().unwrap_or_default()),
            RiskFactor::ManyFiles(features.files >= TaskFeatures::MANY_FILES),
            RiskFactor::LongText(features.words >= TaskFeatures::MANY_WORDS),
            RiskFactor::NoVerify(!features.has_verify()),
            RiskFactor::Vague(features.is_vague),
            RiskFactor::Before(self.past.get(identity).copied()),
        ]
    }

    fn base(&self) -> f64 {
        self.all.rate(self.outcomes, 0.5)
    }

    fn shifts(&self, agent: &str, identity: &TaskIdentity, features: &TaskFeatures) -> Shifts {
        let (now, base) = (self.outcomes, self.base());
        let rate = |tally: Option<&Tally>, broader: f64| {
            tally.map_or(broader, |tally| tally.rate(now, broader))
        };
        let own = self.factors.get(&RiskFactor::Agent(agent.to_owned()));
        let of_agent = log_odds(rate(own, base));
        let shift = |factor: RiskFactor| {
            let all = log_odds(rate(self.factors.get(&factor), base)) - log_odds(base);
            let own = (agent.to_owned(), factor);
            let broader = probability(of_agent + all);
            let own_rate = rate(self.factors_by_agent.get(&own), broader);
            (own.1, log_odds(own_rate) - of_agent)
        };
        let factors = self.factors_of(identity, features);
        Shifts {
            base: log_odds(base),
            agent: of_agent - log_odds(base),
            features: factors.into_iter().map(shift).collect(),
        }
    }

    fn trust(&self) -> (f64, f64) {
        let losses = self.losses.iter().zip(TRUSTS);
        let losses = losses.map(|(loss, trust)| (loss + DOUBT * (trust.0 + trust.1), trust));
        let best = losses.min_by(|(one, _), (other, _)| one.total_cmp(other));
        best.map_or((0.0, 0.0), |(_, trust)| trust)
    }

    fn says_enough(&self) -> bool {
        self.outcomes >= MIN_OUTCOMES
    }

    /// Returns what would have been predicted for a task of the past that is not yet learnt, and
    /// rates the trusts by it.
    pub(super) fn predict_case(&mut self, case: &TaskCase) -> Option<Prediction> {
        let features = case.features.as_ref().filter(|_| self.says_enough())?;
        let shifts = self.shifts(&case.agent, &case.identity, features);
        let predicted = Prediction {
            risk: shifts.risk(self.trust()),
            base: self.base(),
        };
        self.rate_trust(case, &shifts);
        Some(predicted)
    }

    fn rate_trust(&mut self, case: &TaskCase, shifts: &Shifts) {
        let failed = f64::from(u8::from(case.failed_first));
        for (loss, trust) in self.losses.iter_mut().zip(TRUSTS) {
            *loss = *loss * DECAY + (shifts.risk(trust) - failed).powi(2);
        }
    }

    pub(super) fn risk(
        &self,
        agent: &str,
        identity: &TaskIdentity,
        features: &TaskFeatures,
    ) -> Option<Risk> {
        if !self.says_enough() {
            return None;
        }
        let shifts = self.shifts(agent, identity, features);
        let trust = self.trust();
        Some(Risk {
            percent: percent(shifts.risk(trust)),
            average_percent: percent(self.base()),
            outcomes: self.outcomes,
            reasons: self.reasons(agent, shifts, trust),
        })
    }

    fn reasons(&self, agent: &str, shifts: Shifts, trust: (f64, f64)) -> Vec<RiskReason> {
        let of_agent = (RiskFactor::Agent(agent.to_owned()), trust.0 * shifts.agent);
        let features = shifts.features.into_iter();
        let trusted = features.map(|(factor, shift)| (factor, trust.1 * shift));
        let mut all: Vec<(RiskFactor, f64)> = trusted
            .chain([of_agent])
            .filter(|(factor, shift)| *shift >= MIN_SHIFT && factor.is_tellable())
            .collect();
        all.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        all.truncate(MAX_REASONS);
        let reasons = all.into_iter().filter_map(|(factor, _)| {
            let failed = self.factors.get(&factor)?.whole;
            Some(RiskReason { factor, failed })
        });
        reasons.collect()
    }
}

impl RiskFactor {
    /// Whether it can be told as a reason: the lack of something that raises risks can't.
    fn is_tellable(&self) -> bool {
        match self {
            Self::Agent(_) | Self::Files(_) => true,
            Self::Work(work) => !work.is_empty(),
            Self::ManyFiles(is_it)
            | Self::LongText(is_it)
            | Self::NoVerify(is_it)
            | Self::Vague(is_it) => *is_it,
            Self::Before(before) => *before == Some(true),
        }
    }

    /// Describes the tasks with it, after "of 12": `tasks without a Verify`.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Agent(agent) => format!("tasks of {agent}"),
            Self::Work(work) if work.starts_with('[') => format!("{work} tasks"),
            Self::Work(work) => format!("tasks that start with “{work}”"),
            Self::Files(kind) if kind.is_empty() => "tasks that name no files".to_owned(),
            Self::Files(kind) => format!("tasks about .{kind} files"),
            Self::ManyFiles(_) => {
                format!("tasks with {} files or more", TaskFeatures::MANY_FILES)
            }
            Self::LongText(_) => format!("tasks of {} words or more", TaskFeatures::MANY_WORDS),
            Self::NoVerify(_) => "tasks without a Verify".to_owned(),
            Self::Vague(_) => "tasks that refer to a conversation".to_owned(),
            Self::Before(_) => "tasks that had failed before".to_owned(),
        }
    }

    /// Returns what would lower the risk, if the author of the task can do something about it.
    #[must_use]
    pub fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Files(kind) if kind.is_empty() => Some("add Files"),
            Self::ManyFiles(_) | Self::LongText(_) => Some("split it"),
            Self::NoVerify(_) => Some("add a Verify"),
            Self::Vague(_) => Some("say in the task what was discussed"),
            Self::Before(_) => Some("see why it failed: regreen why ID"),
            Self::Agent(_) | Self::Work(_) | Self::Files(_) => None,
        }
    }
}

fn log_odds(probability: f64) -> f64 {
    (probability / (1.0 - probability)).ln()
}

fn probability(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// Never certain.
fn percent(probability: f64) -> u64 {
    ((probability * 100.0).round() as u64).clamp(1, 99)
}

#[cfg(test)]
mod tests {
    use super::super::Forecast;
    use super::super::tests::case;
    use super::*;

    /// Tasks of which every third has no Verify, and only these fail.
    fn outcomes(count: i64) -> Forecast {
        let cases: Vec<TaskCase> = (0..count)
            .map(|n| {
                let mut case = case(n, n % 3 == 0);
                let features = case.features.as_mut().unwrap();
                features.verify = (n % 3 != 0).then_some(1);
                case
            })
            .collect();
        Forecast::learn(&cases, |_| true)
    }

    fn risk_of(forecast: &Forecast, verify: Option<u32>) -> Option<Risk> {
        let mut case = case(1_000, false);
        let features = case.features.as_mut().unwrap();
        features.verify = verify;
        forecast.risk("claude", &case.identity, features)
    }

    #[test]
    fn nothing_is_said_before_thirty_outcomes() {
        assert_eq!(risk_of(&outcomes(29), None), None);
        assert!(risk_of(&outcomes(30), None).is_some());
    }

    #[test]
    fn what_went_with_failures_raises_the_risk_and_is_told() {
        let forecast = outcomes(120);
        let (without, with) = (risk_of(&forecast, None), risk_of(&forecast, Some(1)));
        let (without, with) = (without.unwrap(), with.unwrap());
        assert!(without.percent > 80, "{without:?}");
        assert!(with.percent < 20, "{with:?}");
        assert_eq!(without.average_percent, 34);
        let reason = &without.reasons[0];
        assert_eq!(reason.factor, RiskFactor::NoVerify(true));
        assert_eq!((reason.failed.count, reason.failed.of), (40, 40));
        assert_eq!(reason.factor.advice(), Some("add a Verify"));
        assert_eq!(with.reasons, []);
    }

    #[test]
    fn features_that_say_nothing_leave_the_rate_of_the_agent() {
        // Failures are spread evenly over tasks with and without a Verify.
        let cases: Vec<TaskCase> = (0..240)
            .map(|n| {
                let mut case = case(n, n % 4 == 0);
                case.features.as_mut().unwrap().verify = (n / 4 % 2 == 0).then_some(1);
                case
            })
            .collect();
        let forecast = Forecast::learn(&cases, |_| true);
        let (one, other) = (
            risk_of(&forecast, None).unwrap(),
            risk_of(&forecast, Some(1)).unwrap(),
        );
        assert!(one.percent.abs_diff(25) <= 3 && other.percent.abs_diff(25) <= 3);
        assert_eq!((one.reasons, other.reasons), (vec![], vec![]));
    }

    #[test]
    fn a_task_that_failed_before_is_recognized() {
        // Tasks come in pairs with the same title: the second fails if the first did.
        let cases: Vec<TaskCase> = (0..120)
            .map(|n| {
                let mut case = case(n, n / 2 % 2 == 0);
                case.identity.title = format!("Task {}", n / 2);
                case
            })
            .collect();
        let forecast = Forecast::learn(&cases, |_| true);
        let mut again = case(1_000, false);
        again.identity.title = "Task 58".to_owned();
        let features = again.features.as_ref().unwrap();
        let risk = forecast.risk("claude", &again.identity, features).unwrap();
        assert_eq!(risk.reasons[0].factor, RiskFactor::Before(Some(true)));
        assert!(risk.percent > 70, "{risk:?}");
    }

    #[test]
    fn the_rates_of_agents_are_kept_apart() {
        let cases: Vec<TaskCase> = (0..200)
            .map(|n| {
                let mut case = case(n, n % 2 == 0 && n % 10 != 0);
                if n % 2 == 1 {
                    "codex".clone_into(&mut case.agent);
                }
                case
            })
            .collect();
        let forecast = Forecast::learn(&cases, |_| true);
        let one = case(1_000, false);
        let features = one.features.as_ref().unwrap();
        let risk = |agent: &str| forecast.risk(agent, &one.identity, features).unwrap();
        assert!(risk("claude").percent > 65 && risk("codex").percent < 15);
        assert_eq!(
            risk("claude").reasons[0].factor,
            RiskFactor::Agent("claude".to_owned())
        );
    }

    #[test]
    fn predictions_are_scored_beside_the_base_rate() {
        let figures = outcomes(300).figures().risk.unwrap();
        assert_eq!(figures.outcomes, 270);
        assert!(figures.brier < figures.base_brier / 4.0, "{figures:?}");
        assert!((figures.failed - 1.0 / 3.0).abs() < 0.01);
    }
}
