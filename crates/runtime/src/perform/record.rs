use std::convert::Infallible;

use regreen_documents::Progress;
use regreen_engine::Record;
use regreen_workspace::{ReadError, RealDisk, create_dir_all, create_file, edit_file, read_text};

use crate::perform_error::PerformError;
use crate::performer::Performer;

/// The progress file is to say that a task is completed.
pub(crate) fn record(performer: &mut Performer, record: &Record) -> Result<(), PerformError> {
    let path = &performer.places.progress;
    let said = |text: &str| {
        let (task, hash) = (&record.task, record.hash.as_deref());
        Progress::read(text).completed(&task.id, &task.title, hash)
    };
    match read_text(&RealDisk, path) {
        Err(ReadError::NotFound { .. }) => {
            if let Some(folder) = path.parent() {
                create_dir_all(&RealDisk, folder)?;
            }
            create_file(&RealDisk, path, said("").text())?;
        }
        Err(error) => return Err(error.into()),
        Ok(_) => {
            let edited = edit_file(&RealDisk, path, |text| {
                let said = said(text);
                let is_new = said.text() != text;
                Ok::<_, Infallible>(is_new.then(|| said.text().to_owned()))
            })?;
            performer.notices.edited(&edited);
        }
    }
    Ok(())
}
