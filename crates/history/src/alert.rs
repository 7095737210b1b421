//! Thresholds, and the warnings for what exceeds them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Statistics;

/// A rate of fewer tasks says nothing.
const MIN_TASKS: u64 = 5;

/// When to warn about the last 24 hours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thresholds {
    /// More failures than this.
    pub failures: Option<u32>,
    /// A smaller percentage of tasks that pass the first time.
    pub first_pass_percent: Option<u32>,
    /// More failures of a category than this.
    pub categories: BTreeMap<String, u32>,
}

/// Something that exceeds its threshold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Alert {
    /// The setting with the threshold.
    pub setting: String,
    /// The value.
    pub value: u64,
    /// The threshold.
    pub threshold: u64,
    /// What exceeds what, in one sentence.
    pub message: String,
}

impl Thresholds {
    /// Whether there is nothing to warn about.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns what exceeds its threshold in the statistics of the last 24 hours.
    #[must_use]
    pub fn alerts(&self, day: &Statistics) -> Vec<Alert> {
        let failures = self
            .failures
            .and_then(|most| exceeded("alert.failures_24h", "failures", day.failures.count, most));
        let categories = self.categories.iter().filter_map(|(category, most)| {
            let figures = day.categories.iter().find(|one| one.name == *category);
            let setting = format!("alert.{category}");
            let what = format!("failures of the category {category}");
            exceeded(&setting, &what, figures.map_or(0, |one| one.count), *most)
        });
        let rate = self
            .first_pass_percent
            .and_then(|least| too_low(day, least));
        failures.into_iter().chain(rate).chain(categories).collect()
    }
}

fn exceeded(setting: &str, what: &str, value: u64, most: u32) -> Option<Alert> {
    (value > u64::from(most)).then(|| Alert {
        setting: setting.to_owned(),
        value,
        threshold: most.into(),
        message: format!("{value} {what} in 24 hours, more than {most}"),
    })
}

fn too_low(day: &Statistics, least: u32) -> Option<Alert> {
    let tasks = &day.tasks;
    let percent = tasks.first_pass.percent();
    (tasks.count >= MIN_TASKS && percent < u64::from(least)).then(|| Alert {
        setting: "alert.first_pass_rate".to_owned(),
        value: percent,
        threshold: least.into(),
        message: format!(
            "{percent} % of {} tasks passed the first time in 24 hours, less than {least} %",
            tasks.count
        ),
    })
}
