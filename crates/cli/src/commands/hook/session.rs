//! What regreen remembers of a session between its Stops, in the user's state folder.
//!
//! Claude Code sets `stop_hook_active` on every Stop after the first that a hook refused. Whether such
//! a session gets on, or only stops again and again, shows in the files of the spec.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use regreen_workspace::{MAX_FILE, read_file};
use serde::{Deserialize, Serialize};

use crate::user_state::StateRecord;

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
pub(super) struct SessionFile(StateRecord);

impl SessionFile {
    /// Returns `None` without a session, or without a folder of the user.
    pub(super) fn new(session: Option<&str>, spec: &Path) -> Option<Self> {
        let session = session.filter(|session| !session.is_empty())?;
        StateRecord::new("stop-hook", (session, spec)).map(Self)
    }

    pub(super) fn read(&self) -> Option<StopRecord> {
        self.0.read()
    }

    /// Remembers a Stop. Without it the session goes on once only.
    pub(super) fn write(&self, record: &StopRecord) {
        let _ = self.0.write(record);
    }
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
}
