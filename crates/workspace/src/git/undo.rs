//! Undoes the changes that the attempts of a task made to the work tree, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::files::IoContext;
use crate::{Disk, RelPath, StepError};

use super::attempt_name::SnapshotSide;
use super::invocation::Invocation;
use super::own_index::Filters;
use super::raw_diff::{Entry, Mode};
use super::repository::Oid;
use super::repository::{Git, records};
use super::restore::{FileStamps, Restorer};
use super::runner::GitError;
use super::snapshots::{SnapshotError, Snapshots, StoredSnapshot, WrittenTree};
use super::staging::set_entries;
use super::undo_plan::{
    ConflictReason, CurrentState, PathHistory, TaskChange, UndoAction, UndoConflict, decide,
    histories, task_changes,
};

/// The snapshots around one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptSpan {
    /// The snapshot before it.
    pub before: Oid,
    /// The snapshot after it.
    pub after: Oid,
}

impl AttemptSpan {
    /// Returns the attempts that have both snapshots, in the order of `kept`.
    #[must_use]
    pub fn of(kept: &[StoredSnapshot]) -> Vec<Self> {
        let before = kept.iter().filter(|one| one.side == SnapshotSide::Before);
        before
            .filter_map(|before| {
                let is_after = |one: &&StoredSnapshot| {
                    one.side == SnapshotSide::After && one.name == before.name
                };
                kept.iter().find(is_after).map(|after| Self {
                    before: before.oid.clone(),
                    after: after.oid.clone(),
                })
            })
            .collect()
    }
}

/// The result of an undo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UndoOutcome {
    /// The paths are as they were before the task, except those that someone saved during the undo.
    Restored {
        /// The restored paths.
        paths: Vec<RelPath>,
        /// The paths that were not restored.
        kept: Vec<UndoConflict>,
    },
    /// The undo would have lost something, so nothing was changed.
    Conflicts(Vec<UndoConflict>),
}

/// Why an undo failed.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// The current state couldn't be recorded.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The file system refused.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// The paths to remove and to restore.
#[derive(Debug, Default)]
struct UndoPlan {
    remove: BTreeSet<RelPath>,
    restore: BTreeMap<RelPath, Entry>,
    conflicts: Vec<UndoConflict>,
}

impl Snapshots {
    /// Restores every path that the attempts changed to its state before the first of them. Does
    /// nothing if that would lose a later change. Commits and the index stay. When called again,
    /// even after a crash, it completes the undo.
    ///
    /// `attempts` are in chronological order; the paths in `except` stay as they are.
    ///
    /// # Errors
    /// Returns an error if git fails, or the work tree can't be written.
    pub fn undo(
        &mut self,
        disk: &dyn Disk,
        attempts: &[AttemptSpan],
        except: &BTreeSet<RelPath>,
    ) -> Result<UndoOutcome, UndoError> {
        let git = self.git().clone();
        let histories = git.histories(attempts, except)?;
        // The stamps must be taken before the snapshot: if a file still has the same stamp when it
        // is replaced, the snapshot has its content.
        let stamps = FileStamps::of(git.root(), histories.keys());
        let now = self.now(histories.keys())?;
        let mut plan = UndoPlan::default();
        for (path, history) in &histories {
            let action = decide(history, now.get(path).unwrap_or(&CurrentState::Nothing));
            plan.add(path, action);
        }
        plan.find_obstacles(git.root());
        if !plan.conflicts.is_empty() {
            return Ok(UndoOutcome::Conflicts(plan.conflicts));
        }
        self.apply(disk, &stamps, &self.filters_for_undo(), plan)
    }

    /// Returns the current state of these paths.
    fn now<'a>(
        &mut self,
        paths: impl Iterator<Item = &'a RelPath>,
    ) -> Result<BTreeMap<RelPath, CurrentState>, UndoError> {
        let WrittenTree { tree, warnings, .. } = self.work_tree()?;
        let entries = self.git().entries(&tree)?;
        let unknown: BTreeSet<&RelPath> = warnings.iter().map(|warning| &warning.path).collect();
        let now = paths.map(|path| {
            let now = match entries.get(path) {
                _ if unknown.contains(path) => CurrentState::Unknown,
                Some(entry) => CurrentState::Entry(entry.clone()),
                None if is_file(&path.under(self.git().root())) => CurrentState::Unknown,
                None => CurrentState::Nothing,
            };
            (path.clone(), now)
        });
        Ok(now.collect())
    }

    /// Writes these files to the tree, except where something is in the way. Returns the paths that
    /// were written.
    pub(super) fn restore_entries(
        &self,
        disk: &dyn Disk,
        filters: &Filters,
        entries: BTreeMap<RelPath, Entry>,
    ) -> Result<Vec<RelPath>, UndoError> {
        let stamps = FileStamps::of(self.git().root(), entries.keys());
        let mut plan = UndoPlan {
            restore: entries,
            ..UndoPlan::default()
        };
        plan.find_obstacles(self.git().root());
        for conflict in std::mem::take(&mut plan.conflicts) {
            plan.restore.remove(&conflict.path);
        }
        match self.apply(disk, &stamps, filters, plan)? {
            UndoOutcome::Restored { paths, .. } => Ok(paths),
            UndoOutcome::Conflicts(_) => Ok(Vec::new()),
        }
    }

    fn apply(
        &self,
        disk: &dyn Disk,
        stamps: &FileStamps,
        filters: &Filters,
        plan: UndoPlan,
    ) -> Result<UndoOutcome, UndoError> {
        let mut restorer = Restorer::begin(disk, self.git().root(), self.scratch(), stamps)?;
        self.check_out(&plan.restore, filters, restorer.drafts())?;
        for path in plan.remove.iter().rev() {
            restorer.remove(path)?;
        }
        for path in plan.restore.keys() {
            restorer.replace(path)?;
        }
        let kept = restorer.end();
        let is_kept = |path: &RelPath| kept.iter().any(|conflict| conflict.path == *path);
        let mut paths: Vec<RelPath> = plan.remove.into_iter().collect();
        paths.extend(plan.restore.into_keys());
        paths.retain(|path| !is_kept(path));
        paths.sort();
        Ok(UndoOutcome::Restored { paths, kept })
    }

    /// Lets git write the files to another folder, as it would write them to the tree.
    pub(super) fn check_out(
        &self,
        entries: &BTreeMap<RelPath, Entry>,
        filters: &Filters,
        folder: &Path,
    ) -> Result<(), UndoError> {
        if entries.is_empty() {
            return Ok(());
        }
        let index = folder.join("index");
        let wanted = entries.iter().map(|(path, entry)| (path, Some(entry)));
        set_entries(self.git(), Some(&index), wanted)?;
        let mut prefix = folder.join("files").into_os_string();
        prefix.push("/");
        let mut option = std::ffi::OsString::from("--prefix=");
        option.push(prefix);
        let call = Invocation::writing("checkout-index")
            .arg(option)
            .args(["-q", "-z", "--stdin"])
            .index(&index)
            .filters(filters)
            .stdin_paths(entries.keys());
        self.git().ask(call)?;
        fs::remove_file(&index).context("remove", &index)?;
        Ok(())
    }
}

