use std::path::{Path, PathBuf};
use std::rc::Rc;

use regreen_documents::{EditError, TaskFile};
use regreen_model::TaskKey;
use regreen_workspace::{EditFileError, EditReport, ReadError, RealDisk, edit_file, read_text};

/// The task file: read again for every question, understood again only if it has changed.
#[derive(Debug)]
pub(crate) struct PlanFile {
    path: PathBuf,
    last: Option<Rc<TaskFile>>,
}

pub(crate) type EditPlanError = EditFileError<EditError>;

impl PlanFile {
    pub(crate) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            last: None,
        }
    }

    pub(crate) fn read(&mut self) -> Result<Rc<TaskFile>, ReadError> {
        let text = read_text(&RealDisk, &self.path)?.text;
        Ok(self.understand(&text))
    }

    /// As it was read or written last: for what is said about it right afterwards.
    pub(crate) fn latest(&mut self) -> Result<Rc<TaskFile>, ReadError> {
        match &self.last {
            Some(file) => Ok(Rc::clone(file)),
            None => self.read(),
        }
    }

    /// Makes a change that says what is to be true of the file as it is at that moment.
    pub(crate) fn edit(
        &mut self,
        mut change: impl FnMut(&TaskFile) -> Result<Option<TaskFile>, EditError>,
    ) -> Result<EditReport, EditPlanError> {
        let path = self.path.clone();
        let mut made = None;
        let edited = edit_file(&RealDisk, &path, |text| {
            let file = self.understand(text);
            made = change(&file)?.map(Rc::new);
            Ok(made.as_ref().map(|file| file.text().to_owned()))
        })?;
        if made.is_some() {
            self.last = made;
        }
        Ok(edited)
    }

    /// The box of a task is to be so. A task that is gone has none.
    pub(crate) fn set_box(
        &mut self,
        task: &TaskKey,
        done: bool,
    ) -> Result<EditReport, EditPlanError> {
        self.edit(|file| file.box_set(task, done))
    }

    fn understand(&mut self, text: &str) -> Rc<TaskFile> {
        match &self.last {
            Some(file) if file.text() == text => Rc::clone(file),
            _ => {
                let file = Rc::new(TaskFile::read(text));
                self.last = Some(Rc::clone(&file));
                file
            }
        }
    }
}
