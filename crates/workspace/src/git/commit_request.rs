use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::RelPath;

use super::index_scan::Found;
use super::oid::Oid;

/// What is to be committed, as it was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitRequest {
    /// Names this commit among all that regreen makes. It stands in git's own log of what
    /// moved HEAD, and tells after a crash that the commit was made.
    pub key: String,
    pub message: String,
    /// Changed in attempts of the task or its fixes.
    pub paths: BTreeSet<RelPath>,
    /// Of `paths`, those that were dirty before the run and made by no attempt.
    pub leave_alone: BTreeSet<RelPath>,
    /// The spec's own, committed whatever else is said of them.
    pub spec_files: BTreeSet<RelPath>,
    /// HEAD when this was decided; `None` if there was no commit yet.
    pub parent: Option<Oid>,
}

/// A path that might have been committed and was not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftAlone {
    pub path: RelPath,
    pub why: WhyLeft,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WhyLeft {
    /// It had changes of the user's before the run began.
    DirtyBefore,
    /// It is a repository of its own: who clones this one would get nothing of it.
    Repository,
    /// It may not be read.
    Unreadable,
}

impl fmt::Display for LeftAlone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.why {
            WhyLeft::DirtyBefore => "it had changes before the run began",
            WhyLeft::Repository => "it is a repository of its own",
            WhyLeft::Unreadable => "it cannot be read",
        };
        write!(f, "{} was not committed: {why}", self.path)
    }
}

/// Which of the paths that differ from HEAD belong to the commit.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Selection {
    pub(super) commit: Vec<(RelPath, Found)>,
    pub(super) left: Vec<LeftAlone>,
}

impl CommitRequest {
    pub(super) fn select(&self, differing: BTreeMap<RelPath, Found>) -> Selection {
        let mut selection = Selection::default();
        for (path, found) in differing {
            match self.judge(&path, found) {
                Judgement::Commit => selection.commit.push((path, found)),
                Judgement::Leave(why) => selection.left.push(LeftAlone { path, why }),
                Judgement::NotAsked => {}
            }
        }
        selection
    }

    fn judge(&self, path: &RelPath, found: Found) -> Judgement {
        if self.spec_files.contains(path) {
            Judgement::Commit
        } else if !self.paths.contains(path) {
            Judgement::NotAsked
        } else if self.leave_alone.contains(path) {
            Judgement::Leave(WhyLeft::DirtyBefore)
        } else if found == Found::NewRepository {
            Judgement::Leave(WhyLeft::Repository)
        } else {
            Judgement::Commit
        }
    }
}

enum Judgement {
    Commit,
    Leave(WhyLeft),
    NotAsked,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &[&str]) -> BTreeSet<RelPath> {
        names
            .iter()
            .map(|name| RelPath::new(*name).unwrap())
            .collect()
    }

    #[test]
    fn only_what_was_asked_for_differs_and_is_regreens_to_commit_is_committed() {
        let request = CommitRequest {
            key: String::new(),
            message: String::new(),
            paths: paths(&["changed", "dirty", "repo", "same", "spec"]),
            leave_alone: paths(&["dirty", "spec", "same"]),
            spec_files: paths(&["spec"]),
            parent: None,
        };
        let differing = ["changed", "dirty", "other", "repo", "spec"];
        let differing = differing.map(|name| {
            let found = match name {
                "repo" => Found::NewRepository,
                _ => Found::Changed,
            };
            (RelPath::new(name).unwrap(), found)
        });
        let selection = request.select(differing.into());
        let committed: Vec<String> = selection
            .commit
            .iter()
            .map(|(path, _)| path.to_string())
            .collect();
        assert_eq!(committed, ["changed", "spec"]);
        let left: Vec<String> = selection.left.iter().map(ToString::to_string).collect();
        assert_eq!(
            left,
            [
                "dirty was not committed: it had changes before the run began",
                "repo was not committed: it is a repository of its own",
            ]
        );
    }
}
