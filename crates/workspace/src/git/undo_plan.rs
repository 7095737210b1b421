//! Decides what an undo does with each path.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::RelPath;

use super::raw_diff::{Entry, Mode, RawChange};

/// A path whose change cannot be undone without losing something else.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UndoConflict {
    /// The path.
    pub path: RelPath,
    /// The reason.
    pub why: ConflictReason,
}

/// Why a path was kept as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConflictReason {
    /// It has changed since the task's last attempt.
    ChangedSince,
    /// Someone else changed it between two attempts of the task.
    ChangedBetween,
    /// Someone saved it during the undo.
    ChangedMeanwhile,
    /// Something that isn't the task's is at its path, or at that of its folder.
    InTheWay,
    /// Its current content isn't in any snapshot, because it is ignored, unreadable or too large.
    Unknown,
    /// It is a nested repository, of which a snapshot holds only the commit.
    Repository,
}

impl fmt::Display for UndoConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.why {
            ConflictReason::ChangedSince => "was changed after the task",
            ConflictReason::ChangedBetween => "was changed by someone else between two attempts",
            ConflictReason::ChangedMeanwhile => "was saved just now",
            ConflictReason::InTheWay => "was replaced by something else",
            ConflictReason::Unknown => "is not part of the snapshots",
            ConflictReason::Repository => "is a separate repository",
        };
        write!(f, "{} {why}", self.path)
    }
}

/// The changes that a task's attempts made to one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathHistory {
    before: Option<Entry>,
    after: Option<Entry>,
    /// Someone else changed it between two attempts.
    interrupted: bool,
}

/// Combines the changes of the attempts, in chronological order.
pub(super) fn histories(
    attempts: impl IntoIterator<Item = Vec<RawChange>>,
    except: &BTreeSet<RelPath>,
) -> BTreeMap<RelPath, PathHistory> {
    let mut histories: BTreeMap<RelPath, PathHistory> = BTreeMap::new();
    let changes = attempts.into_iter().flatten();
    for change in changes.filter(|change| !except.contains(&change.path)) {
        let history = histories.entry(change.path).or_insert_with(|| PathHistory {
            before: change.old.clone(),
            after: change.old.clone(),
            interrupted: false,
        });
        // Restoring the state before the task loses nothing, so this isn't a conflict.
        let is_as_before = change.old == history.before;
        history.interrupted = !is_as_before && (history.interrupted || history.after != change.old);
        history.after = change.new;
    }
    histories
}

/// A path that the attempts of a task changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskChange {
    /// The path.
    pub path: RelPath,
    /// Someone else changed it between two attempts of the task.
    pub between: bool,
}

/// Returns the paths that differ from their state before the task.
pub(super) fn task_changes(histories: BTreeMap<RelPath, PathHistory>) -> Vec<TaskChange> {
    let changed = histories
        .into_iter()
        .filter(|(_, history)| history.before != history.after);
    let change = changed.map(|(path, history)| TaskChange {
        path,
        between: history.interrupted,
    });
    change.collect()
}

/// The current state of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CurrentState {
    Nothing,
    Entry(Entry),
    /// It exists but isn't in the current snapshot.
    Unknown,
}

/// The action of an undo for one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum UndoAction {
    AlreadyThere,
    Restore(Entry),
    Remove,
    Keep(ConflictReason),
}

