//! What regreen remembers of a session between its Stops, in the user's state folder.
//!
//! Claude Code sets `stop_hook_active` on every Stop after the first that a hook refused. Whether such
//! a session gets on, or only stops again and again, shows in the files of the spec.

use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use regreen_workspace::{MAX_FILE, read_file, read_text_file};
use serde::{Deserialize, Serialize};

/// More than any record has.
const MAX_RECORD: u64 = 4 * 1024;

/// The last Stop of a session that regreen refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StopRecord {
    /// How often it refused.
    pub(super) stops: u32,
    /// The work as it was then: a hash of the task file, the progress file and the task's Files.
    pub(super) work: String,
}

/// Where a session's record is.
#[derive(Debug)]
pub(super) struct SessionFile(PathBuf);

impl SessionFile {
    /// Returns `None` without a session, or without a folder of the user.
    pub(super) fn new(session: Option<&str>, spec: &Path) -> Option<Self> {
        let xdg = std::env::var_os("XDG_STATE_HOME");
        let folder = state_folder(xdg.as_deref(), std::env::home_dir().as_deref())?;
        let mut hasher = DefaultHasher::new();
        (session.filter(|session| !session.is_empty())?, spec).hash(&mut hasher);
        let name = format!("{:016x}.json", hasher.finish());
        Some(Self(folder.join("stop-hook").join(name)))
    }

    pub(super) fn read(&self) -> Option<StopRecord> {
        let text = read_text_file(&self.0, MAX_RECORD).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Remembers a Stop. Without it the session goes on once only.
    pub(super) fn write(&self, record: &StopRecord) {
        let folder = self.0.parent().map(fs::create_dir_all);
        if folder.is_some_and(|made| made.is_ok()) {
            let text = serde_json::to_string(record).unwrap_or_default();
            let _ = fs::write(&self.0, text);
        }
    }
}

/// In `XDG_STATE_HOME`, else in `.local/state` of the home folder; relative paths don't count.
fn state_folder(xdg: Option<&OsStr>, home: Option<&Path>) -> Option<PathBuf> {
    let absolute = |path: &Path| path.is_absolute().then(|| path.to_owned());
    let folder = xdg
        .and_then(|folder| absolute(Path::new(folder)))
        .or_else(|| Some(absolute(home?)?.join(".local/state")))?;
    Some(folder.join("regreen"))
}

/// Returns a hash of the files that show whether a session gets on.
pub(super) fn work_of(files: &[PathBuf]) -> String {
    let mut hasher = DefaultHasher::new();
    for file in files {
        (file, read_file(file, MAX_FILE).ok()).hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

/// Returns whether a session that stops again has got on since, and has not used up its Stops.
pub(super) fn has_got_on(record: Option<&StopRecord>, work: &str, limit: u32) -> bool {
    record.is_some_and(|record| record.work != work && record.stops < limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_gets_on_if_it_is_known_and_its_work_has_changed() {
        let record = StopRecord {
            stops: 3,
            work: "a".to_owned(),
        };
        assert!(has_got_on(Some(&record), "b", 4));
        assert!(!has_got_on(Some(&record), "b", 3));
        assert!(!has_got_on(Some(&record), "a", 4));
        assert!(!has_got_on(None, "b", 4));
    }

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
