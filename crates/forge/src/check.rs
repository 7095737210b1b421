//! What a code host says about one commit.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use regreen_model::visible_line;
use serde::{Deserialize, Serialize};

/// Longer names are cut.
const MAX_NAME: usize = 200;

/// The full id of a commit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct CommitId(String);

impl CommitId {
    /// Parses 40 or 64 hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_hex = text.bytes().all(|b| b.is_ascii_hexdigit());
        let is_whole = matches!(text.len(), 40 | 64);
        (is_hex && is_whole).then(|| Self(text.to_ascii_lowercase()))
    }

    /// Returns all of it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the first seven digits, for people.
    #[must_use]
    pub fn short(&self) -> &str {
        &self.0[..7]
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<CommitId> for String {
    fn from(id: CommitId) -> Self {
        id.0
    }
}

impl TryFrom<String> for CommitId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("not the id of a commit")
    }
}

/// How a check ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// It passed.
    Success,
    /// It failed.
    Failure,
    /// It says neither.
    Neutral,
    /// A person or a newer run ended it.
    Cancelled,
    /// It didn't run, because of a condition or because a job that it needs failed.
    Skipped,
    /// It reached the time limit of the job.
    TimedOut,
    /// It waits for a person.
    ActionRequired,
    /// The code host gave up on it.
    Stale,
    /// The workflow could not be started, for example because its file is invalid.
    StartupFailure,
    /// A word that regreen doesn't know, which never counts as passed.
    Unknown(String),
}

impl Conclusion {
    /// Reads the word of the code host.
    #[must_use]
    pub fn read(word: &str) -> Self {
        match word {
            "success" => Self::Success,
            // What statuses say instead of `failure`.
            "failure" | "error" => Self::Failure,
            "neutral" => Self::Neutral,
            "cancelled" => Self::Cancelled,
            "skipped" => Self::Skipped,
            "timed_out" => Self::TimedOut,
            "action_required" => Self::ActionRequired,
            "stale" => Self::Stale,
            "startup_failure" => Self::StartupFailure,
            other => Self::Unknown(one_line(other)),
        }
    }

    /// Describes it for people: `the job was cancelled`.
    #[must_use]
    pub fn words(&self) -> &str {
        match self {
            Self::Success => "passed",
            Self::Failure => "failed",
            Self::Neutral => "neutral",
            Self::Cancelled => "cancelled",
            Self::Skipped => "skipped",
            Self::TimedOut => "timed out",
            Self::ActionRequired => "waits for a person",
            Self::Stale => "stale",
            Self::StartupFailure => "could not be started",
            Self::Unknown(word) => word,
        }
    }
}

/// Whether a check has ended, and how.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// It is queued or running.
    Pending,
    /// It has ended.
    Ended(Conclusion),
}

impl CheckState {
    /// Whether it ended without saying yes or no.
    #[must_use]
    pub fn is_without_result(&self) -> bool {
        matches!(self, Self::Ended(Conclusion::Skipped | Conclusion::Neutral))
    }
}

/// Who reported a check.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckSource {
    /// A job of the code host's own workflows, which has a log and can run again.
    Job {
        /// The job.
        id: u64,
        /// The suite, which belongs to one run of a workflow.
        suite: u64,
    },
    /// Another application.
    App {
        /// Its name.
        app: String,
        /// The check run: a later one has a higher number.
        id: u64,
    },
    /// A commit status.
    Status,
}

/// One check of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its name, as branch rules require it.
    pub name: String,
    /// Who reported it.
    pub source: CheckSource,
    /// Whether it has ended, and how.
    pub state: CheckState,
    /// The application's own words about it, if any.
    pub summary: String,
    /// Its page.
    pub url: String,
}

impl Check {
    /// Returns the job, if it has a log and can run again.
    #[must_use]
    pub fn job(&self) -> Option<u64> {
        match self.source {
            CheckSource::Job { id, .. } => Some(id),
            CheckSource::App { .. } | CheckSource::Status => None,
        }
    }
}

/// How far a workflow run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunState {
    /// It is queued or running; more jobs may appear.
    Pending,
    /// It waits for an approval.
    WaitsForPerson,
    /// It has ended.
    Ended(Conclusion),
}

/// One run of a workflow for a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowRun {
    /// Its id.
    pub id: u64,
    /// The workflow.
    pub workflow: u64,
    /// The workflow's name.
    pub name: String,
    /// What started it: `push`, `pull_request`.
    pub event: String,
    /// The suite of its checks.
    pub suite: u64,
    /// 1 for the first attempt.
    pub attempt: u64,
    /// How far it is.
    pub state: RunState,
}

/// Everything that was reported for one commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The checks.
    pub checks: Vec<Check>,
    /// The workflow runs.
    pub runs: Vec<WorkflowRun>,
}

