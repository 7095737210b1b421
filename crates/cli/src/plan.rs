//! The current task file, and the resolution of ids and recorded keys in it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use regreen_documents::{RowId, TaskFile};
use regreen_model::{TaskId, TaskKey, TaskKind};
use regreen_runtime::SpecPaths;
use regreen_workspace::{RealDisk, read_text};

use crate::arguments::OneTask;
use crate::output;
use crate::problem::Problem;
use crate::spec_context::SpecContext;

/// A spec's task file.
#[derive(Debug)]
pub struct Plan {
    pub file: TaskFile,
    /// The file name for messages.
    shown: PathBuf,
    /// Rows that were looked up before.
    resolved: RefCell<BTreeMap<TaskKey, Option<RowId>>>,
}

/// The task that a command is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectedTask {
    /// Its current key, or its last one if it is no longer in the file.
    pub key: TaskKey,
    pub row: Option<RowId>,
}

/// Returns the line of a recorded task in its file.
pub fn line_of(paths: &SpecPaths, key: &TaskKey) -> Option<usize> {
    let text = read_text(&RealDisk, &paths.spec.tasks).ok()?.text;
    let file = TaskFile::read(text);
    let row = file.resolve(key)?;
    Some(file.task(row)?.line)
}

impl Plan {
    pub fn read(context: &SpecContext) -> Result<Self, Problem> {
        let path = &context.places.spec.tasks;
        Ok(Self {
            file: TaskFile::read(read_text(&RealDisk, path)?.text),
            shown: output::path_from(&context.here, path).into(),
            resolved: RefCell::default(),
        })
    }

    /// Returns the current row of a recorded key.
    pub fn row_of(&self, key: &TaskKey) -> Option<RowId> {
        let known = self.resolved.borrow().get(key).copied();
        known.unwrap_or_else(|| {
            let row = self.file.resolve(key);
            self.resolved.borrow_mut().insert(key.clone(), row);
            row
        })
    }

