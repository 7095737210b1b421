//! The branch that a run works on. An attempt may add commits to it and do nothing else: its
//! changes to HEAD are undone, and its commits are kept under `refs/regreen/`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::files::IoContext;
use crate::{Disk, RelPath};

use super::attempt_name::{AttemptName, SnapshotSide};
use super::invocation::Invocation;
use super::raw_diff::Entry;
use super::repository::{Git, Oid};
use super::runner::GitError;
use super::scratch_index::Stamp;
use super::snapshots::Snapshots;
use super::status::InProgress;
use super::undo::UndoError;

/// How many lost commits are named.
const NAMED_COMMITS: usize = 5;
const SHORT: usize = 7;

impl Git {
    /// Returns the commits, abbreviated or not, that aren't in the history of HEAD.
    ///
    /// # Errors
    /// Returns an error if git can't be run.
    pub fn not_in_history(&self, commits: &[String]) -> Result<Vec<String>, GitError> {
        if commits.is_empty() {
            return Ok(Vec::new());
        }
        // A single call suffices if nothing is missing, which is nearly always the case.
        let call = Invocation::reading("rev-list").arg("--max-count=1");
        let reply = self.run(call.args(commits).args(["--not", "HEAD", "--"]))?;
        if reply.succeeded() && reply.stdout.is_empty() {
            return Ok(Vec::new());
        }
        let mut missing = Vec::new();
        for commit in commits {
            let call = Invocation::reading("merge-base").arg("--is-ancestor");
            if !self.run(call.args([commit.as_str(), "HEAD"]))?.succeeded() {
                missing.push(commit.clone());
            }
        }
        Ok(missing)
    }
}

/// The position of HEAD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadPosition {
    /// The branch as a full reference; `None` if HEAD is detached.
    pub branch: Option<String>,
    /// The commit; `None` before the first commit of a branch.
    pub commit: Option<Oid>,
    /// An unfinished operation.
    pub in_progress: Option<InProgress>,
}

impl HeadPosition {
    /// Returns the branch, for people.
    fn shown(&self) -> String {
        match (&self.branch, &self.commit) {
            (Some(branch), _) => {
                let short = branch.strip_prefix("refs/heads/").unwrap_or(branch);
                format!("branch `{short}`")
            }
            (None, Some(commit)) => format!("the detached commit {}", short(commit)),
            (None, None) => "no commit".to_owned(),
        }
    }
}

/// A change of HEAD, or of the branch it was on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedHead {
    /// The old and new position of HEAD, if it moved.
    switched: Option<(String, String)>,
    /// Commits that the branch no longer has.
    lost: Vec<String>,
    /// An operation that was started but not finished.
    unfinished: Option<InProgress>,
    /// The files that were put back.
    pub restored: Vec<RelPath>,
}

impl fmt::Display for MovedHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if let Some((from, to)) = &self.switched {
            parts.push(format!("HEAD was moved from {from} to {to}"));
        }
        if !self.lost.is_empty() {
            let lost = self.lost.join(", ");
            parts.push(format!("commits were removed from the branch: {lost}"));
        }
        if let Some(operation) = self.unfinished {
            parts.push(format!("a {operation} was left unfinished"));
        }
        f.write_str(&parts.join("; "))
    }
}

impl Git {
    /// Returns the position of HEAD.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn head_position(&self) -> Result<HeadPosition, GitError> {
        Ok(HeadPosition {
            branch: self.branch()?,
            commit: self.head()?,
            in_progress: InProgress::look(self.dir()),
        })
    }

    fn is_ancestor(&self, commit: &Oid, of: &Oid) -> Result<bool, GitError> {
        if commit == of {
            return Ok(true);
        }
        let call =
            Invocation::reading("merge-base").args(["--is-ancestor", commit.as_str(), of.as_str()]);
        let reply = self.run(call)?;
        match reply.exit {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(GitError::from_reply("merge-base", &reply)),
        }
    }

    /// Returns the commits that `kept` has and `now` lacks, newest first.
    fn lost_commits(&self, kept: &Oid, now: Option<&Oid>) -> Result<Vec<String>, GitError> {
        let excluded = now.map(|oid| format!("^{oid}"));
        let call = Invocation::reading("rev-list")
            .arg(format!("--max-count={NAMED_COMMITS}"))
            .arg(kept.as_str())
            .args(excluded);
        let answer = self.ask(call)?;
        let lines = String::from_utf8_lossy(&answer).into_owned();
        let cut = |line: &str| line.get(..SHORT).unwrap_or(line).to_owned();
        Ok(lines.lines().map(cut).collect())
    }

    fn update_ref(&self, reference: &str, new: &Oid, old: Option<&Oid>) -> Result<(), GitError> {
        let old = old.unwrap_or(self.null_oid());
        let call = Invocation::writing("update-ref")
            .args(["--no-deref", "-m", "regreen: put back", reference])
            .args([new.as_str(), old.as_str()]);
        self.ask(call).map(drop)
    }

    fn paths_between(&self, before: &Oid, after: &Oid) -> Result<BTreeSet<RelPath>, GitError> {
        let changes = self.changed_files(before, after)?;
        Ok(changes.into_iter().map(|change| change.path).collect())
    }
}

