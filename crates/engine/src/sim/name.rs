//! What a row is called in a simulation, whatever people make of its id and its title.

use regreen_documents::TaskFile;
use regreen_model::{Task, TaskKey};

/// The first word of its title; of a fix, its id.
pub(super) fn name_of(key: &TaskKey) -> String {
    match key.title.split_whitespace().next() {
        Some("Fix:") | None => key.id.to_string(),
        Some(name) => name.to_owned(),
    }
}

pub(super) fn name_of_task(task: &Task) -> Option<String> {
    task.key().as_ref().map(name_of)
}

/// Every task of a file by name.
pub(super) fn names(file: &TaskFile) -> impl Iterator<Item = String> {
    let keys = file.rows().filter_map(|row| file.key(row));
    keys.map(|key| name_of(&key))
}
