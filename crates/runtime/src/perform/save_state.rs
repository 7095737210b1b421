use std::io;
use std::path::Path;

use regreen_documents::{InvalidState, StateDocument, TaskFile};
use regreen_model::StateFile;
use regreen_workspace::{
    EditFileError, EditReport, ReadError, RealDisk, create_dir_all, create_file, edit_file,
    move_aside, read_text,
};

use crate::perform_error::PerformError;
use crate::performer::Performer;

/// The state file is to say where the run stands. Where there is none, or none that can be
/// read, it is made anew first.
pub(crate) fn save_state(performer: &mut Performer, file: &StateFile) -> Result<(), PerformError> {
    let tasks = performer.plan.latest()?;
    let edited = match edit_state(&performer.places.state, file, &tasks) {
        Err(EditFileError::Edit(_) | EditFileError::Read(_)) => {
            sound_state(performer)?;
            edit_state(&performer.places.state, file, &tasks)?
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

/// Makes the state file if there is none, and makes it anew if it cannot be read; what was
/// there is kept beside it.
pub(crate) fn sound_state(performer: &mut Performer) -> Result<(), PerformError> {
    let path = performer.places.state.clone();
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
        &StateDocument::from_tasks(&tasks).to_text(),
    )?;
    Ok(())
}

fn set_aside(performer: &mut Performer, why: &str) -> Result<(), PerformError> {
    let path = &performer.places.state;
    let aside = move_aside(&RealDisk, path).map_err(|error| PerformError::broken(&error))?;
    performer.notices.add(format!(
        "{} was {why}: it is kept as {}, and made anew from the tasks",
        performer.places.shown(path),
        performer.places.shown(&aside)
    ));
    Ok(())
}

/// All is done: other tools take a state file for work that is left.
pub(crate) fn forget_state(performer: &Performer) -> Result<(), PerformError> {
    match std::fs::remove_file(&performer.places.state) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(PerformError::broken(&error)),
        _ => Ok(()),
    }
}
