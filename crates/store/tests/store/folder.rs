use std::path::PathBuf;

use regreen_store::Store;
use tempfile::TempDir;

pub(crate) const NOON: i64 = 1_763_294_400_000;

/// A folder with room for one store.
pub(crate) struct Folder(TempDir);

impl Folder {
    /// In memory where there is such a place: most tests are about what is stored, and need
    /// not wait for a disk.
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap()))
    }

    pub(crate) fn on_disk() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.path("regreen.db")
    }

    pub(crate) fn open(&self) -> Store {
        Store::open(&self.file(), NOON).unwrap()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}
