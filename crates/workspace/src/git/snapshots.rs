use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::{RelPath, StepError};

use super::attempt_name::{AttemptName, SnapshotSide, reference_prefix};
use super::invocation::Invocation;
use super::own_index::OwnIndex;
use super::own_index::{Difference, ScanMode, scan};
use super::own_index::{Filters, is_filter_failure};
use super::repository::Oid;
use super::repository::{Git, parse_oid};
use super::runner::GitError;
use super::scratch_index::{Freshness, ScratchIndex};
use super::staging::SnapshotWarning;
use super::staging::{StagingPlan, refresh, stage_best_effort, unflag};

/// The author of snapshots, so that they do not need the user's identity.
const IDENTITY: (&str, &str) = ("regreen", "regreen@localhost");

/// Limits on what a snapshot takes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotLimits {
    /// Larger files are left out, with a warning.
    pub max_file: u64,
}

impl Default for SnapshotLimits {
    fn default() -> Self {
        Self {
            max_file: 100 * 1024 * 1024,
        }
    }
}

/// The work tree at one moment, kept in the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The commit that the reference names.
    pub oid: Oid,
    /// Paths whose content in the snapshot is not current.
    pub warnings: Vec<SnapshotWarning>,
}

/// Why a snapshot could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The file system refused.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// Takes and finds snapshots. Touches nothing of the user's: it uses its own index and its own
/// references.
#[derive(Debug)]
pub struct Snapshots {
    git: Git,
    scratch: PathBuf,
    index: ScratchIndex,
    limits: SnapshotLimits,
    /// Files that were not in the user's index when they were added. One that is ignored since
    /// then still exists, so it stays in the snapshots.
    own: BTreeSet<RelPath>,
    /// Files that exist and that the user's index calls unchanged, whatever is in them.
    flagged: BTreeSet<RelPath>,
    filters: Filters,
}

impl Snapshots {
    /// Takes snapshots with `scratch`, an existing folder of regreen's own that git ignores and
    /// that only one process uses at a time.
    #[must_use]
    pub fn new(git: Git, scratch: &Path, limits: SnapshotLimits) -> Self {
        let original = git.dir().join("index");
        let index = ScratchIndex::new(scratch.join("snapshot-index"), original);
        Self {
            git,
            scratch: scratch.to_owned(),
            index,
            limits,
            own: BTreeSet::new(),
            flagged: BTreeSet::new(),
            filters: Filters::default(),
        }
    }

    pub(super) fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// Returns the repository.
    #[must_use]
    pub fn git(&self) -> &Git {
        &self.git
    }

    /// Returns the files whose changes git did not show when the last snapshot was taken: they
    /// have the flag `assume-unchanged` or `skip-worktree`.
    #[must_use]
    pub fn flagged(&self) -> &BTreeSet<RelPath> {
        &self.flagged
    }

    /// Takes the snapshot before an attempt.
    ///
    /// # Errors
    /// If git fails, or the scratch folder cannot be written.
    pub fn take_before(
        &mut self,
        name: &AttemptName,
        now: SystemTime,
    ) -> Result<Snapshot, SnapshotError> {
        self.take(name, SnapshotSide::Before, None, now)
    }

    /// Takes the snapshot after an attempt. `before` becomes its parent, so that `git show`
    /// shows what the attempt did.
    ///
    /// # Errors
    /// As [`Snapshots::take_before`].
    pub fn take_after(
        &mut self,
        name: &AttemptName,
        before: &Oid,
        now: SystemTime,
    ) -> Result<Snapshot, SnapshotError> {
        self.take(name, SnapshotSide::After, Some(before), now)
    }

    fn take(
        &mut self,
        name: &AttemptName,
        side: SnapshotSide,
        parent: Option<&Oid>,
        now: SystemTime,
    ) -> Result<Snapshot, SnapshotError> {
        let reference = name.reference(side);
        let (tree, warnings) = self.work_tree()?;
        let oid = self.commit_tree(&tree, parent, &reference, now)?;
        let call = Invocation::writing("update-ref").config("core.logAllRefUpdates=false");
        self.git.ask(call.args([&reference, oid.as_str()]))?;
        Ok(Snapshot { oid, warnings })
    }

    /// Returns the current work tree as a tree object, for comparison with snapshots. No
    /// reference keeps it, so `git gc` may remove it.
    ///
    /// # Errors
    /// As [`Snapshots::take_before`].
    pub fn current_tree(&mut self) -> Result<Oid, SnapshotError> {
        self.work_tree().map(|(tree, _)| tree)
    }

    /// Writes the work tree as a tree object that no reference keeps.
    pub(super) fn work_tree(&mut self) -> Result<(Oid, Vec<SnapshotWarning>), SnapshotError> {
        if !self.filters.are_off() {
            // The configuration may have changed since the last snapshot.
            self.filters = Filters::of_the_user(&self.git)?;
        }
        let written = match self.write_work_tree() {
            Err(SnapshotError::Git(error))
                if is_filter_failure(&error) && !self.filters.are_off() =>
            {
                self.index.forget();
                self.filters = Filters::off(&self.git)?;
                self.write_work_tree()
            }
            written => written,
        };
        if written.is_err() {
            self.index.forget();
        }
        written
    }

    /// Returns the filters for an undo that a person asked for: those that git would use, because
    /// a file that no attempt changed is stored as git has it. None if they don't work.
    pub(super) fn filters_for_undo(&self) -> Filters {
        if self.filters.are_off() {
            self.filters.clone()
        } else {
            Filters::default()
        }
    }

