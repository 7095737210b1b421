//! Smart-ralph's files about several specs, where a project has them.

use std::path::{Path, PathBuf};

use regreen_documents::{
    EditError, epic_with_completed, index_page_with_completed, index_with_completed,
};
use regreen_workspace::{EditFileError, ReadError, RealDisk, edit_file, specs_folders};

use super::state_file::read_state;
use crate::performer::{PerformError, Performer};

/// Notes in the epic of a spec, and in the index of all specs, that the spec is done.
pub(crate) fn note_completed(performer: &mut Performer) -> Result<(), PerformError> {
    let spec = performer.paths.spec.name.clone();
    let state = read_state(performer);
    let folder = specs_folder(performer);
    // A name is one plain folder: it comes from a file of the repository.
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let epic = state
        .epic()
        .filter(|name| !name.is_empty() && name.chars().all(is_plain));
    if let Some(epic) = epic {
        let file = folder.join("_epics").join(epic).join(".epic-state.json");
        edit(performer, &file, |text| epic_with_completed(text, &spec))?;
    }
    let tasks = performer.plan.latest()?.runnable(false);
    let tasks = u32::try_from(tasks).unwrap_or(u32::MAX);
    let index = folder.join(".index");
    edit(performer, &index.join("index-state.json"), |text| {
        index_with_completed(text, &spec, tasks)
    })?;
    edit(performer, &index.join("index.md"), |text| {
        index_page_with_completed(text, &spec)
    })
}

fn specs_folder(performer: &Performer) -> PathBuf {
    let root = &performer.paths.root;
    let folders = specs_folders(&RealDisk, root);
    root.join(folders.first().cloned().unwrap_or_default())
}

/// Edits a file of the workspace that may be missing.
fn edit(
    performer: &mut Performer,
    file: &Path,
    change: impl Fn(&str) -> Option<String>,
) -> Result<(), PerformError> {
    match edit_file(&RealDisk, file, |text| Ok::<_, EditError>(change(text))) {
        Ok(edited) => performer.notices.edited(&edited),
        Err(EditFileError::Read(ReadError::NotFound { .. })) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