/// HEAD and the index before something runs that may change them.
#[derive(Clone, Debug)]
pub struct GuardedHead {
    position: HeadPosition,
    index: PathBuf,
}

impl GuardedHead {
    /// Returns the commit that HEAD was at.
    #[must_use]
    pub fn commit(&self) -> Option<&Oid> {
        self.position.commit.as_ref()
    }
}

impl Snapshots {
    /// Records HEAD and the user's index.
    ///
    /// # Errors
    /// Returns an error if git fails, or the index can't be copied.
    pub fn guard_head(&mut self) -> Result<GuardedHead, UndoError> {
        let index = self.scratch().join("guarded-index");
        let original = self.git().dir().join("index");
        let stamp = Stamp::of_path(&original).context("read", &original)?;
        if self.guarded_index() != Some(&stamp) || !index.exists() {
            self.set_guarded_index(None);
            copy_if_there(&original, &index)?;
            self.set_guarded_index(Some(stamp));
        }
        Ok(GuardedHead {
            position: self.git().head_position()?,
            index,
        })
    }

    /// Restores HEAD, its branch, the index and the files, unless only commits were added since
    /// `guarded`. `before` is the snapshot from then. The commits that HEAD and the branch have now
    /// are kept under the references of the attempt. Returns what had happened.
    ///
    /// # Errors
    /// Returns an error if git fails, or a file can't be written.
    pub fn put_head_back(
        &mut self,
        disk: &dyn Disk,
        name: &AttemptName,
        guarded: &GuardedHead,
        before: &Oid,
    ) -> Result<Option<MovedHead>, UndoError> {
        let git = self.git().clone();
        let (was, now) = (&guarded.position, git.head_position()?);
        let tip = match &was.branch {
            Some(branch) => git.tip(branch)?,
            None => now.commit.clone(),
        };
        let Some(mut moved) = what_happened(&git, was, &now, tip.as_ref())? else {
            return Ok(None);
        };
        // Inspect the files before HEAD moves.
        let restored = self.overwritten_entries(was, &now, before)?;
        keep(&git, name, &now, tip.as_ref())?;
        if let Some(operation) = moved.unfinished {
            quit(&git, operation)?;
        }
        if let Some(commit) = was.commit.as_ref().filter(|_| !moved.lost.is_empty()) {
            let reference = was.branch.as_deref().unwrap_or("HEAD");
            git.update_ref(reference, commit, tip.as_ref())?;
        }
        match (&was.branch, &was.commit) {
            (Some(branch), _) if now.branch != was.branch => {
                let call = Invocation::writing("symbolic-ref");
                git.ask(call.args(["-m", "regreen: put back", "HEAD", branch]))?;
            }
            (None, Some(commit)) if now.branch.is_some() => {
                git.update_ref("HEAD", commit, now.commit.as_ref())?;
            }
            _ => {}
        }
        put_index_back(&git, guarded)?;
        moved.restored = self.restore_entries(disk, &self.filters_in_a_run()?, restored)?;
        Ok(Some(moved))
    }

