//! Edits of a task file. Each is the smallest change that does the job.

use std::ops::Range;

use regreen_model::TaskId;
use thiserror::Error;

use super::edit_guard::{self, GuardError, Insertion};
use super::row::RowId;
use super::task_file::TaskFile;

/// The result of an edit.
#[derive(Clone, Debug)]
pub enum Change {
    /// The file already is that way.
    Unchanged,
    /// The edited file, parsed again.
    Edited(TaskFile),
}

impl Change {
    /// Returns the edited file, or `file` if nothing changed.
    #[must_use]
    pub fn into_file(self, file: TaskFile) -> TaskFile {
        match self {
            Self::Unchanged => file,
            Self::Edited(edited) => edited,
        }
    }

    /// Returns the edited file, if anything changed.
    #[must_use]
    pub fn edited(self) -> Option<TaskFile> {
        match self {
            Self::Unchanged => None,
            Self::Edited(edited) => Some(edited),
        }
    }
}

/// Why a task file was not edited.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EditError {
    /// The row isn't in this text.
    #[error("the row is not in this text")]
    NoSuchRow,
    /// The row is a checklist item.
    #[error("the row has no id, so it is a checklist item that regreen does not touch")]
    Checklist,
    /// Another task already has the id.
    #[error("the id {0} is already used by another task")]
    IdTaken(TaskId),
    /// The edit would change more than intended. Nothing is written.
    #[error("the edit would change more than intended: {0}")]
    Refused(#[from] GuardError),
}

/// A replacement of bytes in a text.
#[derive(Clone, Debug)]
pub(crate) struct Splice {
    pub(crate) at: Range<usize>,
    pub(crate) with: String,
}

impl Splice {
    fn applied_to(&self, text: &str) -> Option<String> {
        let (before, after) = (text.get(..self.at.start)?, text.get(self.at.end..)?);
        Some([before, &self.with, after].concat())
    }
}

impl TaskFile {
    /// Ticks a row.
    ///
    /// # Errors
    /// Returns an error if the row is unknown or a checklist item, or the edit would change
    /// anything else.
    pub fn tick(&self, row: RowId) -> Result<Change, EditError> {
        self.set_box(row, true)
    }

    /// Unticks a row.
    ///
    /// # Errors
    /// Fails like [`TaskFile::tick`].
    pub fn untick(&self, row: RowId) -> Result<Change, EditError> {
        self.set_box(row, false)
    }

    /// Ticks or unticks a row.
    ///
    /// # Errors
    /// Fails like [`TaskFile::tick`].
    pub fn set_box(&self, id: RowId, done: bool) -> Result<Change, EditError> {
        let row = self.row(id).ok_or(EditError::NoSuchRow)?;
        if !row.is_task() {
            return Err(EditError::Checklist);
        }
        let mark = self.text().as_bytes().get(row.box_at + 1);
        let is_so = if done { row.done } else { mark == Some(&b' ') };
        if is_so {
            return Ok(Change::Unchanged);
        }
        let splice = Splice {
            at: row.box_at + 1..row.box_at + 2,
            with: if done { "x" } else { " " }.to_owned(),
        };
        let text = splice.applied_to(self.text()).ok_or(EditError::NoSuchRow)?;
        let edited = self.with_box(id, text, done);
        edit_guard::check_box(self, &edited, &splice, id)?;
        debug_assert_eq!(
            edit_guard::check_reading(self, &TaskFile::read(edited.text()), &splice, id, done),
            Ok(())
        );
        Ok(Change::Edited(edited))
    }

    /// Returns the file with a row inserted, if the edit does that and nothing else.
    pub(crate) fn inserted(
        &self,
        splice: &Splice,
        insertion: Insertion<'_>,
    ) -> Result<Self, EditError> {
        let text = splice.applied_to(self.text()).ok_or(EditError::NoSuchRow)?;
        let edited = Self::read(text);
        edit_guard::check_insertion(self, &edited, splice, insertion)?;
        Ok(edited)
    }
}