    /// Finds the row with the id, or else the recorded task that last had it.
    pub fn find<'k>(
        &self,
        named: &OneTask,
        earlier: impl DoubleEndedIterator<Item = &'k TaskKey>,
    ) -> Result<SelectedTask, Problem> {
        let row = row_with_id(&self.file, &self.shown, &named.task, named.line);
        let problem = match row {
            Ok(row) => return self.selected(row, named),
            Err(problem) => problem,
        };
        let is_it = |key: &&&TaskKey| key.id.as_str() == named.task && self.row_of(key).is_none();
        match earlier.rev().find(|key| is_it(&key)) {
            Some(key) => Ok(SelectedTask {
                key: key.clone(),
                row: None,
            }),
            None => Err(problem),
        }
    }

    /// Returns the rows with the id if there are several and no line says which is meant.
    pub fn ambiguous(&self, named: &OneTask) -> Vec<RowId> {
        let id = TaskId::parse(&named.task).filter(|_| named.line.is_none());
        let rows: Vec<RowId> = id
            .map(|id| self.file.rows_with_id(&id).collect())
            .unwrap_or_default();
        if rows.len() > 1 { rows } else { Vec::new() }
    }

    /// Refuses an id that several tasks have, because a decision about the wrong one does harm.
    pub fn refuse_ambiguous(&self, named: &OneTask) -> Result<(), Problem> {
        let rows = self.ambiguous(named);
        let tasks = rows.iter().filter_map(|row| self.file.task(*row));
        let tasks: Vec<(usize, String)> = tasks.map(|task| (task.line, task.title)).collect();
        if tasks.is_empty() {
            return Ok(());
        }
        Err(Problem::SeveralTasks {
            file: self.shown.clone(),
            id: named.task.clone(),
            tasks,
        })
    }

    fn selected(&self, row: RowId, named: &OneTask) -> Result<SelectedTask, Problem> {
        let key = self.file.key(row).ok_or_else(|| Problem::NotAnId {
            id: named.task.clone(),
        })?;
        Ok(SelectedTask {
            key,
            row: Some(row),
        })
    }

    /// Whether a recorded key refers to this task.
    pub fn is(&self, selected: &SelectedTask, key: &TaskKey) -> bool {
        match (self.row_of(key), selected.row) {
            (None, None) => key.id == selected.key.id,
            (found, row) => found == row,
        }
    }

    /// Whether a recorded key refers to this task, one of its fixes, or a task below it.
    pub fn belongs(&self, selected: &SelectedTask, key: &TaskKey) -> bool {
        let (Some(found), Some(row)) = (self.row_of(key), selected.row) else {
            return self.is(selected, key);
        };
        let above = |row: &RowId| {
            let fixed = self.file.fixed_by(*row);
            fixed.or_else(|| self.file.parent(*row))
        };
        std::iter::successors(Some(found), above).any(|above| above == row)
    }

    pub fn is_done(&self, key: &TaskKey) -> bool {
        self.row_of(key).is_some_and(|row| self.file.is_done(row))
    }

    pub fn is_fix(&self, key: &TaskKey) -> bool {
        let row = self.row_of(key);
        row.is_some_and(|row| self.file.fixed_by(row).is_some())
    }

    /// Returns the rows of these tasks and of all their fixes.
    pub fn with_fixes(&self, tasks: &[TaskKey]) -> Vec<RowId> {
        let rows = tasks.iter().filter_map(|key| self.row_of(key));
        rows.flat_map(|row| std::iter::once(row).chain(self.file.all_fixes(row)))
            .collect()
    }

    /// Returns the groups around a task, nearest first.
    pub fn groups_around(&self, selected: &SelectedTask) -> Vec<TaskKey> {
        let row = selected.row.into_iter();
        let groups = row.flat_map(|row| self.file.groups_around(row));
        groups.filter_map(|row| self.file.key(row)).collect()
    }

    /// Returns the task and, if it is a group, the required tasks below it.
    pub fn with_tasks_below(&self, selected: &SelectedTask) -> Vec<TaskKey> {
        let is_below = |row: &RowId| {
            let above = |row: &RowId| self.file.parent(*row);
            let mut above = std::iter::successors(Some(*row), above);
            let is_required =
                matches!(self.file.kind(*row), Some(TaskKind::Task | TaskKind::Group))
                    && !self.file.is_optional(*row);
            is_required
                && self.file.fixed_by(*row).is_none()
                && above.any(|row| Some(row) == selected.row)
        };
        let below = self.file.rows().filter(is_below);
        let mut keys: Vec<TaskKey> = below.filter_map(|row| self.file.key(row)).collect();
        if !keys.contains(&selected.key) {
            keys.insert(0, selected.key.clone());
        }
        keys
    }
}

/// Finds the row with an id, on the given line if any.
pub fn row_with_id(
    file: &TaskFile,
    shown: &Path,
    id: &str,
    line: Option<usize>,
) -> Result<RowId, Problem> {
    let parsed = TaskId::parse(id).ok_or_else(|| Problem::NotAnId { id: id.to_owned() })?;
    let rows: Vec<RowId> = file.rows_with_id(&parsed).collect();
    let Some(first) = rows.first().copied() else {
        return Err(Problem::NoSuchTask {
            file: shown.to_owned(),
            id: id.to_owned(),
            known: known_ids(file),
        });
    };
    let Some(line) = line else {
        return Ok(first);
    };
    let on_line = file.row_on_line(line).filter(|row| rows.contains(row));
    on_line.ok_or_else(|| Problem::NotOnLine {
        file: shown.to_owned(),
        id: id.to_owned(),
        line,
        lines: rows
            .iter()
            .filter_map(|row| file.task(*row))
            .map(|task| task.line)
            .collect(),
    })
}

/// Returns the ids in a file, for a message about a mistyped one.
pub fn known_ids(file: &TaskFile) -> Vec<String> {
    let keys = file.rows().filter_map(|row| file.key(row));
    let mut seen = BTreeSet::new();
    keys.map(|key| key.id.to_string())
        .filter(|id| seen.insert(id.clone()))
        .collect()
}
