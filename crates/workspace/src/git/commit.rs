//! Commits exactly the given paths, with the user's hooks, whatever else is staged.
//!
//! The commit is made from an index of regreen's own, which holds HEAD and the chosen paths. So a
//! hook that refuses, or a crash while it runs, leaves the user's index as it was. The committed
//! paths are updated in the user's index only after HEAD has moved.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::files::IoContext;
use crate::{RelPath, StepError};

use super::commit_record::{
    CommitRecord, find_made, forget_parent, read_record, record_of, remember_parent,
};
use super::commit_request::clean_message;
use super::commit_request::{CommitRequest, Selection, SkipReason, SkippedPath};
use super::index_file::IndexFile;
use super::invocation::Invocation;
use super::loose_object::{ObjectHash, hex};
use super::own_index::Filters;
use super::own_index::OwnIndex;
use super::own_index::{Listing, list};
use super::raw_diff::{Entry, RawChange};
use super::repository::Git;
use super::repository::Oid;
use super::runner::GitError;
use super::runner::GitReply;
use super::scratch_index::{ReplacedIndex, ScratchIndex};
use super::staging::{StagingPlan, set_entries, stage};
use super::status::InProgress;
use super::tree_builder::write_trees;

/// How often to retry while another git process holds the user's index, before leaving it alone.
const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// The result of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitReport {
    /// Whether a commit was made.
    pub outcome: CommitOutcome,
    /// Requested paths that were not committed.
    pub skipped: Vec<SkippedPath>,
    /// The versions of the user's index before and after, if only this commit was added.
    pub(super) replaced_index: Option<ReplacedIndex>,
}

impl CommitReport {
    /// Returns the commit if the user's index still shows the committed paths as changed.
    #[must_use]
    pub fn index_behind_of(&self) -> Option<&Oid> {
        match &self.outcome {
            CommitOutcome::Made(made) | CommitOutcome::AlreadyMade(made) => {
                made.index_behind.as_ref().map(|_| &made.oid)
            }
            CommitOutcome::NothingToCommit => None,
        }
    }
}

/// How a commit ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitOutcome {
    /// The commit was made.
    Made(NewCommit),
    /// An earlier call made it, perhaps just before a crash.
    AlreadyMade(NewCommit),
    /// Everything requested equals HEAD, for example because the agent committed it.
    NothingToCommit,
}

/// A commit that regreen made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCommit {
    /// Its full name.
    pub oid: Oid,
    /// The abbreviated name, as git prints it in this repository.
    pub short: String,
    /// Why the user's index still shows the committed paths as changed, if it does.
    pub index_behind: Option<String>,
}

/// Why nothing was committed.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// A hook refused; its output is the reason.
    #[error("the commit was refused:\n{output}")]
    Refused {
        /// The output of git and the hooks.
        output: String,
    },
    /// The user must finish an operation first.
    #[error("git is in the middle of a {0}; finish or abort it first")]
    InTheMiddleOf(InProgress),
    /// The index has unresolved conflicts.
    #[error("{} has unresolved conflicts", paths.join(", "))]
    Unmerged {
        /// The paths with conflicts.
        paths: Vec<String>,
    },
    /// The user's name and email aren't configured.
    #[error("git does not know who is committing:\n{hint}")]
    NoIdentity {
        /// Git's own advice.
        hint: String,
    },
    /// The branch no longer contains the expected parent.
    #[error("the branch changed meanwhile: {expected} is no longer part of HEAD")]
    HeadMoved {
        /// HEAD at the time of the decision to commit.
        expected: Oid,
    },
    /// The message is empty.
    #[error("the commit has no message")]
    NoMessage,
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The file system refused.
    #[error(transparent)]
    Step(#[from] StepError),
}

impl Git {
    /// Makes the requested commit exactly once: when called again, even after a crash, it finds the
    /// commit that it made.
    ///
    /// For `scratch`, see [`super::Snapshots::new`].
    ///
    /// # Errors
    /// Returns an error if a hook refuses, the repository isn't in a state to commit, or git fails.
    /// HEAD and the user's index are then unchanged.
    pub fn commit(
        &self,
        request: &CommitRequest,
        scratch: &Path,
    ) -> Result<CommitReport, CommitError> {
        let head = self.head()?;
        if let Some(made) = find_made(self, request, head.as_ref(), scratch)? {
            return Ok(CommitReport {
                outcome: CommitOutcome::AlreadyMade(self.conclude_found(&made)?),
                skipped: Vec::new(),
                replaced_index: None,
            });
        }
        self.check_state(request, head.as_ref())?;
        remember_parent(scratch, request, head.as_ref())?;
        let mut index = ScratchIndex::new(scratch.join("commit-index"), self.dir().join("index"));
        let done = self.commit_from(&mut index, request, head.as_ref(), scratch);
        let _removed_before_next_use = index.clear();
        if done.is_err() {
            // Git ended and wasn't killed, so any lock from now on isn't ours.
            forget_parent(scratch);
        }
        done
    }

