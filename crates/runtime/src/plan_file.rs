//! The task file: reading it, changing it, and its outline for views.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use regreen_documents::{EditError, RowId, TaskFile};
use regreen_model::{NextStep, OutlineKind, OutlineRow, PlanQuery, PlanStatus, TaskKey, TaskKind};
use regreen_workspace::{EditFileError, EditReport, ReadError, RealDisk, edit_file, read_text};

use crate::history::EarlierRuns;
use crate::observer::RunObserver;
use crate::performer::{PerformError, Performer};

/// The task file: read again for every question, parsed again only if it has changed.
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
        Ok(self.parse(&text))
    }

    /// The file as it was last read or written.
    pub(crate) fn latest(&mut self) -> Result<Rc<TaskFile>, ReadError> {
        match &self.last {
            Some(file) => Ok(Rc::clone(file)),
            None => self.read(),
        }
    }

    /// Edits the file as it is at that moment; the change says what must be true of it.
    pub(crate) fn edit(
        &mut self,
        mut change: impl FnMut(&TaskFile) -> Result<Option<TaskFile>, EditError>,
    ) -> Result<EditReport, EditPlanError> {
        let path = self.path.clone();
        let mut made = None;
        let edited = edit_file(&RealDisk, &path, |text| {
            let file = self.parse(text);
            made = change(&file)?.map(Rc::new);
            Ok(made.as_ref().map(|file| file.text().to_owned()))
        })?;
        if made.is_some() {
            self.last = made;
        }
        Ok(edited)
    }

    /// Ticks a task, or unticks it; does nothing if the task is gone.
    pub(crate) fn set_box(
        &mut self,
        task: &TaskKey,
        done: bool,
    ) -> Result<EditReport, EditPlanError> {
        self.edit(|file| file.box_set(task, done))
    }

    fn parse(&mut self, text: &str) -> Rc<TaskFile> {
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

/// Outlines a plan for views: fixes below their task, rows below their group.
#[must_use]
pub fn outline(file: &TaskFile) -> Vec<OutlineRow> {
    let mut rows: Vec<OutlineRow> = Vec::new();
    let mut depths = std::collections::BTreeMap::new();
    for id in file.rows() {
        let Some((row, above)) = outline_row(file, id) else {
            continue;
        };
        let depth = above.map_or(0, |above| depths.get(&above).map_or(0, |depth| depth + 1));
        depths.insert(id, depth);
        rows.push(OutlineRow { depth, ..row });
    }
    rows
}

/// A row, and the row that it is shown below.
fn outline_row(file: &TaskFile, id: RowId) -> Option<(OutlineRow, Option<RowId>)> {
    let fixes = file.fixed_by(id);
    let kind = match file.kind(id)? {
        TaskKind::Checklist => return None,
        _ if fixes.is_some() => OutlineKind::Fix,
        TaskKind::Group => OutlineKind::Group,
        TaskKind::Task | TaskKind::Optional => OutlineKind::Task,
    };
    let row = OutlineRow {
        key: file.key(id)?,
        depth: 0,
        kind,
        done: file.is_done(id),
        optional: file.is_optional(id),
    };
    Some((row, fixes.or_else(|| file.parent(id))))
}

/// Reads what the task file has for the run now.
pub(crate) fn read_plan(
    performer: &mut Performer,
    query: &PlanQuery,
    earlier: &EarlierRuns<'_>,
    observer: &mut dyn RunObserver,
) -> Result<PlanStatus, PerformError> {
    let file = performer.plan.read()?;
    observer.outline(&outline(&file));
    let mut status = file.plan_status(query);
    if let NextStep::Task(picked) = &mut status.next {
        picked.failed_before = earlier.failure(&picked.task)?;
        let programs = &performer.context.programs;
        programs.settle(&RealDisk, &mut picked.verify, &performer.known_commands);
    }
    Ok(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixes_are_below_their_task_and_rows_below_their_group() {
        let file = TaskFile::read(
            "- [ ] 1 Group\n  - [x] 1.1 Inside\n  - [ ] 1.2 Other\n- [ ] 2 Task\n- [ ] 2.1 [FIX 2] Fix\n",
        );
        let shown: Vec<String> = outline(&file)
            .iter()
            .map(|row| format!("{} {} {:?}", row.depth, row.key.id, row.kind))
            .collect();
        assert_eq!(
            shown,
            [
                "0 1 Group",
                "1 1.1 Task",
                "1 1.2 Task",
                "0 2 Task",
                "1 2.1 Fix"
            ]
        );
    }
}
