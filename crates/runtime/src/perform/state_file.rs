use std::io;
use std::path::Path;

use regreen_documents::{InvalidState, StateDocument, TaskFile};
use regreen_model::StateFile;
use regreen_workspace::{
    EditFileError, EditReport, ReadError, RealDisk, create_dir_all, create_file, edit_file,
    move_aside, read_text,
};

use crate::performer::{PerformError, Performer};

/// Saves the state of the run. Creates the state file if there is none, or none that can be read.
pub(crate) fn save_state(performer: &mut Performer, file: &StateFile) -> Result<(), PerformError> {
    let tasks = performer.plan.latest()?;
    let edited = match edit_state(&performer.paths.state, file, &tasks) {
        Err(EditFileError::Edit(_) | EditFileError::Read(_)) => {
            ensure_state_file(performer)?;
            edit_state(&performer.paths.state, file, &tasks)?
        }
        edited => edited?,
    };
    performer.notices.edited(&edited);
    Ok(())
}

fn edit_state(
    path: &Path,
    file: &StateFile,
    tasks: &TaskFile,
) -> Result<EditReport, EditFileError<InvalidState>> {
    edit_file(&RealDisk, path, |text| {
        let (mut state, _) = StateDocument::read(text)?;
        state.record_run(file, tasks);
        let updated = state.to_text();
        Ok((updated != text).then_some(updated))
    })
}

/// Creates the state file if there is none, or none that can be read. Keeps an unreadable one
/// beside it.
pub(crate) fn ensure_state_file(performer: &mut Performer) -> Result<(), PerformError> {
    let path = performer.paths.state.clone();
    match read_text(&RealDisk, &path) {
        Ok(file) => match StateDocument::read(&file.text) {
            Ok(_) => return Ok(()),
            Err(error) => set_aside(performer, &error.to_string())?,
        },
        Err(ReadError::NotFound { .. }) => {}
        Err(ReadError::NotUtf8 { .. }) => set_aside(performer, "not text")?,
        Err(error) => return Err(error.into()),
    }
    let tasks = performer.plan.read()?;
    if let Some(folder) = path.parent() {
        create_dir_all(&RealDisk, folder)?;
    }
    create_file(
        &RealDisk,
        &path,
        &StateDocument::from_tasks(&tasks)
            .with_identity(&performer.paths.spec.name, &folder_shown(performer))
            .to_text(),
    )?;
    Ok(())
}

fn folder_shown(performer: &Performer) -> String {
    let paths = &performer.paths;
    paths.shown(&paths.spec_folder())
}

fn set_aside(performer: &mut Performer, why: &str) -> Result<(), PerformError> {
    let path = &performer.paths.state;
    let aside = move_aside(&RealDisk, path).map_err(|error| PerformError::broken(&error))?;
    performer.notices.add(format!(
        "{} was {why}; kept it as {} and rebuilt it from the tasks",
        performer.paths.shown(path),
        performer.paths.shown(&aside)
    ));
    Ok(())
}

/// Reads the state file; an empty state if there is none, or none that can be read.
pub(super) fn read_state(performer: &Performer) -> StateDocument {
    let text = read_text(&RealDisk, &performer.paths.state);
    let state = text
        .ok()
        .and_then(|file| StateDocument::read(&file.text).ok());
    state.map(|(state, _)| state).unwrap_or_default()
}

/// Removes the state file when all is done: other tools take it for work that is left.
pub(crate) fn remove_state_file(performer: &Performer) -> Result<(), PerformError> {
    match std::fs::remove_file(&performer.paths.state) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(PerformError::broken(&error)),
        _ => Ok(()),
    }
}
