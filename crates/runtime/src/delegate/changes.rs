use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use regreen_workspace::{ChangeKind, HashLimits, HashSnapshot};

use crate::clock;

/// Finds the files that attempts change. Uses fingerprints instead of git: a run may be active in
/// the same tree, and the git snapshots are its own.
#[derive(Debug)]
pub(super) struct FileTracker {
    root: PathBuf,
    last: HashSnapshot,
}

/// The files that an attempt changed.
#[derive(Clone, Debug, Default)]
pub(super) struct FileChanges {
    kinds: BTreeMap<String, ChangeKind>,
}

impl FileTracker {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            last: take(root, None),
        }
    }

    /// Returns the changes since the last call.
    pub(super) fn changes(&mut self) -> FileChanges {
        let now = take(&self.root, Some(&self.last));
        let changes = self.last.changed_files(&now).into_iter();
        let kinds = changes.map(|change| (change.path.to_string(), change.kind));
        let changes = FileChanges {
            kinds: kinds.collect(),
        };
        self.last = now;
        changes
    }
}

fn take(root: &Path, previous: Option<&HashSnapshot>) -> HashSnapshot {
    let now = clock::system_time(clock::now());
    HashSnapshot::take(root, previous, HashLimits::default(), now)
}

impl FileChanges {
    pub(super) fn files(&self) -> Vec<String> {
        self.kinds.keys().cloned().collect()
    }

    /// Describes the changes as counts: `Created 2 files`.
    pub(super) fn steps(&self) -> Vec<String> {
        let kinds = [
            ("Created", ChangeKind::Added),
            ("Modified", ChangeKind::Modified),
            ("Deleted", ChangeKind::Deleted),
        ];
        let counted = kinds.map(|(word, kind)| {
            let count = self.kinds.values().filter(|found| **found == kind).count();
            (word, count)
        });
        let done = counted.into_iter().filter(|(_, count)| *count > 0);
        done.map(|(word, count)| match count {
            1 => format!("{word} 1 file"),
            count => format!("{word} {count} files"),
        })
        .collect()
    }
}
