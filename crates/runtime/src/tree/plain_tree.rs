use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use regreen_model::Timestamp;
use regreen_workspace::{HashLimits, HashSnapshot, RelPath};

use super::Left;
use crate::clock;

/// A tree without git: fingerprints of its files.
#[derive(Debug)]
pub(crate) struct PlainTree {
    root: PathBuf,
    /// What is written there about the work is not the work.
    own: BTreeSet<RelPath>,
    last: Option<HashSnapshot>,
}

impl PlainTree {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            own: BTreeSet::new(),
            last: None,
        }
    }

    pub(super) fn begin(&mut self, own: &BTreeSet<RelPath>) {
        self.own = own.clone();
    }

    pub(super) fn before(&mut self, now: Timestamp) {
        let taken = self.take(now);
        self.last = Some(taken);
    }

    /// After an attempt whose beginning nobody saw, nothing is known.
    pub(super) fn after(&mut self, now: Timestamp) -> Left {
        let after = self.take(now);
        let changes = self
            .last
            .as_ref()
            .map(|before| before.changed_files(&after));
        let changed = changes.into_iter().flatten().map(|change| change.path);
        let left = Left {
            changed: changed.collect(),
            ..Left::default()
        };
        self.last = Some(after);
        left
    }

    fn take(&self, now: Timestamp) -> HashSnapshot {
        let limits = HashLimits::default();
        HashSnapshot::take_excluding(
            &self.own,
            &self.root,
            self.last.as_ref(),
            limits,
            clock::system_time(now),
        )
    }
}
