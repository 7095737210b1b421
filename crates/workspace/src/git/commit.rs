//! Commits exactly the given paths, with the user's hooks, whatever else is staged.
//!
//! The commit is made from an index of regreen's own that holds HEAD and the chosen paths. A
//! hook that refuses, or a crash while it runs, therefore leaves the user's index as it was.
//! The committed paths are updated in the user's index only after HEAD has moved.

use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::{RelPath, StepError};

use super::commit_record::{CommitRecord, find_made, forget_parent, read_record, remember_parent};
use super::commit_request::clean_message;
use super::commit_request::{CommitRequest, Selection, SkipReason, SkippedPath};
use super::invocation::Invocation;
use super::own_index::Filters;
use super::own_index::OwnIndex;
use super::own_index::{ScanMode, scan};
use super::raw_diff::{Entry, RawChange};
use super::repository::Git;
use super::repository::Oid;
use super::runner::GitError;
use super::runner::GitReply;
use super::scratch_index::ScratchIndex;
use super::staging::{StagingPlan, set_entries, stage};
use super::status::InProgress;

/// How long another git process may hold the user's index before regreen leaves it alone.
const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// The result of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitReport {
    /// Whether a commit was made.
    pub outcome: CommitOutcome,
    /// Requested paths that were not committed.
    pub skipped: Vec<SkippedPath>,
}

impl CommitReport {
    /// Returns whether the user's index still shows the committed paths as changed.
    #[must_use]
    pub fn is_index_behind(&self) -> bool {
        match &self.outcome {
            CommitOutcome::Made(made) | CommitOutcome::AlreadyMade(made) => {
                made.index_behind.is_some()
            }
            CommitOutcome::NothingToCommit => false,
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
    /// Everything requested equals HEAD, for instance because the agent committed it.
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
    /// The user has to finish an operation first.
    #[error("git is in the middle of a {0}; finish or abort it first")]
    InTheMiddleOf(InProgress),
    /// The index has unresolved conflicts.
    #[error("{} has unresolved conflicts", paths.join(", "))]
    Unmerged {
        /// The paths with conflicts.
        paths: Vec<String>,
    },
    /// Name and email of the user are not configured.
    #[error("git does not know who is committing:\n{hint}")]
    NoIdentity {
        /// Git's own advice.
        hint: String,
    },
    /// The branch no longer contains the expected parent.
    #[error("the branch changed meanwhile: {expected} is no longer part of HEAD")]
    HeadMoved {
        /// HEAD when the commit was decided.
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
    /// Makes the requested commit once: when called again, also after a crash, it finds the
    /// commit it made.
    ///
    /// `scratch` is as for [`super::Snapshots::new`].
    ///
    /// # Errors
    /// If a hook refuses, the repository is not in a state to commit, or git fails. HEAD and
    /// the user's index are then unchanged.
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
            });
        }
        self.check_state(request, head.as_ref())?;
        remember_parent(scratch, request, head.as_ref())?;
        let mut index = ScratchIndex::new(scratch.join("commit-index"), self.dir().join("index"));
        let done = self.commit_from(&mut index, request, head.as_ref(), scratch);
        let _removed_before_next_use = index.clear();
        if done.is_err() {
            // It ended and was not killed: whatever is locked from now on is not ours.
            forget_parent(scratch);
        }
        done
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
        let own = OwnIndex {
            git: self,
            path: index.path(),
            filters: &Filters::default(),
        };
        let mut differing = scan(own, ScanMode::AsGit)?;
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
        let outcome = if plan.is_empty() {
            CommitOutcome::NothingToCommit
        } else {
            stage(own, &plan)?;
            let made = self.run_commit(own.path, request, scratch)?;
            CommitOutcome::Made(self.conclude(&made))
        };
        Ok(CommitReport {
            outcome,
            skipped: left,
        })
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
            .args(["--quiet", "--cleanup=whitespace", "-F", "-"])
            .config("i18n.commitEncoding=UTF-8")
            .index(index)
            .env("GIT_REFLOG_ACTION", request.marker())
            .stdin(message + "\n");
        let reply = self.run_with_hooks(call)?;
        if reply.succeeded() {
            return Ok(read_record(self, "HEAD")?);
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

    /// Returns why no commit could be made now, if the user has to do something first.
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
    fn conclude(&self, made: &CommitRecord) -> NewCommit {
        let committed = made
            .changes
            .iter()
            .map(|change| (&change.path, change.new.as_ref()));
        made.concluded(self.update_users_index(committed))
    }

    /// Does the same for an earlier commit, but only for paths that have not changed since.
    fn conclude_found(&self, made: &CommitRecord) -> Result<NewCommit, GitError> {
        let staged = self.staged(None)?;
        let is_behind = |change: &&RawChange| {
            let twin = made.changes.iter().find(|own| own.path == change.path);
            twin.is_some_and(|own| own.old == change.new && own.new == change.old)
        };
        let behind = staged
            .iter()
            .filter(is_behind)
            .map(|change| (&change.path, change.old.as_ref()));
        Ok(made.concluded(self.update_users_index(behind)))
    }

    /// Updates entries, and waits a moment if another git process holds the index, such as an
    /// editor's.
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
