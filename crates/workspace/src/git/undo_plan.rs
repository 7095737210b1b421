//! Decides what taking a task's changes back means for each path, without touching any.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::RelPath;

use super::raw_diff::{Entry, Mode, RawChange};

/// A path whose change cannot be taken back without losing something else.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UndoConflict {
    pub path: RelPath,
    pub why: WhyKept,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WhyKept {
    /// It is not what the task's last attempt left.
    ChangedSince,
    /// Somebody else changed it between two attempts of the task.
    ChangedBetween,
    /// It was saved at the very moment it was to be taken back.
    ChangedMeanwhile,
    /// Something that is not the task's stands in its place, or in that of its folder.
    InTheWay,
    /// What stands there is in no snapshot: ignored, unreadable or too large.
    Unknown,
    /// It is a repository of its own, of which only the commit is known.
    Repository,
}

impl fmt::Display for UndoConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.why {
            WhyKept::ChangedSince => "was changed after the task",
            WhyKept::ChangedBetween => "was changed by somebody else between two attempts",
            WhyKept::ChangedMeanwhile => "was saved just now",
            WhyKept::InTheWay => "has something else in its place",
            WhyKept::Unknown => "is not part of the snapshots",
            WhyKept::Repository => "is a repository of its own",
        };
        write!(f, "{} {why}", self.path)
    }
}

/// What the attempts of a task made of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Story {
    before: Option<Entry>,
    after: Option<Entry>,
    /// An attempt found it other than the one before had left it.
    interrupted: bool,
}

/// Joins what each attempt changed, in their order.
pub(super) fn stories(
    attempts: impl IntoIterator<Item = Vec<RawChange>>,
    except: &BTreeSet<RelPath>,
) -> BTreeMap<RelPath, Story> {
    let mut stories: BTreeMap<RelPath, Story> = BTreeMap::new();
    let changes = attempts.into_iter().flatten();
    for change in changes.filter(|change| !except.contains(&change.path)) {
        let story = stories.entry(change.path).or_insert_with(|| Story {
            before: change.old.clone(),
            after: change.old.clone(),
            interrupted: false,
        });
        // Whoever put it back to what it was before the task lost nothing that is to stay.
        let is_as_before = change.old == story.before;
        story.interrupted = !is_as_before && (story.interrupted || story.after != change.old);
        story.after = change.new;
    }
    stories
}

/// A path that the attempts of a task changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskChange {
    pub path: RelPath,
    /// Somebody else changed it between two attempts of the task.
    pub between: bool,
}

/// Leaves out what came back to what it was.
pub(super) fn task_changes(stories: BTreeMap<RelPath, Story>) -> Vec<TaskChange> {
    let changed = stories
        .into_iter()
        .filter(|(_, story)| story.before != story.after);
    let change = changed.map(|(path, story)| TaskChange {
        path,
        between: story.interrupted,
    });
    change.collect()
}

/// What stands at a path now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Now {
    Nothing,
    Entry(Entry),
    /// Something that the snapshot of this moment does not hold.
    Unknown,
}

/// What to do about one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    AlreadyThere,
    Restore(Entry),
    Remove,
    Keep(WhyKept),
}

pub(super) fn judge(story: &Story, now: &Now) -> Verdict {
    let now = match now {
        Now::Unknown => return Verdict::Keep(WhyKept::Unknown),
        Now::Nothing => None,
        Now::Entry(entry) => Some(entry),
    };
    let is_repository = |entry: Option<&Entry>| entry.is_some_and(|e| e.mode == Mode::Repository);
    if now == story.before.as_ref() {
        Verdict::AlreadyThere
    } else if story.interrupted {
        Verdict::Keep(WhyKept::ChangedBetween)
    } else if now != story.after.as_ref() {
        Verdict::Keep(WhyKept::ChangedSince)
    } else if is_repository(now) || is_repository(story.before.as_ref()) {
        Verdict::Keep(WhyKept::Repository)
    } else {
        story
            .before
            .clone()
            .map_or(Verdict::Remove, Verdict::Restore)
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
    fn check(attempts: &[Vec<RawChange>], now: Option<&str>, verdict: &Verdict) {
        let stories = stories(attempts.iter().cloned(), &BTreeSet::new());
        let now = now.map_or(Now::Nothing, |digit| Now::Entry(entry(digit)));
        let story = stories.values().next().unwrap();
        assert_eq!(judge(story, &now), *verdict);
    }

    #[test]
    fn several_attempts_go_back_to_before_the_first() {
        let twice = [attempt(Some("1"), Some("2")), attempt(Some("2"), Some("3"))];
        check(&twice, Some("3"), &Verdict::Restore(entry("1")));
        check(&twice, Some("1"), &Verdict::AlreadyThere);
        check(&twice, Some("2"), &Verdict::Keep(WhyKept::ChangedSince));
        check(&twice, None, &Verdict::Keep(WhyKept::ChangedSince));
    }

    #[test]
    fn what_was_made_goes_and_what_went_comes_back() {
        check(&[attempt(None, Some("1"))], Some("1"), &Verdict::Remove);
        check(&[attempt(None, Some("1"))], None, &Verdict::AlreadyThere);
        check(
            &[attempt(Some("1"), None)],
            None,
            &Verdict::Restore(entry("1")),
        );
    }

    #[test]
    fn an_edit_between_two_attempts_is_not_lost() {
        let edited = [attempt(Some("1"), Some("2")), attempt(Some("9"), Some("3"))];
        check(&edited, Some("3"), &Verdict::Keep(WhyKept::ChangedBetween));
    }

    #[test]
    fn what_was_put_back_between_two_attempts_is_no_loss() {
        let undone = [attempt(Some("1"), Some("2")), attempt(Some("1"), Some("3"))];
        check(&undone, Some("3"), &Verdict::Restore(entry("1")));
        let after_an_edit = [
            attempt(Some("1"), Some("2")),
            attempt(Some("9"), Some("3")),
            attempt(Some("1"), Some("4")),
        ];
        check(&after_an_edit, Some("4"), &Verdict::Restore(entry("1")));
    }

    #[test]
    fn what_a_task_changed_leaves_out_what_came_back() {
        let changes = |attempts: &[Vec<RawChange>]| {
            task_changes(stories(attempts.iter().cloned(), &BTreeSet::new()))
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
    fn repositories_and_unknown_things_stay() {
        let mut repository = attempt(Some("1"), Some("2"));
        for entry in repository.iter_mut().flat_map(|c| [&mut c.old, &mut c.new]) {
            entry.as_mut().unwrap().mode = Mode::Repository;
        }
        let stories = stories([repository], &BTreeSet::new());
        let story = stories.values().next().unwrap();
        let now = Now::Entry(story.after.clone().unwrap());
        assert_eq!(judge(story, &now), Verdict::Keep(WhyKept::Repository));
        assert_eq!(judge(story, &Now::Unknown), Verdict::Keep(WhyKept::Unknown));
    }
}
