//! What regreen remembers about a session between its Stops, in the user's state folder.
//!
//! Claude Code sets `stop_hook_active` on every Stop after the first one that a hook refused. The
//! files of the spec show whether such a session makes progress, or only stops again and again.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use regreen_workspace::{MAX_FILE, read_file};
use serde::{Deserialize, Serialize};

use crate::user_state::StateRecord;

/// The last Stop of a session that regreen refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StopRecord {
    /// How many Stops it has refused.
    pub(super) stops: u32,
    /// A hash of the task file, the progress file and the task's Files at that time.
    pub(super) work: String,
}

/// The file with a session's record.
#[derive(Debug)]
pub(super) struct SessionFile(StateRecord);

impl SessionFile {
    /// Returns `None` without a session, or if the user has no state folder.
    pub(super) fn new(session: Option<&str>, spec: &Path) -> Option<Self> {
        let session = session.filter(|session| !session.is_empty())?;
        StateRecord::new("stop-hook", (session, spec)).map(Self)
    }

    pub(super) fn read(&self) -> Option<StopRecord> {
        self.0.read()
    }

    /// Records a Stop. If that fails, the session continues only once.
    pub(super) fn write(&self, record: &StopRecord) {
        let _ = self.0.write(record);
    }
}

/// Returns a hash of the files that show progress.
pub(super) fn work_of(files: &[PathBuf]) -> String {
    let mut hasher = DefaultHasher::new();
    for file in files {
        (file, read_file(file, MAX_FILE).ok()).hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

/// Whether a session that stops again has made progress since, and has Stops left.
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
