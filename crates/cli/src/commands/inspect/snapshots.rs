//! The snapshots before and after attempts.

use std::collections::BTreeSet;

use regreen_runtime::SpecPaths;
use regreen_store::{Attempt, AttemptKey, RunId};
use regreen_workspace::{
    AttemptName, AttemptSpan, Git, GitError, RelPath, SnapshotSide, StoredSnapshot,
};

use crate::history::TaskHistory;
use crate::output;
use crate::problem::Problem;

/// The stored snapshots of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Around {
    Both(AttemptSpan),
    /// The attempt is still running, or was interrupted.
    OnlyBefore,
    Nothing,
}

impl Around {
    pub fn of(kept: &[StoredSnapshot], attempt: &AttemptKey) -> Self {
        let name = AttemptName::new(attempt.run.as_str(), &attempt.task, attempt.number);
        let find = |side: SnapshotSide| {
            let found = kept.iter().find(|one| one.side == side && one.name == name);
            found.map(|one| one.oid.clone())
        };
        match (find(SnapshotSide::Before), find(SnapshotSide::After)) {
            (Some(before), Some(after)) => Self::Both(AttemptSpan { before, after }),
            (Some(_), None) => Self::OnlyBefore,
            (None, _) => Self::Nothing,
        }
    }
}

/// Everything a task changed, through its own attempts, its fixes and the tasks below it.
#[derive(Debug)]
pub struct TaskSpans {
    pub git: Git,
    pub spans: Vec<AttemptSpan>,
}

impl TaskSpans {
    /// Collects the named run, or everything since the task was last finished before.
    pub fn of(history: &TaskHistory, run: Option<&str>) -> Result<Self, Problem> {
        let attempts = history.since_finished(run)?;
        let git = open_git(&history.context.places)?;
        let kept = kept(&git, &attempts)?;
        let mut spans = Vec::new();
        let mut open = None;
        for attempt in attempts {
            match Around::of(&kept, &attempt.key) {
                Around::Both(span) => spans.push(span),
                Around::OnlyBefore => open = Some(attempt),
                Around::Nothing => {}
            }
        }
        match open {
            Some(attempt) if spans.is_empty() => return Err(not_ended(attempt)),
            Some(attempt) => output::note(&format!("{}; it is left out", not_ended(attempt))),
            None if spans.is_empty() => {
                return Err(Problem::NoSnapshot {
                    task: history.selected.key.id.to_string(),
                });
            }
            None => {}
        }
        Ok(Self { git, spans })
    }
}

pub fn not_ended(attempt: &Attempt) -> Problem {
    Problem::NotEnded {
        task: attempt.key.task.id.to_string(),
        number: attempt.key.number,
    }
}

/// Returns the snapshots of all runs that made these attempts.
fn kept(git: &Git, attempts: &[&Attempt]) -> Result<Vec<StoredSnapshot>, Problem> {
    let runs: BTreeSet<&RunId> = attempts.iter().map(|attempt| &attempt.key.run).collect();
    let mut kept = Vec::new();
    for run in runs {
        kept.extend(git.snapshots(Some(run.as_str())).map_err(Problem::Git)?);
    }
    Ok(kept)
}

/// Opens the repository, which has the snapshots.
pub fn open_git(places: &SpecPaths) -> Result<Git, Problem> {
    Git::open(&places.root).map_err(|error| match error {
        GitError::NoWorkTree | GitError::Missing => Problem::NotInGit,
        error => Problem::Git(error),
    })
}

/// Returns the spec's own files, which describe the work and aren't part of it.
pub fn spec_files(places: &SpecPaths) -> BTreeSet<RelPath> {
    places.spec_files().into_iter().flatten().collect()
}
