//! Looks failures up in the user's history during a run or delegation.

use std::path::Path;

use regreen_history::Lookup;
use regreen_model::{Experience, FailureRecord};
use regreen_runtime::Memory;

use crate::config::Settings;
use crate::learned::{open_history, workspace};

/// The user's history, as it is when a failure is looked up.
#[derive(Debug)]
pub struct UserHistory {
    workspace: String,
    share: bool,
}

impl UserHistory {
    pub fn new(root: &Path, settings: &Settings) -> Self {
        Self {
            workspace: workspace(root).path,
            share: settings.history_share.value,
        }
    }
}

impl Memory for UserHistory {
    /// A history that can't be read is reported when the run ends, and knows nothing.
    fn recall(&self, failure: &FailureRecord, task: &str) -> Option<Experience> {
        let lookup = Lookup::of(failure, &self.workspace, task, self.share);
        let history = open_history().ok()??;
        history.recall(&lookup).ok()?
    }
}
