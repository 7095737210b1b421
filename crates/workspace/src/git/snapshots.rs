use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::files::IoContext;
use crate::{RelPath, StepError};

use super::attempt_name::{AttemptName, SnapshotSide, reference_prefix};
use super::commit::CommitReport;
use super::index_file::IndexFile;
use super::invocation::Invocation;
use super::loose_object::{ObjectHash, ObjectKind, hex};
use super::own_index::{Difference, Listing, OwnIndex, WorkTreeScan, list, scan};
use super::own_index::{Filters, is_filter_failure};
use super::repository::Oid;
use super::repository::{Git, parse_oid};
use super::runner::GitError;
use super::scratch_index::{Freshness, ScratchIndex, Stamp};
use super::staging::SnapshotWarning;
use super::staging::{StagingPlan, refresh, stage_best_effort, unflag};
use super::tree_builder::write_trees;

/// The author of snapshots, which therefore don't need the user's identity.
const IDENTITY: (&str, &str) = ("regreen", "regreen@localhost");

/// Limits on the contents of a snapshot.
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
    /// The paths that differ from the previous snapshot; `None` if git must compare them.
    pub changed: Option<BTreeSet<RelPath>>,
}

/// The work tree as a tree object.
#[derive(Debug)]
pub(super) struct WrittenTree {
    pub(super) tree: Oid,
    pub(super) warnings: Vec<SnapshotWarning>,
    /// The previously written tree, and the paths that differ from it.
    since: Option<(Oid, BTreeSet<RelPath>)>,
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

/// Takes and finds snapshots. Never touches the user's files: it has its own index and its own
/// references.
#[derive(Debug)]
pub struct Snapshots {
    git: Git,
    scratch: PathBuf,
    index: ScratchIndex,
    limits: SnapshotLimits,
    /// Files that were not in the user's index when they were added. One that has been ignored
    /// since still exists, so it stays in the snapshots.
    own: BTreeSet<RelPath>,
    /// Existing files that the user's index calls unchanged, whatever they contain.
    flagged: BTreeSet<RelPath>,
    filters: Filters,
    /// The tree of the index, if it was written.
    tree: Option<Oid>,
    /// The last snapshot, as a commit and as a tree.
    last: Option<(Oid, Oid)>,
    ignored: Option<Vec<Vec<u8>>>,
    guarded_index: Option<Stamp>,
}

impl Snapshots {
    /// Creates snapshots using `scratch`, an existing folder that belongs to regreen, is ignored by
    /// git, and is used by only one process at a time.
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
            tree: None,
            last: None,
            ignored: None,
            guarded_index: None,
        }
    }

    /// Returns the version of the user's index that the copy guards.
    pub(super) fn guarded_index(&self) -> Option<&Stamp> {
        self.guarded_index.as_ref()
    }

    pub(super) fn set_guarded_index(&mut self, stamp: Option<Stamp>) {
        self.guarded_index = stamp;
    }

    /// Returns what git ignores (files, and folders that are ignored as a whole), if nothing was
    /// written since the last scan. Each scan is good for one answer.
    pub fn take_ignored(&mut self) -> Option<Vec<Vec<u8>>> {
        self.ignored.take()
    }

    /// Lists the files of the last snapshot, and those that were committed since; `None` before the
    /// first one, or if only git can tell.
    #[must_use]
    pub fn listed_files(&self) -> Option<Vec<RelPath>> {
        self.last.as_ref()?;
        let index = self.read_index().ok()??;
        Some(index.paths())
    }

    /// Continues with the index that regreen's own commit left to the user, in which nothing is new
    /// apart from that commit.
    pub fn follow_commit(&mut self, report: &CommitReport) {
        if let Some(replaced) = &report.replaced_index {
            self.index.follow_replacement(replaced);
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

    /// Returns the files whose changes git didn't show at the last snapshot, because they have the
    /// flag `assume-unchanged` or `skip-worktree`.
    #[must_use]
    pub fn flagged(&self) -> &BTreeSet<RelPath> {
        &self.flagged
    }

    /// Takes the snapshot before an attempt.
    ///
    /// # Errors
    /// Returns an error if git fails, or the scratch folder can't be written.
    pub fn take_before(
        &mut self,
        name: &AttemptName,
        now: SystemTime,
    ) -> Result<Snapshot, SnapshotError> {
        self.take(name, SnapshotSide::Before, None, now)
    }

    /// Takes the snapshot after an attempt. `before` becomes its parent, so that `git show` shows
    /// what the attempt did.
    ///
    /// # Errors
    /// Fails like [`Snapshots::take_before`].
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
        let written = self.work_tree()?;
        let oid = self.commit_tree(&written.tree, parent, &reference, now)?;
        self.keep(&reference, &oid)?;
        let last = self.last.replace((oid.clone(), written.tree));
        let is_next =
            |tree: &Oid| last.is_some_and(|(oid, of)| parent == Some(&oid) && of == *tree);
        let changed = written
            .since
            .and_then(|(tree, paths)| is_next(&tree).then_some(paths));
        Ok(Snapshot {
            oid,
            warnings: written.warnings,
            changed,
        })
    }

    /// Points a reference at the snapshot.
    fn keep(&self, reference: &str, oid: &Oid) -> Result<(), GitError> {
        let files = self.git.reference_files();
        if self.git.loose_objects()?.is_some()
            && let Some(files) = files
            && files.set_own(reference, oid).is_ok()
        {
            return Ok(());
        }
        let call = Invocation::writing("update-ref").config("core.logAllRefUpdates=false");
        self.git.ask(call.args([reference, oid.as_str()])).map(drop)
    }

    /// Returns the current work tree as a tree object, for comparison with snapshots. No reference
    /// keeps it, so `git gc` may remove it.
    ///
    /// # Errors
    /// Fails like [`Snapshots::take_before`].
    pub fn current_tree(&mut self) -> Result<Oid, SnapshotError> {
        self.work_tree().map(|written| written.tree)
    }

    /// Writes the work tree as a tree object that no reference keeps.
    pub(super) fn work_tree(&mut self) -> Result<WrittenTree, SnapshotError> {
        self.ignored = None;
        if !self.filters.are_off() {
            // The configuration may have changed since the last snapshot.
            self.filters = Filters::of_the_user(&self.git)?;
        }
        let written = match self.write_work_tree() {
            Err(SnapshotError::Git(error))
                if is_filter_failure(&error) && !self.filters.are_off() =>
            {
                self.forget_index();
                self.filters = Filters::off(&self.git)?;
                self.write_work_tree()
            }
            written => written,
        };
        if written.is_err() {
            self.forget_index();
        }
        written
    }

    fn forget_index(&mut self) {
        self.index.forget();
        self.tree = None;
    }

    /// Returns the filters for an undo that a person asked for: those that git would use, because a
    /// file that no attempt changed is stored the way git has it. All are disabled if they don't
    /// work.
    pub(super) fn filters_for_undo(&self) -> Filters {
        if self.filters.are_off() {
            self.filters.clone()
        } else {
            Filters::default()
        }
    }

    /// Returns the filters for files that a run writes by itself: an attempt may have changed those
    /// of the repository.
    pub(super) fn filters_in_a_run(&self) -> Result<Filters, GitError> {
        if self.filters.are_off() {
            Filters::off(&self.git)
        } else {
            Filters::of_the_user(&self.git)
        }
    }

    fn write_work_tree(&mut self) -> Result<WrittenTree, SnapshotError> {
        let is_copied = self.index.follow_original()? == Freshness::Copied;
        if is_copied {
            self.tree = None;
        }
        let previous = self.tree.take();
        let found = if is_copied {
            self.start_over()?
        } else {
            let scanned = scan(self.index())?;
            self.remember_ignored(&scanned);
            scanned.differing
        };
        self.own.extend(new_files(&found));
        let listed = found.iter().map(|(path, found)| (path, *found));
        let plan = StagingPlan::new(self.git.root(), listed, self.limits.max_file);
        if let Some(tree) = previous.clone().filter(|_| plan.is_empty()) {
            self.tree = Some(tree.clone());
            return Ok(WrittenTree {
                tree: tree.clone(),
                warnings: plan.warnings,
                since: Some((tree, BTreeSet::new())),
            });
        }
        let paths: BTreeSet<RelPath> = found.into_keys().collect();
        let before = self.read_index()?.map(|index| index.entries_of(&paths));
        let warnings = stage_best_effort(self.index(), plan)?;
        let after = self.read_index()?;
        let tree = self.write_tree(after.as_ref())?;
        self.tree = Some(tree.clone());
        let entries = before.zip(after.map(|index| index.entries_of(&paths)));
        let changed = entries.map(|(before, after)| {
            let is_changed = |path: &RelPath| before.get(path) != after.get(path);
            paths.into_iter().filter(is_changed).collect()
        });
        Ok(WrittenTree {
            tree,
            warnings,
            since: previous.zip(changed),
        })
    }

    /// Reads regreen's own index; `None` if git must be asked for its contents.
    fn read_index(&self) -> Result<Option<IndexFile>, SnapshotError> {
        let path = self.index.path();
        let hash = ObjectHash::of(self.git.null_oid());
        Ok(IndexFile::read(path, hash).context("read", path)?)
    }

    fn write_tree(&self, index: Option<&IndexFile>) -> Result<Oid, GitError> {
        if let (Some(index), Some(objects)) = (index, self.git.loose_objects()?)
            && let Ok(Some(tree)) = write_trees(index, &objects)
        {
            return Ok(tree);
        }
        // A partial clone is the user's choice, so don't check for missing objects.
        let call = Invocation::writing("write-tree").arg("--missing-ok");
        let tree = self.index().ask(call)?;
        parse_oid("write-tree", &tree)
    }

    /// Remembers what is ignored, including the top-level folders that hold nothing else.
    fn remember_ignored(&mut self, scanned: &WorkTreeScan) {
        self.ignored = scanned.ignored.as_ref().and_then(|ignored| {
            let index = self.read_index().ok()??;
            let mut ignored = ignored.clone();
            let tops = ignored_folders(&ignored, scanned, &index);
            ignored.extend(tops);
            Some(ignored)
        });
    }

    fn index(&self) -> OwnIndex<'_> {
        OwnIndex {
            git: &self.git,
            path: self.index.path(),
            filters: &self.filters,
        }
    }

    /// Lists the differences from a new copy of the user's index.
    fn start_over(&mut self) -> Result<BTreeMap<RelPath, Difference>, SnapshotError> {
        let mut found = if let Some(index) = self.read_index()? {
            let flagged = index.flagged();
            let mut scanned = scan(self.index())?;
            self.remember_ignored(&scanned);
            scanned.differing.extend(flagged);
            scanned.differing
        } else {
            refresh(self.index())?;
            list(self.index(), Listing::ChangesAndFlagged, &[])?
        };
        let root = self.git.root();
        let flags = Flags::of_existing(root, &found);
        unflag(self.index(), "--no-assume-unchanged", &flags.assumed)?;
        unflag(self.index(), "--no-skip-worktree", &flags.skipped)?;
        // A file that git doesn't miss is as hidden as one whose changes it doesn't show.
        let missing = found
            .iter()
            .filter(|(path, what)| **what == Difference::Skipped && !exists(root, path));
        self.flagged = flags
            .paths()
            .chain(missing.map(|(path, _)| path.clone()))
            .collect();
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
        if let Some(objects) = self.git.loose_objects()? {
            let body = commit_body(tree, parent, message, seconds);
            let written = objects.write(ObjectKind::Commit, body.as_bytes());
            if let Some(oid) = written.ok().and_then(|name| Oid::parse(&hex(&name))) {
                return Ok(oid);
            }
        }
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

/// Files that git calls unchanged because of a flag.
struct Flags<'f> {
    assumed: Vec<&'f RelPath>,
    skipped: Vec<&'f RelPath>,
}

