//! Selects the paths of a commit, and prepares the index for it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use crate::RelPath;

use super::commit::CommitError;
use super::invocation::Invocation;
use super::loose_object::ObjectHash;
use super::own_index::Difference;
use super::raw_diff::{RawChange, parse_raw};
use super::repository::{Git, Oid, records};
use super::runner::GitError;
use super::scratch_index::ScratchIndex;
use super::staging::set_entries;

/// A commit to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitRequest {
    /// Identifies this commit among all that regreen makes. It is written to the reflog of HEAD,
    /// where it proves after a crash that the commit was made.
    pub key: String,
    /// The commit message.
    pub message: String,
    /// Paths that attempts of the task or its fixes changed.
    pub paths: BTreeSet<RelPath>,
    /// Those among `paths` that the user had changed before the run and no attempt created.
    pub leave_alone: BTreeSet<RelPath>,
    /// The spec's own files, which are always committed.
    pub spec_files: BTreeSet<RelPath>,
    /// HEAD at the time of the decision to commit; `None` if there was no commit yet.
    pub parent: Option<Oid>,
}

/// A requested path that was not committed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SkippedPath {
    /// The path.
    pub path: RelPath,
    /// The reason.
    pub why: SkipReason,
}

/// Why a path was not committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    /// The user had changed it before the run started.
    DirtyBefore,
    /// It is a nested repository, whose content a clone wouldn't include.
    Repository,
    /// It cannot be read.
    Unreadable,
}

impl fmt::Display for SkippedPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.why {
            SkipReason::DirtyBefore => "it already had changes when the run started",
            SkipReason::Repository => "it is a separate repository",
            SkipReason::Unreadable => "it cannot be read",
        };
        write!(f, "{} was not committed: {why}", self.path)
    }
}

/// The paths that differ from HEAD, divided into those to commit and those to skip.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Selection {
    pub(super) commit: Vec<(RelPath, Difference)>,
    pub(super) left: Vec<SkippedPath>,
}

impl CommitRequest {
    pub(super) fn select(&self, differing: BTreeMap<RelPath, Difference>) -> Selection {
        let mut selection = Selection::default();
        for (path, found) in differing {
            match self.decide(&path, found) {
                Decision::Commit => selection.commit.push((path, found)),
                Decision::Leave(why) => selection.left.push(SkippedPath { path, why }),
                Decision::NotRequested => {}
            }
        }
        selection
    }

    /// Returns every path in the selection.
    pub(super) fn all_paths(&self) -> Vec<&RelPath> {
        self.paths.union(&self.spec_files).collect()
    }

    fn decide(&self, path: &RelPath, found: Difference) -> Decision {
        if self.spec_files.contains(path) {
            Decision::Commit
        } else if !self.paths.contains(path) {
            Decision::NotRequested
        } else if self.leave_alone.contains(path) {
            Decision::Leave(SkipReason::DirtyBefore)
        } else if found == Difference::NewRepository {
            Decision::Leave(SkipReason::Repository)
        } else {
            Decision::Commit
        }
    }
}

enum Decision {
    Commit,
    Leave(SkipReason),
    NotRequested,
}

impl Git {
    /// Resets the index to HEAD but keeps the user's stat data for all files that match it. Returns
    /// what was staged.
    pub(super) fn begin_at_head(
        &self,
        index: &mut ScratchIndex,
        head: Option<&Oid>,
    ) -> Result<Vec<RawChange>, CommitError> {
        index.follow_original()?;
        let Some(head) = head else {
            let nothing = ObjectHash::of(self.null_oid()).empty_tree();
            let staged = self.staged_since(&nothing, Some(index.path()))?;
            refuse_unmerged(&staged)?;
            index.clear()?;
            return Ok(staged);
        };
        let is_clean = |stamp| self.memory().is_clean(head, stamp);
        if index.copied().is_some_and(is_clean) {
            return Ok(Vec::new());
        }
        let staged = self.staged(Some(index.path()))?;
        refuse_unmerged(&staged)?;
        let as_in_head = staged
            .iter()
            .map(|change| (&change.path, change.old.as_ref()));
        set_entries(self, Some(index.path()), as_in_head)?;
        Ok(staged)
    }

