//! GitHub, through `gh api`.

mod answers;
mod runner;

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub use self::runner::{GhCall, GhReply, GhRunner};
use crate::check::{
    Check, CheckSource, CheckState, CommitId, Conclusion, Seen, WorkflowRun, one_line,
};
use crate::forge::{Forge, ForgeError, LogEnd};
use crate::pull_request::{Base, NewPullRequest, PullRequest, Repository};

/// The largest page that GitHub gives.
const PAGE: usize = 100;
/// More pages than any commit has.
const MAX_PAGES: usize = 50;

/// A repository on GitHub.
#[derive(Debug)]
pub struct GitHub<R> {
    repository: Repository,
    runner: R,
}

impl<R: GhRunner> GitHub<R> {
    /// Speaks about a repository through a runner of `gh`.
    pub fn new(repository: Repository, runner: R) -> Self {
        Self { repository, runner }
    }

    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> GhCall {
        let Repository { host, owner, name } = &self.repository;
        let mut args: Vec<String> = ["api", "--method", method].map(str::to_owned).to_vec();
        if host != Repository::HOST {
            args.extend(["--hostname".to_owned(), host.clone()]);
        }
        for header in [
            "Accept: application/vnd.github+json",
            "X-GitHub-Api-Version: 2022-11-28",
        ] {
            args.extend(["--header".to_owned(), header.to_owned()]);
        }
        if body.is_some() {
            args.extend(["--input", "-"].map(str::to_owned));
        }
        let separator = if path.is_empty() { "" } else { "/" };
        args.push(format!("repos/{owner}/{name}{separator}{path}"));
        GhCall {
            args,
            stdin: body.map(ToString::to_string).unwrap_or_default(),
        }
    }

    /// Asks for something; a reply that isn't a success is an error.
    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Vec<u8>, ForgeError> {
        let call = self.call(method, path, body);
        let reply = self.runner.run(&call).map_err(runner::not_run)?;
        runner::checked(reply, path)
    }

    fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ForgeError> {
        understood(&self.ask("GET", path, None)?, path)
    }

    /// Returns all items of a list, or nothing: a part of it would look like all of it.
    fn all<P: Page>(&self, path: &str) -> Result<Vec<P::Item>, ForgeError> {
        let separator = if path.contains('?') { '&' } else { '?' };
        let mut all: BTreeMap<String, P::Item> = BTreeMap::new();
        for number in 1..=MAX_PAGES {
            let page = format!("{path}{separator}per_page={PAGE}&page={number}");
            let page: P = self.get(&page)?;
            let total = page.total();
            let items = page.items();
            let is_last = items.len() < PAGE;
            all.extend(items.into_iter().map(|item| (P::key(&item), item)));
            if is_last {
                // Something was added or replaced while the pages were read.
                return if total.is_none_or(|total| total <= all.len()) {
                    Ok(all.into_values().collect())
                } else {
                    Err(ForgeError::Unavailable {
                        said: format!("the list {path} changed while it was read"),
                    })
                };
            }
        }
        Err(ForgeError::NotUnderstood {
            what: path.to_owned(),
        })
    }

    /// Returns the checks that branch rules require. Repositories without rules know none.
    fn rules(&self, branch: &str) -> Result<Vec<String>, ForgeError> {
        let path = format!("rules/branches/{}", encoded(branch));
        let rules = match self.all::<Vec<answers::Rule>>(&path) {
            Err(ForgeError::NotFound { .. }) => Vec::new(),
            rules => rules?,
        };
        Ok(rules
            .into_iter()
            .flat_map(answers::Rule::contexts)
            .collect())
    }
}

impl<R: GhRunner> Forge for GitHub<R> {
    fn default_branch(&self) -> Result<String, ForgeError> {
        let repository: answers::RepositoryAnswer = self.get("")?;
        Ok(repository.default_branch)
    }

    fn pull_request(&self, number: u64) -> Result<PullRequest, ForgeError> {
        let path = format!("pulls/{number}");
        let answer: answers::PullRequestAnswer = self.get(&path)?;
        answer
            .read()
            .ok_or(ForgeError::NotUnderstood { what: path })
    }

    fn open_pull_requests(&self, head: &str) -> Result<Vec<u64>, ForgeError> {
        let path = format!("pulls?state=open&head={}", encoded(head));
        let found = self.all::<Vec<answers::ListedPullRequest>>(&path)?;
        Ok(found.into_iter().map(|one| one.number).collect())
    }