impl<'f> Flags<'f> {
    /// Collects the flagged files. A sparse checkout also skips files that don't exist; these don't
    /// count.
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

/// Returns a snapshot as `git commit-tree` would write it.
fn commit_body(tree: &Oid, parent: Option<&Oid>, message: &str, seconds: u64) -> String {
    let parent = parent.map_or(String::new(), |oid| format!("parent {oid}\n"));
    let (name, email) = IDENTITY;
    let person = format!("{name} <{email}> {seconds} +0000");
    format!("tree {tree}\n{parent}author {person}\ncommitter {person}\n\n{message}\n")
}

/// Returns the top-level folders in which everything is ignored, each with a slash.
fn ignored_folders(
    ignored: &[Vec<u8>],
    scanned: &WorkTreeScan,
    index: &IndexFile,
) -> BTreeSet<Vec<u8>> {
    let top = |path: &[u8]| {
        let end = path.iter().position(|byte| *byte == b'/')?;
        (end + 1 < path.len()).then_some(end)
    };
    let mut tops: BTreeSet<&[u8]> = ignored
        .iter()
        .filter_map(|path| path.get(..top(path)?))
        .collect();
    if tops.is_empty() {
        return BTreeSet::new();
    }
    for path in scanned.differing.keys() {
        let path = path.as_bytes();
        if let Some(top) = top(path).and_then(|end| path.get(..end)) {
            tops.remove(top);
        }
    }
    let tracked = index.tracked_folders(&tops);
    let whole = tops.difference(&tracked);
    whole.map(|top| [*top, b"/"].concat()).collect()
}

fn exists(root: &Path, path: &RelPath) -> bool {
    path.under(root).symlink_metadata().is_ok()
}

fn new_files(found: &BTreeMap<RelPath, Difference>) -> impl Iterator<Item = RelPath> {
    let new = found.iter().filter(|(_, found)| **found == Difference::New);
    new.map(|(path, _)| path.clone())
}

/// A snapshot stored in the repository.
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
    /// Returns an error if git fails.
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