    /// Updates the user's index for an earlier commit of regreen's, if it still shows the paths of that
    /// commit as changed and no one has changed them since. Returns whether it is up to date.
    ///
    /// # Errors
    /// If git fails.
    pub fn catch_up_index(&self, commit: &Oid) -> Result<bool, GitError> {
        let made = read_record(self, commit.as_str())?;
        Ok(self.conclude_found(&made)?.index_behind.is_none())
    }

    fn check_state(&self, request: &CommitRequest, head: Option<&Oid>) -> Result<(), CommitError> {
        if let Some(what) = InProgress::look(self.dir()) {
            return Err(CommitError::InTheMiddleOf(what));
        }
        match &request.parent {
            Some(parent) if head != Some(parent) && !self.is_part_of_head(parent)? => {
                Err(CommitError::HeadMoved {
                    expected: parent.clone(),
                })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn is_part_of_head(&self, oid: &Oid) -> Result<bool, GitError> {
        let call = Invocation::reading("merge-base").args(["--is-ancestor", oid.as_str(), "HEAD"]);
        Ok(self.run(call)?.succeeded())
    }

    fn commit_from(
        &self,
        index: &mut ScratchIndex,
        request: &CommitRequest,
        head: Option<&Oid>,
        scratch: &Path,
    ) -> Result<CommitReport, CommitError> {
        let staged = self.begin_at_head(index, head)?;
        let path = index.path().to_owned();
        let own = OwnIndex {
            git: self,
            path: &path,
            filters: &Filters::default(),
        };
        let mut differing = list(own, Listing::Changes, &request.all_paths())?;
        for (path, found) in self.tracked_by_choice(&staged)? {
            differing.entry(path).or_insert(found);
        }
        let Selection { commit, mut left } = request.select(differing);
        let listed = commit.iter().map(|(path, found)| (path, *found));
        let plan = StagingPlan::new(self.root(), listed, u64::MAX);
        left.extend(plan.warnings.iter().map(|warning| SkippedPath {
            path: warning.path.clone(),
            why: SkipReason::Unreadable,
        }));
        if plan.is_empty() {
            return Ok(CommitReport {
                outcome: CommitOutcome::NothingToCommit,
                skipped: left,
                replaced_index: None,
            });
        }
        stage(own, &plan)?;
        let staged_tree = self.tree_of_index(own.path)?;
        let made = self.run_commit(own.path, request, scratch)?;
        self.memory().remember_commit(&made.oid);
        let replaced = if staged.is_empty() {
            self.replace_users_index(index, &made)
        } else {
            None
        };
        let concluded = match replaced {
            Some(_) => made.concluded(Ok(())),
            None => self.conclude(&made)?,
        };
        Ok(CommitReport {
            outcome: CommitOutcome::Made(concluded),
            skipped: left,
            // The work tree doesn't show what a hook added.
            replaced_index: replaced.filter(|_| staged_tree.as_ref() == Some(&made.tree)),
        })
    }

    /// Writes an index as trees, which the commit will need; `None` if only git can do that.
    fn tree_of_index(&self, path: &Path) -> Result<Option<Oid>, CommitError> {
        let index = IndexFile::read(path, ObjectHash::of(self.null_oid()));
        let index = index.context("read", path)?;
        let objects = self.loose_objects()?;
        let written = index
            .zip(objects)
            .map(|(index, objects)| write_trees(&index, &objects));
        Ok(written.and_then(Result::ok).flatten())
    }

    /// Replaces the user's index by the one that the commit was made from, if nothing was staged
    /// before: `git commit` would have left the same. `None` if that isn't possible.
    fn replace_users_index(
        &self,
        index: &mut ScratchIndex,
        made: &CommitRecord,
    ) -> Option<ReplacedIndex> {
        let hash = ObjectHash::of(self.null_oid());
        let left = IndexFile::read(index.path(), hash).ok()??;
        let (_, tree) = left.cached_trees.known.as_ref()?;
        if hex(tree) != made.tree.as_str() || self.has_shared_index() {
            return None;
        }
        let replaced = index.replace_original().ok()??;
        self.memory()
            .remember_clean(&made.oid, replaced.after.clone());
        Some(replaced)
    }

    /// Returns whether the user's index may be split into two files.
    fn has_shared_index(&self) -> bool {
        let files = fs::read_dir(self.dir()).into_iter().flatten().flatten();
        let mut names = files.map(|file| file.file_name());
        names.any(|name| name.as_bytes().starts_with(b"sharedindex."))
    }

    fn run_commit(
        &self,
        index: &Path,
        request: &CommitRequest,
        scratch: &Path,
    ) -> Result<CommitRecord, CommitError> {
        let message = clean_message(&request.message);
        if message.is_empty() {
            return Err(CommitError::NoMessage);
        }
        let call = Invocation::with_hooks("commit")
            .args(["--cleanup=whitespace", "-F", "-"])
            .config("i18n.commitEncoding=UTF-8")
            .index(index)
            .env("GIT_REFLOG_ACTION", request.marker())
            .stdin(message + "\n");
        let reply = self.run_with_hooks(call)?;
        if reply.succeeded() {
            let record = record_of(self, &reply.stdout);
            return Ok(record.map_or_else(|| read_record(self, "HEAD"), Ok)?);
        }
        // Git may have moved HEAD before it failed.
        let head = self.head()?;
        match find_made(self, request, head.as_ref(), scratch)? {
            Some(made) => Ok(made),
            None => Err(self.commit_error(&reply)),
        }
    }

    fn commit_error(&self, reply: &GitReply) -> CommitError {
        // Git itself exits with 128; exit code 1 means that a hook failed.
        if reply.exit == Some(1) {
            let said = [reply.stdout.as_slice(), &reply.stderr].concat();
            let output = String::from_utf8_lossy(&said).trim().to_owned();
            return CommitError::Refused { output };
        }
        self.missing_identity()
            .unwrap_or_else(|| GitError::from_reply("commit", reply).into())
    }

    /// Returns why no commit is possible now, if the user must do something first.
    #[must_use]
    pub fn commit_obstacle(&self) -> Option<CommitError> {
        let in_progress = InProgress::look(self.dir()).map(CommitError::InTheMiddleOf);
        in_progress.or_else(|| self.missing_identity())
    }

    fn missing_identity(&self) -> Option<CommitError> {
        ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"]
            .into_iter()
            .filter_map(|who| self.run(Invocation::reading("var").arg(who)).ok())
            .find(|reply| !reply.succeeded())
            .map(|reply| CommitError::NoIdentity {
                hint: String::from_utf8_lossy(&reply.stderr).trim().to_owned(),
            })
    }

    /// Updates the committed paths in the user's index.
    fn conclude(&self, made: &CommitRecord) -> Result<NewCommit, GitError> {
        let changes = made.changes(self)?;
        let committed = changes.iter();
        let committed = committed.map(|change| (&change.path, change.new.as_ref()));
        Ok(made.concluded(self.update_users_index(committed)))
    }

    /// Does the same for an earlier commit, but only for paths that haven't changed since.
    fn conclude_found(&self, made: &CommitRecord) -> Result<NewCommit, GitError> {
        let staged = self.staged(None)?;
        let changes = made.changes(self)?;
        let is_behind = |change: &&RawChange| {
            let twin = changes.iter().find(|own| own.path == change.path);
            twin.is_some_and(|own| own.old == change.new && own.new == change.old)
        };
        let behind = staged
            .iter()
            .filter(is_behind)
            .map(|change| (&change.path, change.old.as_ref()));
        Ok(made.concluded(self.update_users_index(behind)))
    }

    /// Updates entries. Retries for a moment if another git process, such as an editor's, holds the
    /// index.
    fn update_users_index<'a>(
        &self,
        entries: impl Iterator<Item = (&'a RelPath, Option<&'a Entry>)> + Clone,
    ) -> Result<(), GitError> {
        for _ in 0..LOCK_TRIES {
            match set_entries(self, None, entries.clone()) {
                Err(GitError::Locked { .. }) => thread::sleep(LOCK_PAUSE),
                other => return other,
            }
        }
        set_entries(self, None, entries)
    }
}
