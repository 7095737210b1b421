use std::convert::Infallible;

use regreen_documents::ProgressFile;
use regreen_engine::Record;
use regreen_workspace::{ReadError, RealDisk, create_dir_all, create_file, edit_file, read_text};

use super::fix;
use crate::perform_error::PerformError;
use crate::performer::Performer;

/// The progress file is to say that a task is completed, and how it was healed if it was.
pub(crate) fn record(performer: &mut Performer, record: &Record) -> Result<(), PerformError> {
    let healed = fix::passed(performer, &record.task)?;
    edit_progress(performer, |progress| {
        let (task, hash) = (&record.task, record.hash.as_deref());
        let progress = progress.completed(&task.id, &task.title, hash);
        match &healed {
            Some(history) => progress.fix_history(history),
            None => progress,
        }
    })
}

/// Edits the progress file, which is made if there is none. `say` tells what is to stand in
/// it, and may be asked more than once.
pub(super) fn edit_progress(
    performer: &mut Performer,
    say: impl Fn(ProgressFile) -> ProgressFile,
) -> Result<(), PerformError> {
    let path = &performer.places.progress;
    match read_text(&RealDisk, path) {
        Err(ReadError::NotFound { .. }) => {
            if let Some(folder) = path.parent() {
                create_dir_all(&RealDisk, folder)?;
            }
            create_file(&RealDisk, path, say(ProgressFile::read("")).text())?;
        }
        Err(error) => return Err(error.into()),
        Ok(_) => {
            let edited = edit_file(&RealDisk, path, |text| {
                let said = say(ProgressFile::read(text));
                let is_new = said.text() != text;
                Ok::<_, Infallible>(is_new.then(|| said.text().to_owned()))
            })?;
            performer.notices.edited(&edited);
        }
    }
    Ok(())
}