    fn create_pull_request(&self, new: &NewPullRequest) -> Result<PullRequest, ForgeError> {
        let body = json!({
            "title": new.title,
            "body": new.body,
            "head": new.branch,
            "base": new.base,
        });
        let answer = self.ask("POST", "pulls", Some(&body))?;
        let answer: answers::PullRequestAnswer = understood(&answer, "pulls")?;
        answer.read().ok_or_else(|| ForgeError::NotUnderstood {
            what: "the new pull request".to_owned(),
        })
    }

    fn base(&self, branch: &str) -> Result<Base, ForgeError> {
        let path = format!("branches/{}", encoded(branch));
        let answer: answers::BranchAnswer = self.get(&path)?;
        let commit = CommitId::parse(&answer.commit.sha);
        let commit = commit.ok_or(ForgeError::NotUnderstood { what: path })?;
        let mut required = answer.protection.contexts();
        required.extend(self.rules(branch)?);
        let mut checks: BTreeMap<String, CheckState> = BTreeMap::new();
        for check in self.seen(&commit)?.latest().checks {
            let known = checks
                .entry(check.name)
                .or_insert_with(|| check.state.clone());
            // Passing is the first of the states, so the last one is the worst.
            if check.state > *known && *known != CheckState::Pending {
                *known = check.state;
            }
        }
        Ok(Base {
            commit,
            required: required.iter().map(|name| one_line(name)).collect(),
            checks,
        })
    }

    fn seen(&self, commit: &CommitId) -> Result<Seen, ForgeError> {
        let runs = format!("commits/{commit}/check-runs?filter=latest");
        let runs = self.all::<answers::CheckRuns>(&runs)?;
        let statuses = self.all::<answers::Statuses>(&format!("commits/{commit}/status"))?;
        // Last, so that a workflow that starts meanwhile is seen.
        let workflows = format!("actions/runs?head_sha={commit}");
        let workflows = match self.all::<answers::WorkflowRuns>(&workflows) {
            Err(ForgeError::NotFound { .. }) => Vec::new(),
            workflows => workflows?,
        };
        let statuses = statuses.into_iter().map(answers::StatusAnswer::read);
        Ok(Seen {
            checks: runs
                .into_iter()
                .map(answers::CheckRun::read)
                .chain(statuses)
                .collect(),
            runs: workflows
                .into_iter()
                .map(answers::WorkflowRunAnswer::read)
                .collect(),
        })
    }

    fn log(&self, job: u64, take: &mut dyn FnMut(&[u8]) -> bool) -> Result<LogEnd, ForgeError> {
        let path = format!("actions/jobs/{job}/logs");
        let call = self.call("GET", &path, None);
        // What gh prints before it fails is an error message, not a log.
        let mut beginning = Some(Vec::new());
        let mut passed_on = |bytes: &[u8]| match &mut beginning {
            Some(kept) => {
                kept.extend_from_slice(bytes);
                kept.len() <= MAX_MESSAGE || {
                    let bytes = beginning.take().unwrap_or_default();
                    take(&bytes)
                }
            }
            None => take(bytes),
        };
        let reply = self.runner.run_into(&call, &mut passed_on);
        let reply = reply.map_err(runner::not_run)?;
        match runner::checked(reply, &path) {
            Ok(_) => {
                if let Some(bytes) = beginning {
                    take(&bytes);
                }
                Ok(LogEnd::Whole)
            }
            Err(ForgeError::NotFound { .. } | ForgeError::Refused { status: 410, .. }) => {
                Ok(LogEnd::Gone)
            }
            Err(error) => Err(error),
        }
    }

    fn failed_step(&self, job: u64) -> Result<Option<String>, ForgeError> {
        match self.get::<answers::JobAnswer>(&format!("actions/jobs/{job}")) {
            Ok(job) => Ok(job.failed_step()),
            Err(ForgeError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn rerun(&self, run: u64) -> Result<(), ForgeError> {
        let path = format!("actions/runs/{run}/rerun-failed-jobs");
        match self.ask("POST", &path, None) {
            Err(ForgeError::Refused { said, .. }) if said.contains("already running") => Ok(()),
            asked => asked.map(|_| ()),
        }
    }
}

/// An error message of GitHub is shorter.
const MAX_MESSAGE: usize = 64 * 1024;

fn understood<T: DeserializeOwned>(bytes: &[u8], path: &str) -> Result<T, ForgeError> {
    serde_json::from_slice(bytes).map_err(|_| ForgeError::NotUnderstood {
        what: path.to_owned(),
    })
}

/// One page of a list.
trait Page: DeserializeOwned {
    type Item;

    /// Returns how many items all pages have, if it says so.
    fn total(&self) -> Option<usize>;

    fn items(self) -> Vec<Self::Item>;

    /// Identifies an item, which may be on two pages if something was added in between.
    fn key(item: &Self::Item) -> String;
}

/// Encodes text as a part of an address. gh would also replace braces.
fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests;
