//! The user's state folder, where regreen remembers things about this user, outside any workspace.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use regreen_overview::ChangeFeed;
use regreen_workspace::read_text_file;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// More bytes than any record has.
const MAX_RECORD: u64 = 64 * 1024;

/// A small file in the state folder.
#[derive(Debug)]
pub struct StateRecord(PathBuf);

impl StateRecord {
    /// Returns the record of this kind about something; `None` if the user has no home folder.
    pub fn new(kind: &str, about: impl Hash) -> Option<Self> {
        let folder = user_state_folder()?;
        let mut hasher = DefaultHasher::new();
        about.hash(&mut hasher);
        let name = format!("{:016x}.json", hasher.finish());
        Some(Self(folder.join(kind).join(name)))
    }

    /// Returns all readable records of a kind.
    pub fn all<T: DeserializeOwned>(kind: &str) -> Vec<(Self, T)> {
        let entries = user_state_folder().and_then(|folder| fs::read_dir(folder.join(kind)).ok());
        let paths = entries.into_iter().flatten().flatten();
        let records = paths.map(|entry| Self(entry.path()));
        records
            .filter_map(|record| {
                let found = record.read()?;
                Some((record, found))
            })
            .collect()
    }

    /// Returns its name among the records of its kind: letters and digits.
    pub fn name(&self) -> String {
        let stem = self.0.file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    }

    /// Reads the record; `None` if it is missing or unreadable.
    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        let text = read_text_file(&self.0, MAX_RECORD).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Writes the record, readable only by the user.
    pub fn write<T: Serialize>(&self, record: &T) -> io::Result<()> {
        if let Some(folder) = self.0.parent() {
            create_private_folder(folder)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = options.open(&self.0)?;
        file.write_all(serde_json::to_string(record)?.as_bytes())
    }

    /// Watches the folder of the records of this kind.
    pub fn watch(&self) -> io::Result<ChangeFeed> {
        let folder = self.0.parent().ok_or(io::ErrorKind::NotFound)?;
        create_private_folder(folder)?;
        ChangeFeed::new(folder)
    }

    /// Watches that folder with a feed that also watches others.
    pub fn watch_with(&self, feed: &mut ChangeFeed) -> io::Result<()> {
        let folder = self.0.parent().ok_or(io::ErrorKind::NotFound)?;
        create_private_folder(folder)?;
        feed.watch_folder(folder)
    }

    /// Removes the record, if it exists.
    pub fn forget(&self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Returns the state folder of the current user; `None` if they have no home folder.
pub fn user_state_folder() -> Option<PathBuf> {
    let xdg = std::env::var_os("XDG_STATE_HOME");
    state_folder(xdg.as_deref(), std::env::home_dir().as_deref())
}

/// Creates a folder that only the user can look into, if it doesn't exist.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder)
}

/// In `XDG_STATE_HOME`, or else in `.local/state` of the home folder; relative paths are ignored.
fn state_folder(xdg: Option<&OsStr>, home: Option<&Path>) -> Option<PathBuf> {
    let absolute = |path: &Path| path.is_absolute().then(|| path.to_owned());
    let folder = xdg
        .and_then(|folder| absolute(Path::new(folder)))
        .or_else(|| Some(absolute(home?)?.join(".local/state")))?;
    Some(folder.join("regreen"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_records_are_in_the_users_state_folder() {
        let folder = |xdg: Option<&str>, home: Option<&str>| {
            state_folder(xdg.map(OsStr::new), home.map(Path::new))
        };
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(folder(Some("/s"), Some("/h")), path("/s/regreen"));
        let at_home = path("/h/.local/state/regreen");
        assert_eq!(folder(Some("s"), Some("/h")), at_home);
        assert_eq!(folder(None, Some("/h")), at_home);
        assert_eq!(folder(None, Some("")), None);
        assert_eq!(folder(None, None), None);
    }
}
