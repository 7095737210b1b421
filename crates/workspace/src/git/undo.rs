//! Taking back in the work tree what the attempts of a task changed, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::files::Doing;
use crate::{Disk, RelPath, StepError};

use super::attempt_name::Side;
use super::git_error::GitError;
use super::invocation::Invocation;
use super::oid::Oid;
use super::raw_diff::{Entry, Mode};
use super::repository::Git;
use super::restore::{Restoring, Sightings};
use super::snapshots::{KeptSnapshot, SnapshotError, Snapshots};
use super::staging::set_entries;
use super::undo_plan::{
    Now, Story, TaskChange, UndoConflict, Verdict, WhyKept, judge, stories, task_changes,
};

/// The snapshots around one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptSpan {
    pub before: Oid,
    pub after: Oid,
}

impl AttemptSpan {
    /// The attempts of which both snapshots are kept, in the order of `kept`.
    #[must_use]
    pub fn of(kept: &[KeptSnapshot]) -> Vec<Self> {
        let before = kept.iter().filter(|one| one.side == Side::Before);
        before
            .filter_map(|before| {
                let is_after =
                    |one: &&KeptSnapshot| one.side == Side::After && one.name == before.name;
                kept.iter().find(is_after).map(|after| Self {
                    before: before.oid.clone(),
                    after: after.oid.clone(),
                })
            })
            .collect()
    }
}

/// What became of an undo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undone {
    /// The paths are as they were before the task. `kept` holds those that somebody saved
    /// at this very moment.
    Restored {
        paths: Vec<RelPath>,
        kept: Vec<UndoConflict>,
    },
    /// Something would have been lost; nothing was changed.
    Conflicts(Vec<UndoConflict>),
}

#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Step(#[from] StepError),
}

/// What has to be done to the work tree.
#[derive(Debug, Default)]
struct Orders {
    remove: BTreeSet<RelPath>,
    restore: BTreeMap<RelPath, Entry>,
    conflicts: Vec<UndoConflict>,
}

impl Snapshots {
    /// Restores every path that the attempts changed to what it was before the first of
    /// them, unless anything made since would be lost: then nothing is done. Commits stay,
    /// and so does the index. Asked again, also after a crash, it does what is left.
    ///
    /// `attempts` are in the order they were made; `except` are paths that stay as they are.
    ///
    /// # Errors
    /// If git fails, or the work tree cannot be written.
    pub fn undo(
        &mut self,
        disk: &dyn Disk,
        attempts: &[AttemptSpan],
        except: &BTreeSet<RelPath>,
    ) -> Result<Undone, UndoError> {
        let git = self.git().clone();
        let stories = git.stories(attempts, except)?;
        // Seen before the snapshot of this moment: a file that still looks like this when it
        // is replaced holds what the snapshot holds.
        let sightings = Sightings::of(git.root(), stories.keys());
        let now = self.now(stories.keys())?;
        let mut orders = Orders::default();
        for (path, story) in &stories {
            let verdict = judge(story, now.get(path).unwrap_or(&Now::Nothing));
            orders.add(path, verdict);
        }
        orders.find_obstacles(git.root());
        if !orders.conflicts.is_empty() {
            return Ok(Undone::Conflicts(orders.conflicts));
        }
        self.carry_out(disk, &sightings, orders)
    }

