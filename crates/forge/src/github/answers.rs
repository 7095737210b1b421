//! The parts of GitHub's answers that regreen reads.

use serde::Deserialize;

use super::{Check, CheckSource, CheckState, CommitId, Conclusion, Page, WorkflowRun, one_line};
use crate::check::RunState;
use crate::pull_request::{Mergeable, PullRequest};

/// The application that reports the jobs of GitHub's own workflows.
const ACTIONS: &str = "github-actions";

#[derive(Debug, Deserialize)]
pub(super) struct RepositoryAnswer {
    pub(super) default_branch: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct PullRequestAnswer {
    number: u64,
    state: String,
    head: HeadAnswer,
    base: BaseAnswer,
    #[serde(default)]
    mergeable: Option<bool>,
    #[serde(default)]
    mergeable_state: Option<String>,
    #[serde(default)]
    html_url: String,
}

#[derive(Debug, Deserialize)]
struct HeadAnswer {
    sha: String,
    #[serde(rename = "ref")]
    branch: String,
}

#[derive(Debug, Deserialize)]
struct BaseAnswer {
    #[serde(rename = "ref")]
    branch: String,
}

impl PullRequestAnswer {
    pub(super) fn read(self) -> Option<PullRequest> {
        let state = self.mergeable_state.as_deref().unwrap_or_default();
        Some(PullRequest {
            number: self.number,
            head: CommitId::parse(&self.head.sha)?,
            branch: self.head.branch,
            base: self.base.branch,
            is_open: self.state == "open",
            mergeable: match self.mergeable {
                None => Mergeable::Unknown,
                Some(true) => Mergeable::Clean,
                Some(false) => Mergeable::Conflict,
            },
            is_blocked: state == "blocked",
            url: one_line(&self.html_url),
        })
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct ListedPullRequest {
    pub(super) number: u64,
}

impl Page for Vec<ListedPullRequest> {
    type Item = ListedPullRequest;

    fn total(&self) -> Option<usize> {
        None
    }

    fn items(self) -> Vec<ListedPullRequest> {
        self
    }

    fn key(item: &ListedPullRequest) -> String {
        item.number.to_string()
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct BranchAnswer {
    pub(super) commit: CommitAnswer,
    #[serde(default)]
    pub(super) protection: Protection,
}

#[derive(Debug, Deserialize)]
pub(super) struct CommitAnswer {
    pub(super) sha: String,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Protection {
    #[serde(default)]
    required_status_checks: RequiredChecks,
}

#[derive(Debug, Default, Deserialize)]
struct RequiredChecks {
    #[serde(default)]
    contexts: Vec<String>,
    #[serde(default)]
    checks: Vec<RequiredCheck>,
}

#[derive(Debug, Deserialize)]
struct RequiredCheck {
    context: String,
}

impl Protection {
    pub(super) fn contexts(self) -> Vec<String> {
        let RequiredChecks { contexts, checks } = self.required_status_checks;
        let checks = checks.into_iter().map(|check| check.context);
        contexts.into_iter().chain(checks).collect()
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Rule {
    #[serde(rename = "type")]
    sort: String,
    #[serde(default)]
    parameters: RuleParameters,
}

#[derive(Debug, Default, Deserialize)]
struct RuleParameters {
    #[serde(default)]
    required_status_checks: Vec<RequiredCheck>,
}

impl Rule {
    pub(super) fn contexts(self) -> Vec<String> {
        let checks = self.parameters.required_status_checks.into_iter();
        checks.map(|check| check.context).collect()
    }
}

impl Page for Vec<Rule> {
    type Item = Rule;

    fn total(&self) -> Option<usize> {
        None
    }

    fn items(self) -> Vec<Rule> {
        self
    }

    fn key(item: &Rule) -> String {
        format!("{} {:?}", item.sort, item.parameters)
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct CheckRuns {
    total_count: usize,
    check_runs: Vec<CheckRun>,
}

#[derive(Debug, Deserialize)]
pub(super) struct CheckRun {
    id: u64,
    name: String,
    status: String,
    #[serde(default)]
    conclusion: Option<String>,
    #[serde(default)]
    html_url: Option<String>,
    #[serde(default)]
    output: OutputAnswer,
    #[serde(default)]
    app: Option<AppAnswer>,
    #[serde(default)]
    check_suite: Option<SuiteAnswer>,
}

#[derive(Debug, Default, Deserialize)]
struct OutputAnswer {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    summary: Option<String>,
}

#[derive(Debug, Deserialize)]
struct AppAnswer {
    #[serde(default)]
    slug: Option<String>,
}

#[derive(Debug, Deserialize)]
struct SuiteAnswer {
    id: u64,
}

impl Page for CheckRuns {
    type Item = CheckRun;

    fn total(&self) -> Option<usize> {
        Some(self.total_count)
    }

    fn items(self) -> Vec<CheckRun> {
        self.check_runs
    }

    fn key(item: &CheckRun) -> String {
        item.id.to_string()
    }
}

impl CheckRun {
    pub(super) fn read(self) -> Check {
        let app = self.app.and_then(|app| app.slug).unwrap_or_default();
        let suite = self.check_suite.map(|suite| suite.id);
        let source = match suite {
            Some(suite) if app == ACTIONS => CheckSource::Job { id: self.id, suite },
            _ => CheckSource::App { app, id: self.id },
        };
        let OutputAnswer { title, summary } = self.output;
        let said = [title, summary].into_iter().flatten();
        let said: Vec<String> = said.map(|text| one_line(&text)).collect();
        Check {
            name: one_line(&self.name),
            source,
            state: state(&self.status, self.conclusion.as_deref()),
            summary: said.join(": ").trim_matches([':', ' ']).to_owned(),
            url: one_line(&self.html_url.unwrap_or_default()),
        }
    }
}

/// A job that waits for an approval will not go on by itself.
fn state(status: &str, conclusion: Option<&str>) -> CheckState {
    match (status, conclusion) {
        ("completed", Some(word)) => CheckState::Ended(Conclusion::read(word)),
        ("completed", None) => CheckState::Ended(Conclusion::Unknown("no result".to_owned())),
        ("waiting", _) => CheckState::Ended(Conclusion::ActionRequired),
        _ => CheckState::Pending,
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Statuses {
    total_count: usize,
    statuses: Vec<StatusAnswer>,
}

#[derive(Debug, Deserialize)]
pub(super) struct StatusAnswer {
    context: String,
    state: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    target_url: Option<String>,
}

impl Page for Statuses {
    type Item = StatusAnswer;

    fn total(&self) -> Option<usize> {
        Some(self.total_count)
    }

    fn items(self) -> Vec<StatusAnswer> {
        self.statuses
    }

    fn key(item: &StatusAnswer) -> String {
        item.context.clone()
    }
}

impl StatusAnswer {
    pub(super) fn read(self) -> Check {
        Check {
            name: one_line(&self.context),
            source: CheckSource::Status,
            state: match self.state.as_str() {
                "pending" => CheckState::Pending,
                word => CheckState::Ended(Conclusion::read(word)),
            },
            summary: one_line(&self.description.unwrap_or_default()),
            url: one_line(&self.target_url.unwrap_or_default()),
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct WorkflowRuns {
    total_count: usize,
    workflow_runs: Vec<WorkflowRunAnswer>,
}

#[derive(Debug, Deserialize)]
pub(super) struct WorkflowRunAnswer {
    id: u64,
    #[serde(default)]
    name: Option<String>,
    workflow_id: u64,
    event: String,
    status: String,
    #[serde(default)]
    conclusion: Option<String>,
    check_suite_id: u64,
    #[serde(default)]
    run_attempt: u64,
}

impl Page for WorkflowRuns {
    type Item = WorkflowRunAnswer;

    fn total(&self) -> Option<usize> {
        Some(self.total_count)
    }

    fn items(self) -> Vec<WorkflowRunAnswer> {
        self.workflow_runs
    }

    fn key(item: &WorkflowRunAnswer) -> String {
        item.id.to_string()
    }
}

impl WorkflowRunAnswer {
    pub(super) fn read(self) -> WorkflowRun {
        WorkflowRun {
            id: self.id,
            workflow: self.workflow_id,
            name: one_line(&self.name.unwrap_or_default()),
            event: self.event,
            suite: self.check_suite_id,
            attempt: self.run_attempt,
            state: match state(&self.status, self.conclusion.as_deref()) {
                CheckState::Pending => RunState::Pending,
                CheckState::Ended(Conclusion::ActionRequired) => RunState::WaitsForPerson,
                CheckState::Ended(conclusion) => RunState::Ended(conclusion),
            },
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct JobAnswer {
    #[serde(default)]
    steps: Vec<StepAnswer>,
}

#[derive(Debug, Deserialize)]
struct StepAnswer {
    name: String,
    #[serde(default)]
    conclusion: Option<String>,
}

impl JobAnswer {
    pub(super) fn failed_step(self) -> Option<String> {
        const NOT_FAILED: [&str; 3] = ["success", "skipped", "neutral"];
        let has_failed = |step: &StepAnswer| {
            let conclusion = step.conclusion.as_deref();
            conclusion.is_some_and(|word| !NOT_FAILED.contains(&word))
        };
        let failed = self.steps.into_iter().find(has_failed);
        failed.map(|step| one_line(&step.name))
    }
}
