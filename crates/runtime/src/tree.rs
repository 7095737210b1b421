//! The user's working tree: finding what each attempt changed, and committing it.

mod git_tree;
mod users_work;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use regreen_engine::CommitResult;
use regreen_model::{TaskKey, Timestamp};
use regreen_workspace::{
    AttemptName, Git, GitError, HashLimits, HashSnapshot, Oid, RelPath, SnapshotError, UndoError,
};

pub(crate) use self::git_tree::{GitTree, SupervisedGit};
pub(crate) use self::users_work::shell_quoted;
use crate::atomic_file::AtomicWriteError;
use crate::clock;
use crate::process::Processes;
use crate::spec_paths::SpecPaths;

/// The working tree. With git, everything an attempt did can be shown and undone; without git, only
/// the files it touched are known.
#[derive(Debug)]
pub(crate) enum Tree {
    Git(Box<GitTree>),
    Plain(PlainTree),
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct AttemptChanges {
    pub(crate) changed: Vec<RelPath>,
    /// The commit of HEAD after the attempt.
    pub(crate) head: Option<String>,
    /// How it moved HEAD or its branch, which regreen has put back.
    pub(crate) moved: Option<String>,
    pub(crate) warnings: Vec<String>,
}

/// A commit to make.
#[derive(Debug)]
pub(crate) struct CommitJob {
    pub(crate) run: String,
    pub(crate) task: TaskKey,
    pub(crate) attempts: u32,
    /// Its number among the commits of the run.
    pub(crate) number: u32,
    pub(crate) message: String,
    /// The task and its fixes.
    pub(crate) tasks: Vec<TaskKey>,
    /// The runs that attempted them since they were last finished.
    pub(crate) runs: BTreeSet<String>,
    pub(crate) parent: Option<String>,
    pub(crate) spec_files: BTreeSet<RelPath>,
    /// Never committed, because it belongs to this machine.
    pub(crate) state: Option<RelPath>,
}

/// The commit of the spec's own files at the end of a run.
#[derive(Debug)]
pub(crate) struct ClosingJob {
    pub(crate) run: String,
    /// Its number among the commits of the run.
    pub(crate) number: u32,
    pub(crate) message: String,
    pub(crate) spec_files: BTreeSet<RelPath>,
    /// Files about several specs, which are committed if git tracks them.
    pub(crate) shared_files: BTreeSet<RelPath>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum TreeError {
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("cannot read {}", path.display())]
    Remember {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(transparent)]
    PutBack(#[from] UndoError),
    #[error(transparent)]
    Write(#[from] AtomicWriteError),
}

impl Tree {
    /// Uses git if the workspace is the top of a work tree.
    pub(crate) fn open(
        paths: &SpecPaths,
        processes: &Processes,
        hook_timeout: std::time::Duration,
    ) -> Result<Self, TreeError> {
        match Git::open(&paths.root) {
            Ok(git) => {
                let tree = GitTree::new(git, &paths.scratch(), processes, hook_timeout);
                Ok(Self::Git(Box::new(tree)))
            }
            Err(GitError::NoWorkTree | GitError::Missing) => {
                Ok(Self::Plain(PlainTree::new(&paths.root)))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the repository, if any.
    pub(crate) fn git(&self) -> Option<&Git> {
        match self {
            Self::Git(tree) => Some(tree.git()),
            Self::Plain(_) => None,
        }
    }

    /// Returns the files whose changes git did not show when the last snapshot was taken.
    pub(crate) fn flagged(&self) -> Option<BTreeSet<String>> {
        match self {
            Self::Git(tree) => Some(tree.flagged().iter().map(ToString::to_string).collect()),
            Self::Plain(_) => None,
        }
    }

    /// Returns the abbreviated commit that a run made for a task, if HEAD contains it.
    pub(crate) fn commit_of(&self, run: &str, task: &TaskKey) -> Result<Option<String>, TreeError> {
        match self {
            Self::Git(tree) => Ok(tree.commit_of(run, task)?),
            Self::Plain(_) => Ok(None),
        }
    }

    /// Returns those of the commits that are not in the history of HEAD: without git, all of them.
    pub(crate) fn not_in_history(&self, commits: &[String]) -> Result<Vec<String>, TreeError> {
        match self {
            Self::Git(tree) => Ok(tree.git().not_in_history(commits)?),
            Self::Plain(_) => Ok(commits.to_vec()),
        }
    }

    /// Returns a notice for people if git isn't used.
    pub(crate) fn notice(&self) -> Option<&'static str> {
        match self {
            Self::Git(_) => None,
            Self::Plain(_) => Some(
                "this folder is not in git: nothing is committed, and `regreen diff` and \
                 `regreen undo` have nothing to show; `git init` changes that",
            ),
        }
    }

    /// Determines what the user had changed before the run, or loads it.
    pub(crate) fn begin(
        &mut self,
        run_folder: &Path,
        own: &BTreeSet<RelPath>,
    ) -> Result<(), TreeError> {
        match self {
            Self::Git(tree) => tree.begin(run_folder, own),
            Self::Plain(tree) => {
                tree.begin(own);
                Ok(())
            }
        }
    }

    /// Remembers the tree before an attempt. Returns warnings about what can't be kept.
    pub(crate) fn before(
        &mut self,
        name: &AttemptName,
        now: Timestamp,
    ) -> Result<Vec<String>, TreeError> {
        match self {
            Self::Git(tree) => tree.before(name, now),
            Self::Plain(tree) => {
                tree.before(now);
                Ok(Vec::new())
            }
        }
    }

    pub(crate) fn after(
        &mut self,
        name: &AttemptName,
        now: Timestamp,
    ) -> Result<AttemptChanges, TreeError> {
        match self {
            Self::Git(tree) => tree.after(name, now),
            Self::Plain(tree) => Ok(tree.after(name, now)),
        }
    }

    /// Returns the texts of these files before an attempt; `None` if they are not known.
    pub(crate) fn texts_before(
        &self,
        attempt: &AttemptName,
        paths: &BTreeSet<RelPath>,
    ) -> Result<Option<BTreeMap<RelPath, String>>, TreeError> {
        match self {
            Self::Git(tree) => tree.texts_before(attempt, paths),
            Self::Plain(_) => Ok(None),
        }
    }

    /// Restores these files as they were before an attempt. Returns those that it wrote.
    pub(crate) fn restore_before(
        &mut self,
        attempt: &AttemptName,
        paths: &BTreeSet<RelPath>,
    ) -> Result<Vec<RelPath>, TreeError> {
        match self {
            Self::Git(tree) => tree.restore_before(attempt, paths),
            Self::Plain(_) => Ok(Vec::new()),
        }
    }

    /// Returns the work tree from before the first attempt that a run made at a task, if git kept it.
    pub(crate) fn before_task(&self, run: &str, task: &TaskKey) -> Option<Oid> {
        match self {
            Self::Git(tree) => tree.before_task(run, task).ok().flatten(),
            Self::Plain(_) => None,
        }
    }

    /// Writes a state of the work tree below `files` in a folder outside of it.
    pub(crate) fn check_out_beside(&mut self, tree: &Oid, folder: &Path) -> Result<(), TreeError> {
        match self {
            Self::Git(git) => git.check_out_beside(tree, folder),
            Self::Plain(_) => Ok(()),
        }
    }

    /// Returns the paths that differ between two states of the work tree.
    pub(crate) fn changed_between(&self, before: &Oid, after: &Oid) -> BTreeSet<RelPath> {
        match self {
            Self::Git(tree) => tree.changed_between(before, after).unwrap_or_default(),
            Self::Plain(_) => BTreeSet::new(),
        }
    }

    /// Puts HEAD and its branch back if they have moved since the attempt ended, and describes the
    /// move.
    pub(crate) fn put_head_back(
        &mut self,
        attempt: &AttemptName,
    ) -> Result<Option<String>, TreeError> {
        match self {
            Self::Git(tree) => tree.put_head_back(attempt),
            Self::Plain(_) => Ok(None),
        }
    }

    /// Returns the paths that have changed since an attempt ended; `None` if unknown.
    pub(crate) fn changed_since(
        &mut self,
        attempt: &AttemptName,
        now: Timestamp,
    ) -> Option<BTreeSet<RelPath>> {
        match self {
            Self::Git(tree) => tree.changed_since(attempt).ok().flatten(),
            Self::Plain(tree) => tree.changed_since(attempt, now),
        }
    }

    /// Lists the files of the workspace, if that is cheap: as of the last snapshot.
    pub(crate) fn listed_files(&self) -> Option<Vec<RelPath>> {
        match self {
            Self::Git(tree) => tree.listed_files(),
            Self::Plain(_) => None,
        }
    }

    /// Returns the paths that git ignores, if the tree was just scanned.
    pub(crate) fn take_ignored(&mut self) -> Option<Vec<Vec<u8>>> {
        match self {
            Self::Git(tree) => tree.take_ignored(),
            Self::Plain(_) => None,
        }
    }

    /// Commits. Also returns messages for people.
    pub(crate) fn commit(&mut self, job: &CommitJob) -> (CommitResult, Vec<String>) {
        match self {
            Self::Git(tree) => tree.commit(job),
            Self::Plain(_) => (CommitResult::Nothing, Vec::new()),
        }
    }
}

impl Tree {
    /// Tries once more to update the user's index where another program held it during a commit.
    pub(crate) fn catch_up_index(&mut self) {
        if let Self::Git(tree) = self {
            tree.catch_up_index();
        }
    }

    /// Returns the work tree as it is now, if git can keep it.
    pub(crate) fn current(&mut self) -> Option<Oid> {
        match self {
            Self::Git(tree) => tree.current().ok(),
            Self::Plain(_) => None,
        }
    }

    /// Returns the paths that differ from what the work tree was, if that is known.
    pub(crate) fn changed_from(&mut self, before: Option<&Oid>) -> BTreeSet<RelPath> {
        match (self, before) {
            (Self::Git(tree), Some(before)) => tree.changed_from(before).unwrap_or_default(),
            _ => BTreeSet::new(),
        }
    }

    /// Commits the remaining changes to the spec's own files.
    pub(crate) fn close_commit(&mut self, job: &ClosingJob) -> (CommitResult, Vec<String>) {
        match self {
            Self::Git(tree) => tree.close_commit(job),
            Self::Plain(_) => (CommitResult::Nothing, Vec::new()),
        }
    }
}

/// A tree without git, tracked by fingerprints of its files.
#[derive(Debug)]
pub(crate) struct PlainTree {
    root: PathBuf,
    /// Files about the work that are not part of it.
    own: BTreeSet<RelPath>,
    last: Option<HashSnapshot>,
    /// The attempt after which the last fingerprints were taken.
    last_attempt: Option<AttemptName>,
}

impl PlainTree {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            own: BTreeSet::new(),
            last: None,
            last_attempt: None,
        }
    }

    pub(super) fn begin(&mut self, own: &BTreeSet<RelPath>) {
        self.own = own.clone();
    }

    pub(super) fn before(&mut self, now: Timestamp) {
        let taken = self.take(now);
        self.last = Some(taken);
        self.last_attempt = None;
    }

    /// Returns nothing for an attempt whose start it did not see.
    pub(super) fn after(&mut self, name: &AttemptName, now: Timestamp) -> AttemptChanges {
        let after = self.take(now);
        let changes = self
            .last
            .as_ref()
            .map(|before| before.changed_files(&after));
        let changed = changes.into_iter().flatten().map(|change| change.path);
        let left = AttemptChanges {
            changed: changed.collect(),
            ..AttemptChanges::default()
        };
        self.last = Some(after);
        self.last_attempt = Some(name.clone());
        left
    }

    pub(super) fn changed_since(
        &self,
        attempt: &AttemptName,
        now: Timestamp,
    ) -> Option<BTreeSet<RelPath>> {
        let is_known = self.last_attempt.as_ref() == Some(attempt);
        let last = self.last.as_ref().filter(|_| is_known)?;
        let changes = last.changed_files(&self.take(now)).into_iter();
        Some(changes.map(|change| change.path).collect())
    }

    fn take(&self, now: Timestamp) -> HashSnapshot {
        let limits = HashLimits::default();
        HashSnapshot::take_excluding(
            &self.own,
            &self.root,
            self.last.as_ref(),
            limits,
            clock::system_time(now),
        )
    }
}