    /// What stands at these paths at this moment.
    fn now<'a>(
        &mut self,
        paths: impl Iterator<Item = &'a RelPath>,
    ) -> Result<BTreeMap<RelPath, Now>, UndoError> {
        let (tree, warnings) = self.work_tree()?;
        let entries = self.git().entries(&tree)?;
        let unknown: BTreeSet<&RelPath> = warnings.iter().map(|warning| &warning.path).collect();
        let now = paths.map(|path| {
            let now = match entries.get(path) {
                _ if unknown.contains(path) => Now::Unknown,
                Some(entry) => Now::Entry(entry.clone()),
                None if is_file(&path.under(self.git().root())) => Now::Unknown,
                None => Now::Nothing,
            };
            (path.clone(), now)
        });
        Ok(now.collect())
    }

    fn carry_out(
        &self,
        disk: &dyn Disk,
        sightings: &Sightings,
        orders: Orders,
    ) -> Result<Undone, UndoError> {
        let mut restoring = Restoring::begin(disk, self.git().root(), self.scratch(), sightings)?;
        self.check_out(&orders.restore, restoring.drafts())?;
        for path in orders.remove.iter().rev() {
            restoring.remove(path)?;
        }
        for path in orders.restore.keys() {
            restoring.replace(path)?;
        }
        let kept = restoring.end();
        let is_kept = |path: &RelPath| kept.iter().any(|conflict| conflict.path == *path);
        let mut paths: Vec<RelPath> = orders.remove.into_iter().collect();
        paths.extend(orders.restore.into_keys());
        paths.retain(|path| !is_kept(path));
        paths.sort();
        Ok(Undone::Restored { paths, kept })
    }

    /// Lets git write the files into a folder aside, as it would write them into the tree.
    fn check_out(
        &self,
        entries: &BTreeMap<RelPath, Entry>,
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
            .filters(self.filters())
            .stdin_paths(entries.keys());
        self.git().ask(call)?;
        fs::remove_file(&index).doing("remove", &index)?;
        Ok(())
    }
}

impl Orders {
    fn add(&mut self, path: &RelPath, verdict: Verdict) {
        match verdict {
            Verdict::AlreadyThere => {}
            Verdict::Remove => drop(self.remove.insert(path.clone())),
            Verdict::Restore(entry) => drop(self.restore.insert(path.clone(), entry)),
            Verdict::Keep(why) => self.conflicts.push(UndoConflict {
                path: path.clone(),
                why,
            }),
        }
    }

    /// A file cannot come back where something else stands that stays.
    fn find_obstacles(&mut self, root: &Path) {
        let blocked: Vec<UndoConflict> = self
            .restore
            .keys()
            .filter(|path| self.is_blocked(root, path))
            .map(|path| UndoConflict {
                path: path.clone(),
                why: WhyKept::InTheWay,
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

/// Anything but a folder, a link to one included.
fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| !found.is_dir())
}

/// Whether a folder stands there with a file in it that `stays`.
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
    /// The paths that the attempts of a task changed, taken together: what an undo would take
    /// back. `attempts` are in the order they were made.
    ///
    /// # Errors
    /// If git fails, or does not know the snapshots.
    pub fn task_changes(
        &self,
        attempts: &[AttemptSpan],
        except: &BTreeSet<RelPath>,
    ) -> Result<Vec<TaskChange>, GitError> {
        Ok(task_changes(self.stories(attempts, except)?))
    }

    fn stories(
        &self,
        attempts: &[AttemptSpan],
        except: &BTreeSet<RelPath>,
    ) -> Result<BTreeMap<RelPath, Story>, GitError> {
        let changes = attempts
            .iter()
            .map(|span| self.raw_changes(&span.before, &span.after));
        let changes = changes.collect::<Result<Vec<_>, _>>()?;
        Ok(stories(changes, except))
    }

    /// Everything a tree holds.
    fn entries(&self, tree: &Oid) -> Result<BTreeMap<RelPath, Entry>, GitError> {
        let call = Invocation::reading("ls-tree").args(["-r", "-z", "--full-tree", tree.as_str()]);
        let doing = call.subcommand();
        let answer = self.ask(call)?;
        answer
            .split(|byte| *byte == 0)
            .filter(|line| !line.is_empty())
            .map(|line| parse_entry(line).ok_or_else(|| GitError::not_understood(doing)))
            .collect()
    }
}

/// `100644 blob <oid>\t<path>`.
fn parse_entry(line: &[u8]) -> Option<(RelPath, Entry)> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let (head, path) = (line.get(..tab)?, line.get(tab + 1..)?);
    let mut words = std::str::from_utf8(head).ok()?.split(' ');
    let mode = Mode::parse(words.next()?)?;
    let oid = Oid::parse(words.nth(1)?)?;
    Some((RelPath::new(path).ok()?, Entry { mode, oid }))
}
