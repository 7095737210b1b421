//! What the history says about the tasks of a plan, before they are attempted.

use regreen_documents::{RowId, TaskFile};
use regreen_history::{Forecast, Risk, TaskIdentity, Workspace};
use regreen_model::{TaskFeatures, TaskKind, TimeForecast};
use regreen_runtime::SpecPaths;

use crate::config::Settings;
use crate::learned;

/// What the history says about the tasks of an agent in a spec.
#[derive(Debug)]
pub struct Outlook {
    forecast: Forecast,
    agent: String,
    workspace: Workspace,
    spec: String,
}

impl Outlook {
    /// Reads it; `None` if there is no history, or the user or the repository refuses one. Nothing
    /// depends on it, so neither a missing nor an unreadable history is an error.
    pub fn read(settings: &Settings, agent: &str, paths: &SpecPaths) -> Option<Self> {
        if !settings.history_record.value.is_on() {
            return None;
        }
        let history = learned::open_history().ok()??;
        Some(Self {
            forecast: history.forecast().ok()?,
            agent: agent.to_owned(),
            workspace: learned::workspace(&paths.root),
            spec: learned::spec_name(&paths.spec_key()),
        })
    }

    /// Returns how long tasks take; `None` if that is not known.
    pub fn times(&self) -> Option<Box<TimeForecast>> {
        let times = self.forecast.times(&self.agent, &self.workspace);
        (!times.groups.is_empty()).then(|| Box::new(times))
    }

    /// Returns how likely an open original fails at first; `None` if too little is known to say.
    pub fn risk(&self, file: &TaskFile, row: RowId) -> Option<Risk> {
        let is_task = matches!(file.kind(row), Some(TaskKind::Task | TaskKind::Optional));
        if !is_task || file.is_done(row) || file.fixed_by(row).is_some() {
            return None;
        }
        let title = file.key(row)?.title;
        let identity = TaskIdentity::new(&self.workspace, &self.spec, &title);
        let features: TaskFeatures = file.features(row);
        self.forecast.risk(&self.agent, &identity, &features)
    }
}

/// Describes a risk: `62 % likely to fail at first (average 31 %)`.
pub fn likelihood(risk: &Risk) -> String {
    format!(
        "{} % likely to fail at first (average {} %)",
        risk.percent, risk.average_percent
    )
}

/// Returns what raises the risk, a sentence each.
pub fn reasons(risk: &Risk) -> Vec<String> {
    let reasons = risk.reasons.iter();
    reasons
        .map(|reason| {
            let failed = reason.failed;
            let tasks = reason.factor.describe();
            format!("{} of {} {tasks} failed at first", failed.count, failed.of)
        })
        .collect()
}

/// Returns what would lower the risk of a task; empty if its author can do nothing about it.
pub fn advice(risk: &Risk, id: &str) -> String {
    let mut advice: Vec<String> = Vec::new();
    for words in risk
        .reasons
        .iter()
        .filter_map(|reason| reason.factor.advice())
    {
        let words = words.replace("ID", id);
        if !advice.contains(&words) {
            advice.push(words);
        }
    }
    advice.join("; ")
}
