//! Decisions about tasks of a run that is at work, until it carries them out.
//!
//! `regreen skip`, `done` and `retry` change the plan themselves if no run is active. A tick during a run would be
//! mistaken for a claim by its agent, so they leave a request in the user's state folder, and the run carries it out
//! as soon as nothing is running. If the run ends first, the next one does, or the next decision.

use std::io;
use std::path::PathBuf;

use regreen_model::{ChoiceKind, TaskKey};
use regreen_overview::ChangeFeed;
use regreen_runtime::SpecPaths;
use serde::{Deserialize, Serialize};

use crate::user_state::StateRecord;

/// The kind of these records in the state folder.
const KIND: &str = "requests";

/// A decision about a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    root: PathBuf,
    spec: String,
    pub task: TaskKey,
    pub what: ChoiceKind,
}

impl Request {
    fn is_about(&self, paths: &SpecPaths) -> bool {
        self.root == paths.root && self.spec == paths.spec_key()
    }
}

fn record(paths: &SpecPaths, task: &TaskKey) -> Option<StateRecord> {
    StateRecord::new(KIND, (&paths.root, paths.spec_key(), task))
}

/// Asks the run to carry out a decision. A later one about the same task takes its place.
pub fn make(paths: &SpecPaths, task: &TaskKey, what: ChoiceKind) -> io::Result<()> {
    let no_folder = || io::Error::other("there is no home folder to keep the decision in");
    let request = Request {
        root: paths.root.clone(),
        spec: paths.spec_key(),
        task: task.clone(),
        what,
    };
    record(paths, task).ok_or_else(no_folder)?.write(&request)
}

/// Drops the request about a task.
pub fn forget(paths: &SpecPaths, task: &TaskKey) {
    if let Some(record) = record(paths, task) {
        record.forget();
    }
}

/// Returns the requests about tasks of a spec.
pub fn all(paths: &SpecPaths) -> Vec<Request> {
    let all = StateRecord::all::<Request>(KIND).into_iter();
    all.map(|(_, request)| request)
        .filter(|request| request.is_about(paths))
        .collect()
}

/// Whether there are any.
pub fn is_any(paths: &SpecPaths) -> bool {
    !all(paths).is_empty()
}

/// Also watches for requests.
pub fn watch_too(feed: &mut ChangeFeed) {
    if let Some(record) = StateRecord::new(KIND, "") {
        // Without it, they are taken when the run looks again.
        let _ = record.watch_with(feed);
    }
}