    /// Returns the original entries of files that git itself has overwritten or removed: they now
    /// match the commit that HEAD was moved to. Files that the attempt wrote stay as they are, and
    /// nothing is removed.
    fn overwritten_entries(
        &mut self,
        was: &HeadPosition,
        now: &HeadPosition,
        before: &Oid,
    ) -> Result<BTreeMap<RelPath, Entry>, UndoError> {
        let tree = self.work_tree()?.tree;
        let git = self.git();
        let (Some(was), Some(now)) = (&was.commit, &now.commit) else {
            return Ok(BTreeMap::new());
        };
        let base = Invocation::reading("merge-base").args([was.as_str(), now.as_str()]);
        let base = git.ask_oid(base).ok();
        let (lost, made) = match &base {
            Some(base) => (git.paths_between(base, was)?, git.paths_between(base, now)?),
            None => (BTreeSet::new(), BTreeSet::new()),
        };
        let committed = git.entries(now)?;
        let mut entries = BTreeMap::new();
        for change in git.raw_changes(before, &tree)? {
            let is_checked_out = change.new.as_ref() == committed.get(&change.path);
            let is_the_attempts = made.contains(&change.path) && !lost.contains(&change.path);
            if let Some(old) = change.old.filter(|_| is_checked_out && !is_the_attempts) {
                entries.insert(change.path, old);
            }
        }
        Ok(entries)
    }
}

/// Copies the index. If there is none, removes the copy, or an old one would be restored.
fn copy_if_there(original: &Path, copy: &Path) -> Result<(), UndoError> {
    match fs::remove_file(copy) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(error).context("remove", copy)?;
        }
        _ => {}
    }
    if original.exists() {
        fs::copy(original, copy).context("copy", original)?;
    }
    Ok(())
}

/// Returns what changed, apart from commits that were added to the branch.
fn what_happened(
    git: &Git,
    was: &HeadPosition,
    now: &HeadPosition,
    tip: Option<&Oid>,
) -> Result<Option<MovedHead>, GitError> {
    let is_switched = was.branch != now.branch;
    let lost = match &was.commit {
        Some(commit) => {
            let is_there = match tip {
                Some(tip) => git.is_ancestor(commit, tip)?,
                None => false,
            };
            if is_there {
                Vec::new()
            } else {
                git.lost_commits(commit, tip)?
            }
        }
        None => Vec::new(),
    };
    let unfinished = now.in_progress.filter(|_| was.in_progress.is_none());
    let has_moved = is_switched || !lost.is_empty() || unfinished.is_some();
    Ok(has_moved.then(|| MovedHead {
        switched: is_switched.then(|| (was.shown(), now.shown())),
        lost,
        unfinished,
        restored: Vec::new(),
    }))
}

/// Keeps the commits that HEAD and the branch have now.
fn keep(
    git: &Git,
    name: &AttemptName,
    now: &HeadPosition,
    tip: Option<&Oid>,
) -> Result<(), GitError> {
    let snapshot = name.reference(SnapshotSide::After);
    let folder = snapshot.strip_suffix("after").unwrap_or(&snapshot);
    let kept = [("head", now.commit.as_ref()), ("branch", tip)];
    for (word, commit) in kept {
        if let Some(commit) = commit {
            let call = Invocation::writing("update-ref");
            git.ask(call.args([&format!("{folder}{word}"), commit.as_str()]))?;
        }
    }
    Ok(())
}

/// Abandons an operation without touching HEAD, the index or files.
fn quit(git: &Git, operation: InProgress) -> Result<(), GitError> {
    let subcommand = match operation {
        InProgress::Merge => "merge",
        InProgress::CherryPick => "cherry-pick",
        InProgress::Revert => "revert",
        InProgress::Rebase => "rebase",
        InProgress::ApplyingPatches => "am",
    };
    git.ask(Invocation::writing(subcommand).arg("--quit"))
        .map(drop)
}

/// Restores the index or, if the branch has moved on, sets it to the last commit.
fn put_index_back(git: &Git, guarded: &GuardedHead) -> Result<(), UndoError> {
    let original = git.dir().join("index");
    if git.head()? != guarded.position.commit || !guarded.index.exists() {
        git.ask(Invocation::writing("read-tree").arg("HEAD"))?;
        return Ok(());
    }
    replace(&guarded.index, &original)
}

fn replace(copy: &Path, original: &Path) -> Result<(), UndoError> {
    let draft = original.with_file_name("index.regreen");
    fs::copy(copy, &draft).context("copy", copy)?;
    fs::rename(&draft, original).context("replace", original)?;
    Ok(())
}

fn short(commit: &Oid) -> &str {
    commit.as_str().get(..SHORT).unwrap_or_default()
}