    /// Returns the filters for what a run writes by itself: an attempt may have changed those of
    /// the repository.
    pub(super) fn filters_in_a_run(&self) -> Result<Filters, GitError> {
        if self.filters.are_off() {
            Filters::off(&self.git)
        } else {
            Filters::of_the_user(&self.git)
        }
    }

    fn write_work_tree(&mut self) -> Result<(Oid, Vec<SnapshotWarning>), SnapshotError> {
        let found = match self.index.follow_original()? {
            Freshness::Kept => scan(self.index(), ScanMode::AsGit)?,
            Freshness::Copied => self.start_over()?,
        };
        self.own.extend(new_files(&found));
        let listed = found.iter().map(|(path, found)| (path, *found));
        let plan = StagingPlan::new(self.git.root(), listed, self.limits.max_file);
        let warnings = stage_best_effort(self.index(), plan)?;
        // A partial clone is the user's choice: do not check for missing objects.
        let call = Invocation::writing("write-tree").arg("--missing-ok");
        let tree = self.index().ask(call)?;
        let tree = parse_oid("write-tree", &tree)?;
        Ok((tree, warnings))
    }

    fn index(&self) -> OwnIndex<'_> {
        OwnIndex {
            git: &self.git,
            path: self.index.path(),
            filters: &self.filters,
        }
    }

    /// Lists what differs from a new copy of the user's index.
    fn start_over(&mut self) -> Result<BTreeMap<RelPath, Difference>, GitError> {
        refresh(self.index())?;
        let mut found = scan(self.index(), ScanMode::IgnoringFlags)?;
        let root = self.git.root();
        let flags = Flags::of_existing(root, &found);
        unflag(self.index(), "--no-assume-unchanged", &flags.assumed)?;
        unflag(self.index(), "--no-skip-worktree", &flags.skipped)?;
        self.flagged = flags.paths().collect();
        self.own.retain(|path| exists(root, path));
        for path in &self.own {
            found.entry(path.clone()).or_insert(Difference::New);
        }
        Ok(found)
    }

    fn commit_tree(
        &self,
        tree: &Oid,
        parent: Option<&Oid>,
        message: &str,
        now: SystemTime,
    ) -> Result<Oid, GitError> {
        let seconds = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let date = format!("@{seconds} +0000");
        let (name, email) = IDENTITY;
        let parents = parent.into_iter().flat_map(|oid| ["-p", oid.as_str()]);
        let call = Invocation::writing("commit-tree")
            .args(["--no-gpg-sign", "-F", "-"])
            .args(parents)
            .arg(tree.as_str())
            .config("i18n.commitEncoding=UTF-8")
            .env("GIT_AUTHOR_NAME", name)
            .env("GIT_AUTHOR_EMAIL", email)
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_NAME", name)
            .env("GIT_COMMITTER_EMAIL", email)
            .env("GIT_COMMITTER_DATE", &date)
            .stdin(format!("{message}\n"));
        self.git.ask_oid(call)
    }
}

/// Files that git calls unchanged because a flag says so.
struct Flags<'f> {
    assumed: Vec<&'f RelPath>,
    skipped: Vec<&'f RelPath>,
}

impl<'f> Flags<'f> {
    /// A sparse checkout skips files that do not exist.
    fn of_existing(root: &Path, found: &'f BTreeMap<RelPath, Difference>) -> Self {
        let flagged = |what: Difference| {
            let with = found.iter().filter(move |(_, found)| **found == what);
            with.map(|(path, _)| path)
        };
        Self {
            assumed: flagged(Difference::AssumedUnchanged).collect(),
            skipped: flagged(Difference::Skipped)
                .filter(|path| exists(root, path))
                .collect(),
        }
    }

    fn paths(&self) -> impl Iterator<Item = RelPath> {
        self.assumed.iter().chain(&self.skipped).copied().cloned()
    }
}

fn exists(root: &Path, path: &RelPath) -> bool {
    path.under(root).symlink_metadata().is_ok()
}

fn new_files(found: &BTreeMap<RelPath, Difference>) -> impl Iterator<Item = RelPath> {
    let new = found.iter().filter(|(_, found)| **found == Difference::New);
    new.map(|(path, _)| path.clone())
}

/// A snapshot that the repository keeps.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoredSnapshot {
    /// The attempt.
    pub name: AttemptName,
    /// Before or after the attempt.
    pub side: SnapshotSide,
    /// The commit.
    pub oid: Oid,
}

impl Git {
    /// Lists the snapshots of a run, or of all runs, sorted by name and attempt.
    ///
    /// # Errors
    /// If git fails.
    pub fn snapshots(&self, run: Option<&str>) -> Result<Vec<StoredSnapshot>, GitError> {
        let call = Invocation::reading("for-each-ref")
            .arg("--format=%(objectname) %(refname)")
            .arg(reference_prefix(run));
        let answer = self.ask(call)?;
        let mut kept: Vec<StoredSnapshot> = String::from_utf8_lossy(&answer)
            .lines()
            .filter_map(parse_stored)
            .collect();
        kept.sort();
        Ok(kept)
    }
}

fn parse_stored(line: &str) -> Option<StoredSnapshot> {
    let (oid, reference) = line.split_once(' ')?;
    let (name, side) = AttemptName::parse(reference)?;
    let oid = Oid::parse(oid)?;
    Some(StoredSnapshot { name, side, oid })
}
