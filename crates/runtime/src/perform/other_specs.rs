//! Smart-ralph's files about several specs, in projects that have them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use regreen_documents::{
    EditError, epic_with_completed, index_page_with_completed, index_with_completed,
};
use regreen_workspace::{EditFileError, ReadError, RealDisk, RelPath, edit_file, specs_folders};

use super::state_file::read_state;
use crate::performer::{PerformError, Performer};

/// Marks the spec as completed in its epic and in the index of all specs. Returns these files.
pub(crate) fn note_completed(performer: &mut Performer) -> Result<BTreeSet<RelPath>, PerformError> {
    let spec = performer.paths.spec.name.clone();
    let state = read_state(&performer.paths);
    let folder = specs_folder(performer);
    let mut files = BTreeSet::new();
    // A name must be one plain folder, because it comes from a file in the repository.
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let epic = state
        .epic()
        .filter(|name| !name.is_empty() && name.chars().all(is_plain));
    if let Some(epic) = epic {
        let file = folder.join("_epics").join(epic).join(".epic-state.json");
        files.extend(edit(performer, &file, |text| {
            epic_with_completed(text, &spec)
        })?);
    }
    let tasks = performer.plan.latest()?.runnable(false);
    let tasks = u32::try_from(tasks).unwrap_or(u32::MAX);
    let index = folder.join(".index");
    files.extend(edit(performer, &index.join("index-state.json"), |text| {
        index_with_completed(text, &spec, tasks)
    })?);
    files.extend(edit(performer, &index.join("index.md"), |text| {
        index_page_with_completed(text, &spec)
    })?);
    Ok(files)
}

fn specs_folder(performer: &Performer) -> PathBuf {
    let root = &performer.paths.root;
    let folders = specs_folders(&RealDisk, root);
    root.join(folders.first().cloned().unwrap_or_default())
}

/// Edits a file in the workspace, if it exists, and returns its path.
fn edit(
    performer: &mut Performer,
    file: &Path,
    change: impl Fn(&str) -> Option<String>,
) -> Result<Option<RelPath>, PerformError> {
    match edit_file(&RealDisk, file, |text| Ok::<_, EditError>(change(text))) {
        Ok(edited) => performer.notices.edited(&edited),
        Err(EditFileError::Read(ReadError::NotFound { .. })) => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    Ok(RelPath::inside(&performer.paths.root, file).ok())
}
