use std::sync::{Mutex, PoisonError};

use super::repository::Oid;
use super::scratch_index::Stamp;
use super::settings::SettingsMemory;

/// Answers from git that remain valid, shared by the clones of a [`super::Git`].
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) settings: Mutex<SettingsMemory>,
    commit: Mutex<Option<Oid>>,
    clean: Mutex<Option<(Oid, Stamp)>>,
}

impl Memory {
    /// Remembers that git has found a commit with this name.
    pub(super) fn remember_commit(&self, oid: &Oid) {
        set(&self.commit, Some(oid.clone()));
    }

    /// Returns whether git has found a commit with this name.
    pub(super) fn is_commit(&self, oid: &Oid) -> bool {
        get(&self.commit).as_ref() == Some(oid)
    }

    /// Remembers a version of the user's index in which nothing is staged.
    pub(super) fn remember_clean(&self, head: &Oid, index: Stamp) {
        set(&self.clean, Some((head.clone(), index)));
    }

    /// Returns whether nothing is staged in this version of the user's index.
    pub(super) fn is_clean(&self, head: &Oid, index: &Stamp) -> bool {
        let clean = get(&self.clean);
        clean.is_some_and(|(of, stamp)| of == *head && stamp == *index)
    }
}

fn get<T: Clone>(slot: &Mutex<T>) -> T {
    let slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
    slot.clone()
}

fn set<T>(slot: &Mutex<T>, value: T) {
    *slot.lock().unwrap_or_else(PoisonError::into_inner) = value;
}
