//! The user's tree as a run sees it: what each attempt changed, and committing it.

mod git_tree;
mod kept_git;
mod plain_tree;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use regreen_engine::CommitResult;
use regreen_model::{TaskKey, Timestamp};
use regreen_workspace::{AttemptName, Git, GitError, RelPath, SnapshotError};

pub(crate) use self::git_tree::GitTree;
use self::plain_tree::PlainTree;
use crate::places::Places;
use crate::process::Processes;
use crate::whole_file::WriteWholeError;

/// With git everything an attempt did can be shown and taken back; without it only which
/// files it touched is known.
#[derive(Debug)]
pub(crate) enum Tree {
    Git(Box<GitTree>),
    Plain(PlainTree),
}

/// What an attempt left behind.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Left {
    pub(crate) changed: Vec<RelPath>,
    /// The commit that HEAD was then.
    pub(crate) head: Option<String>,
    pub(crate) warnings: Vec<String>,
}

/// What is to be committed.
#[derive(Debug)]
pub(crate) struct CommitJob {
    pub(crate) run: String,
    pub(crate) task: TaskKey,
    pub(crate) attempts: u32,
    pub(crate) message: String,
    /// The task and its fixes.
    pub(crate) tasks: Vec<TaskKey>,
    /// The runs that have tried them since they were last finished.
    pub(crate) runs: BTreeSet<String>,
    pub(crate) parent: Option<String>,
    pub(crate) spec_files: BTreeSet<RelPath>,
    /// Of this machine and this moment, whoever changed it.
    pub(crate) state: Option<RelPath>,
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
    Write(#[from] WriteWholeError),
}

impl Tree {
    /// Git where the workspace is the top of a work tree.
    pub(crate) fn open(
        places: &Places,
        processes: &Processes,
        hook_timeout: std::time::Duration,
    ) -> Result<Self, TreeError> {
        match Git::open(&places.root) {
            Ok(git) => {
                let tree = GitTree::new(git, &places.scratch(), processes, hook_timeout);
                Ok(Self::Git(Box::new(tree)))
            }
            Err(GitError::NoWorkTree | GitError::Missing) => {
                Ok(Self::Plain(PlainTree::new(&places.root)))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Said once, where there is no git.
    pub(crate) fn notice(&self) -> Option<&'static str> {
        match self {
            Self::Git(_) => None,
            Self::Plain(_) => Some(
                "this folder is not in git: nothing is committed, and `regreen diff` and \
                 `regreen undo` have nothing to show; `git init` changes that",
            ),
        }
    }

    /// Finds out, or remembers, what the user had changed before the run.
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

    pub(crate) fn before(&mut self, name: &AttemptName, now: Timestamp) -> Result<(), TreeError> {
        match self {
            Self::Git(tree) => tree.before(name, now),
            Self::Plain(tree) => {
                tree.before(now);
                Ok(())
            }
        }
    }

    pub(crate) fn after(&mut self, name: &AttemptName, now: Timestamp) -> Result<Left, TreeError> {
        match self {
            Self::Git(tree) => tree.after(name, now),
            Self::Plain(tree) => Ok(tree.after(now)),
        }
    }

    /// What came of it, and what people should know about it.
    pub(crate) fn commit(&self, job: &CommitJob) -> (CommitResult, Vec<String>) {
        match self {
            Self::Git(tree) => tree.commit(job),
            Self::Plain(_) => (CommitResult::Nothing, Vec::new()),
        }
    }
}