impl Seen {
    /// Returns what counts: of several runs of a workflow for the same event only the latest, as far as
    /// it has a result, and of several reports of one application under one name only the last.
    #[must_use]
    pub fn latest(self) -> Self {
        let mut newest: BTreeMap<(u64, String), u64> = BTreeMap::new();
        for run in &self.runs {
            let id = newest.entry((run.workflow, run.event.clone())).or_default();
            *id = run.id.max(*id);
        }
        let is_newest =
            |run: &WorkflowRun| newest.get(&(run.workflow, run.event.clone())) == Some(&run.id);
        let (runs, old): (Vec<_>, Vec<_>) = self.runs.into_iter().partition(is_newest);
        // A later run that skips a job says nothing about it.
        let has_result = |run: &WorkflowRun, name: &str| {
            let of_run = |check: &&Check| matches!(check.source, CheckSource::Job { suite, .. } if suite == run.suite);
            let mut jobs = self.checks.iter().filter(of_run);
            jobs.any(|check| check.name == name && !check.state.is_without_result())
        };
        let is_replaced = |old: &WorkflowRun, name: &str| {
            let of_same =
                |run: &&WorkflowRun| run.workflow == old.workflow && run.event == old.event;
            let mut newer = runs.iter().filter(of_same);
            newer.any(|run| !matches!(run.state, RunState::Ended(_)) || has_result(run, name))
        };
        let replaced: BTreeSet<(u64, String)> = self
            .checks
            .iter()
            .filter_map(|check| {
                let CheckSource::Job { suite, .. } = check.source else {
                    return None;
                };
                let run = old.iter().find(|run| run.suite == suite)?;
                is_replaced(run, &check.name).then(|| (suite, check.name.clone()))
            })
            .collect();
        let mut checks: BTreeMap<(String, String, u64), Check> = BTreeMap::new();
        for check in self.checks {
            let (app, group, id) = match &check.source {
                CheckSource::Job { suite, .. }
                    if replaced.contains(&(*suite, check.name.clone())) =>
                {
                    continue;
                }
                CheckSource::Job { id, suite } => (String::new(), *suite, *id),
                CheckSource::App { app, id } => (app.clone(), 0, *id),
                CheckSource::Status => ("status".to_owned(), 0, 0),
            };
            let key = (check.name.clone(), app, group);
            let known = checks.get(&key).map(|known| match &known.source {
                CheckSource::Job { id, .. } | CheckSource::App { id, .. } => *id,
                CheckSource::Status => 0,
            });
            if known.is_none_or(|known| known <= id) {
                checks.insert(key, check);
            }
        }
        Self {
            checks: checks.into_values().collect(),
            runs,
        }
    }

    /// Returns the workflow run that a check belongs to.
    #[must_use]
    pub fn run_of(&self, check: &Check) -> Option<&WorkflowRun> {
        match check.source {
            CheckSource::Job { suite, .. } => self.runs.iter().find(|run| run.suite == suite),
            CheckSource::App { .. } | CheckSource::Status => None,
        }
    }

    /// Describes everything that may change, so that two equal texts mean that nothing happened.
    #[must_use]
    pub fn digest(&self) -> String {
        let checks = self.checks.iter();
        let checks = checks.map(|check| format!("{}={:?};", check.name, check.state));
        let runs = self.runs.iter();
        let runs = runs.map(|run| format!("{}.{}={:?};", run.id, run.attempt, run.state));
        checks.chain(runs).collect()
    }
}

/// Flattens untrusted text to one harmless line.
pub(crate) fn one_line(text: &str) -> String {
    visible_line(text, MAX_NAME).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(name: &str, id: u64, suite: u64, conclusion: Conclusion) -> Check {
        Check {
            name: name.to_owned(),
            source: CheckSource::Job { id, suite },
            state: CheckState::Ended(conclusion),
            summary: String::new(),
            url: String::new(),
        }
    }

    fn run(id: u64, suite: u64, event: &str) -> WorkflowRun {
        WorkflowRun {
            id,
            workflow: 7,
            name: "CI".into(),
            event: event.to_owned(),
            suite,
            attempt: 1,
            state: RunState::Ended(Conclusion::Success),
        }
    }

    #[test]
    fn a_run_that_a_newer_one_replaced_says_nothing() {
        let seen = Seen {
            checks: vec![
                job("test", 1, 10, Conclusion::Cancelled),
                job("test", 2, 20, Conclusion::Success),
            ],
            runs: vec![run(100, 10, "push"), run(200, 20, "push")],
        };
        let latest = seen.latest();
        assert_eq!(latest.checks.len(), 1);
        assert_eq!(latest.checks[0].job(), Some(2));
        assert_eq!(latest.runs.len(), 1);
    }

    #[test]
    fn runs_for_two_events_both_count() {
        let seen = Seen {
            checks: vec![
                job("test", 1, 10, Conclusion::Failure),
                job("test", 2, 20, Conclusion::Success),
            ],
            runs: vec![run(100, 10, "push"), run(200, 20, "pull_request")],
        };
        assert_eq!(seen.clone().latest().checks.len(), 2);
        assert_eq!(seen.latest().runs.len(), 2);
    }

    #[test]
    fn the_last_report_of_an_application_counts() {
        let report = |id: u64, conclusion| Check {
            source: CheckSource::App {
                app: "lint-bot".into(),
                id,
            },
            ..job("lint", 0, 0, conclusion)
        };
        let seen = Seen {
            checks: vec![
                report(9, Conclusion::Success),
                report(4, Conclusion::Failure),
            ],
            runs: Vec::new(),
        };
        let states: Vec<CheckState> = seen.latest().checks.into_iter().map(|c| c.state).collect();
        assert_eq!(states, [CheckState::Ended(Conclusion::Success)]);
    }

    #[test]
    fn only_a_whole_id_is_a_commit() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(CommitId::parse(id).unwrap().short(), "0123456");
        for bad in ["0123456", "", "--force", &id.replace('0', "g")] {
            assert_eq!(CommitId::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn an_unknown_word_is_not_a_success() {
        assert_eq!(
            Conclusion::read("succ\u{1b}[2Jess"),
            Conclusion::Unknown("success".into())
        );
    }
}
