//! A spec with a task that fails again and again.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::PathBuf;

use regreen_documents::{EditError, InsertPosition, InvalidState, StateDocument, TaskFile};
use regreen_model::{FixOrigin, NewTask, TaskId, TaskKey};
use regreen_workspace::{EditFileError, ReadError, RealDisk, WriteMethod, edit_file, read_text};
use tempfile::TempDir;

use crate::made_up_file::Style;

pub(crate) struct Patient {
    folder: TempDir,
    plan: String,
    key: TaskKey,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum HealError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    StateDocument(#[from] InvalidState),
    #[error(transparent)]
    Edit(#[from] EditFileError<EditError>),
    #[error("the task is not in the file")]
    NoTask,
    #[error("it was written otherwise than usual: {0:?}")]
    NotAsUsual(WriteMethod),
}

impl Patient {
    pub(crate) fn new(style: Style, tasks: usize) -> Result<Self, HealError> {
        let plan = style.file(tasks);
        let file = TaskFile::read(plan.as_str());
        let id = TaskId::parse(&style.id(tasks / 2 + 1)).ok_or(HealError::NoTask)?;
        let row = file.rows_with_id(&id).next().ok_or(HealError::NoTask)?;
        let patient = Self {
            key: file.key(row).ok_or(HealError::NoTask)?,
            folder: tempfile::tempdir()?,
            plan,
        };
        // With a result for every task, as in a real state file.
        fs::write(
            patient.path(".ralph-state.json"),
            StateDocument::from_tasks(&file).to_text(),
        )?;
        Ok(patient)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Restores the file from before any fix.
    pub(crate) fn fall_ill(&self) -> Result<(), HealError> {
        Ok(fs::write(self.path("tasks.md"), &self.plan)?)
    }

    pub(crate) fn heal(&self) -> Result<(), HealError> {
        let path = self.path("tasks.md");
        let plan = TaskFile::read(read_text(&RealDisk, &path)?.text);
        let id = self.next_id(&plan)?;
        let edited = edit_file(&RealDisk, &path, |text| match text == plan.text() {
            true => self.insert(&plan, &id),
            false => self.insert(&TaskFile::read(text), &id),
        })?;
        match edited.written {
            WriteMethod::ByExchange => Ok(()),
            written => Err(HealError::NotAsUsual(written)),
        }
    }

    /// Writes the same bytes durably in the plainest way.
    pub(crate) fn write_bare(&self) -> Result<(), HealError> {
        let (new, path) = (self.path("new"), self.path("bare.md"));
        let mut file = File::create(&new)?;
        file.write_all(self.plan.as_bytes())?;
        file.sync_all()?;
        fs::rename(new, path)?;
        Ok(File::open(self.folder.path())?.sync_all()?)
    }

    /// Returns the id of the next fix, if one is allowed.
    fn next_id(&self, plan: &TaskFile) -> Result<TaskId, HealError> {
        let state = read_text(&RealDisk, &self.path(".ralph-state.json"))?;
        let (state, _) = StateDocument::read(&state.text)?;
        let map = state.fix_task_map();
        let row = plan.resolve(&self.key).ok_or(HealError::NoTask)?;
        let budget = plan.fix_budget(row, &map).ok_or(HealError::NoTask)?;
        let id = plan.next_fix_id(row, &map);
        id.filter(|_| budget.fixes == 0).ok_or(HealError::NoTask)
    }

    fn insert(&self, plan: &TaskFile, id: &TaskId) -> Result<Option<String>, EditError> {
        let row = plan.resolve(&self.key).ok_or(EditError::NoSuchRow)?;
        let task = plan.task(row).ok_or(EditError::NoSuchRow)?;
        let origin = FixOrigin {
            error: "Error: Cannot find module './router'".to_owned(),
            attempted_fix: "Checked the import path".to_owned(),
            scope: "handlers".to_owned(),
            error_type: "missing file".to_owned(),
            ..FixOrigin::default()
        };
        let fix = NewTask::fix(id.clone(), &self.key.id, &task, &origin);
        let made = plan.insert(&fix, InsertPosition::After(row))?.edited();
        Ok(made.map(|file| file.text().to_owned()))
    }
}