pub(super) fn decide(history: &PathHistory, now: &CurrentState) -> UndoAction {
    let now = match now {
        CurrentState::Unknown => return UndoAction::Keep(ConflictReason::Unknown),
        CurrentState::Nothing => None,
        CurrentState::Entry(entry) => Some(entry),
    };
    let is_repository = |entry: Option<&Entry>| entry.is_some_and(|e| e.mode == Mode::Repository);
    if now == history.before.as_ref() {
        UndoAction::AlreadyThere
    } else if history.interrupted {
        UndoAction::Keep(ConflictReason::ChangedBetween)
    } else if now != history.after.as_ref() {
        UndoAction::Keep(ConflictReason::ChangedSince)
    } else if is_repository(now) || is_repository(history.before.as_ref()) {
        UndoAction::Keep(ConflictReason::Repository)
    } else {
        history
            .before
            .clone()
            .map_or(UndoAction::Remove, UndoAction::Restore)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::Oid;

    fn entry(digit: &str) -> Entry {
        Entry {
            mode: Mode::File,
            oid: Oid::parse(&digit.repeat(40)).unwrap(),
        }
    }

    fn attempt(old: Option<&str>, new: Option<&str>) -> Vec<RawChange> {
        vec![RawChange {
            path: RelPath::new(*b"f").unwrap(),
            old: old.map(entry),
            new: new.map(entry),
            unmerged: false,
        }]
    }

    #[track_caller]
    fn check(attempts: &[Vec<RawChange>], now: Option<&str>, action: &UndoAction) {
        let histories = histories(attempts.iter().cloned(), &BTreeSet::new());
        let now = now.map_or(CurrentState::Nothing, |digit| {
            CurrentState::Entry(entry(digit))
        });
        let history = histories.values().next().unwrap();
        assert_eq!(decide(history, &now), *action);
    }

    #[test]
    fn several_attempts_are_undone_to_before_the_first() {
        let twice = [attempt(Some("1"), Some("2")), attempt(Some("2"), Some("3"))];
        check(&twice, Some("3"), &UndoAction::Restore(entry("1")));
        check(&twice, Some("1"), &UndoAction::AlreadyThere);
        check(
            &twice,
            Some("2"),
            &UndoAction::Keep(ConflictReason::ChangedSince),
        );
        check(
            &twice,
            None,
            &UndoAction::Keep(ConflictReason::ChangedSince),
        );
    }

    #[test]
    fn created_files_are_removed_and_deleted_ones_restored() {
        check(&[attempt(None, Some("1"))], Some("1"), &UndoAction::Remove);
        check(&[attempt(None, Some("1"))], None, &UndoAction::AlreadyThere);
        check(
            &[attempt(Some("1"), None)],
            None,
            &UndoAction::Restore(entry("1")),
        );
    }

    #[test]
    fn an_edit_between_two_attempts_is_not_lost() {
        let edited = [attempt(Some("1"), Some("2")), attempt(Some("9"), Some("3"))];
        check(
            &edited,
            Some("3"),
            &UndoAction::Keep(ConflictReason::ChangedBetween),
        );
    }

    #[test]
    fn a_revert_between_two_attempts_is_not_a_conflict() {
        let undone = [attempt(Some("1"), Some("2")), attempt(Some("1"), Some("3"))];
        check(&undone, Some("3"), &UndoAction::Restore(entry("1")));
        let after_an_edit = [
            attempt(Some("1"), Some("2")),
            attempt(Some("9"), Some("3")),
            attempt(Some("1"), Some("4")),
        ];
        check(&after_an_edit, Some("4"), &UndoAction::Restore(entry("1")));
    }

    #[test]
    fn reverted_paths_are_not_task_changes() {
        let changes = |attempts: &[Vec<RawChange>]| {
            task_changes(histories(attempts.iter().cloned(), &BTreeSet::new()))
        };
        let change = |between| TaskChange {
            path: RelPath::new(*b"f").unwrap(),
            between,
        };
        let there = attempt(Some("1"), Some("2"));
        assert_eq!(changes(std::slice::from_ref(&there)), [change(false)]);
        assert_eq!(changes(&[there.clone(), attempt(Some("2"), Some("1"))]), []);
        assert_eq!(
            changes(&[there, attempt(Some("9"), Some("3"))]),
            [change(true)]
        );
    }

    #[test]
    fn repositories_and_unknown_files_stay() {
        let mut repository = attempt(Some("1"), Some("2"));
        for entry in repository.iter_mut().flat_map(|c| [&mut c.old, &mut c.new]) {
            entry.as_mut().unwrap().mode = Mode::Repository;
        }
        let histories = histories([repository], &BTreeSet::new());
        let history = histories.values().next().unwrap();
        let now = CurrentState::Entry(history.after.clone().unwrap());
        assert_eq!(
            decide(history, &now),
            UndoAction::Keep(ConflictReason::Repository)
        );
        assert_eq!(
            decide(history, &CurrentState::Unknown),
            UndoAction::Keep(ConflictReason::Unknown)
        );
    }
}