impl UndoPlan {
    fn add(&mut self, path: &RelPath, action: UndoAction) {
        match action {
            UndoAction::AlreadyThere => {}
            UndoAction::Remove => drop(self.remove.insert(path.clone())),
            UndoAction::Restore(entry) => drop(self.restore.insert(path.clone(), entry)),
            UndoAction::Keep(why) => self.conflicts.push(UndoConflict {
                path: path.clone(),
                why,
            }),
        }
    }

    /// Adds a conflict for each file whose path is blocked by something that stays.
    fn find_obstacles(&mut self, root: &Path) {
        let blocked: Vec<UndoConflict> = self
            .restore
            .keys()
            .filter(|path| self.is_blocked(root, path))
            .map(|path| UndoConflict {
                path: path.clone(),
                why: ConflictReason::InTheWay,
            })
            .collect();
        self.conflicts.extend(blocked);
    }

    fn is_blocked(&self, root: &Path, path: &RelPath) -> bool {
        let stays = |path: &Path| {
            RelPath::inside(root, path).is_ok_and(|path| !self.remove.contains(&path))
        };
        let above_blocks = path.folders().any(|folder| {
            let folder = root.join(folder);
            is_file(&folder) && stays(&folder)
        });
        above_blocks || holds_file(&path.under(root), &stays)
    }
}

/// Returns whether anything but a folder exists there; a link to a folder counts as a file.
fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| !found.is_dir())
}

/// Returns whether a folder contains a file that `stays`.
fn holds_file(folder: &Path, stays: &dyn Fn(&Path) -> bool) -> bool {
    if !folder.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        return false;
    }
    let Ok(entries) = fs::read_dir(folder) else {
        return true;
    };
    entries.flatten().map(|entry| entry.path()).any(|path| {
        if is_file(&path) {
            stays(&path)
        } else {
            holds_file(&path, stays)
        }
    })
}

impl Git {
    /// Lists the paths that the attempts of a task changed overall, which an undo would restore.
    /// `attempts` are in chronological order.
    ///
    /// # Errors
    /// Returns an error if git fails, or doesn't know the snapshots.
    pub fn task_changes(
        &self,
        attempts: &[AttemptSpan],
        except: &BTreeSet<RelPath>,
    ) -> Result<Vec<TaskChange>, GitError> {
        Ok(task_changes(self.histories(attempts, except)?))
    }

    fn histories(
        &self,
        attempts: &[AttemptSpan],
        except: &BTreeSet<RelPath>,
    ) -> Result<BTreeMap<RelPath, PathHistory>, GitError> {
        let changes = attempts
            .iter()
            .map(|span| self.raw_changes(&span.before, &span.after));
        let changes = changes.collect::<Result<Vec<_>, _>>()?;
        Ok(histories(changes, except))
    }

    /// Lists all entries of a tree.
    pub(super) fn entries(&self, tree: &Oid) -> Result<BTreeMap<RelPath, Entry>, GitError> {
        let call = Invocation::reading("ls-tree").args(["-r", "-z", "--full-tree", tree.as_str()]);
        self.ask_parsed(call, |answer| records(answer).map(parse_entry).collect())
    }
}

/// Parses `100644 blob <oid>\t<path>`.
fn parse_entry(line: &[u8]) -> Option<(RelPath, Entry)> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let (head, path) = (line.get(..tab)?, line.get(tab + 1..)?);
    let mut words = std::str::from_utf8(head).ok()?.split(' ');
    let mode = Mode::parse(words.next()?)?;
    let oid = Oid::parse(words.nth(1)?)?;
    Some((RelPath::new(path).ok()?, Entry { mode, oid }))
}