    /// Finds ignored files that are staged as added, or as deleted while they still exist. A scan
    /// of the work tree doesn't list them.
    pub(super) fn tracked_by_choice(
        &self,
        staged: &[RawChange],
    ) -> Result<Vec<(RelPath, Difference)>, GitError> {
        let chosen = staged.iter().filter_map(|change| {
            let found = match (&change.old, &change.new) {
                (None, Some(_)) => Difference::New,
                (Some(_), None) => Difference::Untracked,
                _ => return None,
            };
            let stands = change.path.under(self.root()).symlink_metadata().is_ok();
            stands.then(|| (change.path.clone(), found))
        });
        let mut chosen: Vec<(RelPath, Difference)> = chosen.collect();
        if chosen.is_empty() {
            return Ok(chosen);
        }
        let ignored = self.ignored(chosen.iter().map(|(path, _)| path))?;
        chosen.retain(|(path, _)| ignored.contains(path));
        Ok(chosen)
    }

    /// Returns which of these paths git ignores.
    fn ignored<'a>(
        &self,
        paths: impl Iterator<Item = &'a RelPath>,
    ) -> Result<BTreeSet<RelPath>, GitError> {
        let mut asked = Vec::new();
        for path in paths {
            // The dot keeps git from reading a leading colon as pathspec magic.
            asked.extend_from_slice(&[b"./", path.as_bytes(), b"\0"].concat());
        }
        let call = Invocation::reading("check-ignore")
            .env("GIT_LITERAL_PATHSPECS", "0")
            .args(["-z", "--no-index", "--stdin"]);
        let subcommand = call.subcommand();
        let reply = self.run(call.stdin(asked))?;
        // Exit code 1 means that none is ignored.
        if !matches!(reply.exit, Some(0 | 1)) {
            return Err(GitError::from_reply(subcommand, &reply));
        }
        let named = records(&reply.stdout).filter_map(|line| line.strip_prefix(b"./"));
        Ok(named.filter_map(|path| RelPath::new(path).ok()).collect())
    }

    /// Lists the differences between an index and HEAD.
    pub(super) fn staged(&self, index: Option<&Path>) -> Result<Vec<RawChange>, GitError> {
        self.staged_since("HEAD", index)
    }

    /// Lists the differences between an index and a tree.
    fn staged_since(&self, tree: &str, index: Option<&Path>) -> Result<Vec<RawChange>, GitError> {
        let call = Invocation::reading("diff-index")
            .args(["--cached", "-z", "--raw", "--no-abbrev", "--no-renames"])
            .args(["--ignore-submodules=none", tree, "--"]);
        self.ask_parsed(call.maybe_index(index), parse_raw)
    }
}

fn refuse_unmerged(staged: &[RawChange]) -> Result<(), CommitError> {
    let unmerged = staged.iter().filter(|change| change.unmerged);
    let paths: Vec<String> = unmerged.map(|change| change.path.to_string()).collect();
    if paths.is_empty() {
        Ok(())
    } else {
        Err(CommitError::Unmerged { paths })
    }
}

/// Sanitizes a commit message: normalizes line endings and removes other control characters. Lines
/// that start with `#` stay.
pub(super) fn clean_message(text: &str) -> String {
    let unified = text.replace("\r\n", "\n").replace('\r', "\n");
    let visible = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    let clean: String = unified.chars().filter(visible).collect();
    clean.trim().to_owned()
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
    fn only_requested_changes_of_the_task_are_committed() {
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
                "repo" => Difference::NewRepository,
                _ => Difference::Changed,
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
                "dirty was not committed: it already had changes when the run started",
                "repo was not committed: it is a separate repository",
            ]
        );
    }

    #[test]
    fn only_invisible_characters_are_removed() {
        assert_eq!(
            clean_message("\r\n feat(x): äö\r\n\r\n#1 stays\tso\0\u{1b}[31m\n-m too\n\n"),
            "feat(x): äö\n\n#1 stays\tso[31m\n-m too"
        );
        assert_eq!(clean_message(" \0\n"), "");
    }
}
