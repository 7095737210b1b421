//! `regreen tasks tick`, `untick` and `insert-fix`

use std::collections::BTreeMap;
use std::path::Path;

use regreen_documents::{Change, EditError, FixRecord, Place, RowId, State, TaskFile};
use regreen_model::{FixOrigin, NewTask, TaskId};
use regreen_workspace::{RealDisk, Recovered, edit_file, read_text};

use crate::arguments::{InsertFix, Which};
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;

pub fn tick(which: &Which) -> Result<Exit, Problem> {
    edit(which, TaskFile::tick)
}

pub fn untick(which: &Which) -> Result<Exit, Problem> {
    edit(which, TaskFile::untick)
}

pub fn insert_fix(arguments: &InsertFix) -> Result<Exit, Problem> {
    let map = fix_task_map(&arguments.which.file);
    edit(&arguments.which, |file, row| {
        let fix = fix(arguments, file, row, &map).ok_or(EditError::Checklist)?;
        file.insert(&fix, Place::After(row))
    })
}

/// Makes an edit, in the file with `--write`, else on standard output.
fn edit(
    which: &Which,
    make: impl Fn(&TaskFile, RowId) -> Result<Change, EditError>,
) -> Result<Exit, Problem> {
    let file = TaskFile::read(read_text(&RealDisk, &which.file)?.text);
    let row = find(&file, which)?;
    if which.write {
        write(which, make)?;
    } else {
        let change = make(&file, row).map_err(|why| Problem::Edit {
            file: which.file.clone(),
            why,
        })?;
        output::print(change.into_file(file).text())?;
    }
    Ok(Exit::AllGreen)
}

/// The file may have changed since it was first read: the row is looked up again.
fn write(
    which: &Which,
    make: impl Fn(&TaskFile, RowId) -> Result<Change, EditError>,
) -> Result<(), Problem> {
    let edited = edit_file(&RealDisk, &which.file, |text| {
        let file = TaskFile::read(text);
        let row = find(&file, which).map_err(|_| EditError::NoSuchRow)?;
        Ok(match make(&file, row)? {
            Change::AlreadySo => None,
            Change::Made(edited) => Some(edited.text().to_owned()),
        })
    })
    .map_err(|error| Problem::from_edit(error, &which.file))?;
    report(&edited.recovered)
}

/// Saves of other people that a killed process had left behind.
fn report(recovered: &[Recovered]) -> Result<(), Problem> {
    for found in recovered {
        output::print(&format!("note: {found}\n"))?;
    }
    Ok(())
}

fn find(file: &TaskFile, which: &Which) -> Result<RowId, Problem> {
    let id = TaskId::parse(&which.id).ok_or_else(|| Problem::NotAnId {
        id: which.id.clone(),
    })?;
    let rows: Vec<RowId> = file.rows_with_id(&id).collect();
    let Some(first) = rows.first().copied() else {
        let known = file
            .rows()
            .filter_map(|row| file.key(row))
            .map(|key| key.id.to_string());
        return Err(Problem::NoSuchTask {
            file: which.file.clone(),
            id: which.id.clone(),
            known: known.collect(),
        });
    };
    let Some(line) = which.line else {
        return Ok(first);
    };
    let on_line = file.row_on_line(line).filter(|row| rows.contains(row));
    on_line.ok_or_else(|| Problem::NotOnLine {
        file: which.file.clone(),
        id: which.id.clone(),
        line,
        lines: rows
            .iter()
            .filter_map(|row| file.task(*row))
            .map(|task| task.line)
            .collect(),
    })
}

fn fix(
    arguments: &InsertFix,
    file: &TaskFile,
    row: RowId,
    map: &BTreeMap<String, FixRecord>,
) -> Option<NewTask> {
    let task = file.task(row)?;
    let origin = FixOrigin {
        error: &arguments.error,
        attempted_fix: &arguments.attempted,
        scope: &arguments.spec,
        error_type: &arguments.error_type,
        extra_step: "",
    };
    Some(NewTask::fix(
        file.next_fix_id(row, map)?,
        task.id.as_ref()?,
        &task,
        origin,
    ))
}

/// Fixes that the state file beside the task file remembers keep their numbers, also if
/// their rows are gone. Without one, the rows alone count.
fn fix_task_map(tasks: &Path) -> BTreeMap<String, FixRecord> {
    let beside = tasks.with_file_name(".ralph-state.json");
    let state = read_text(&RealDisk, &beside).ok();
    let state = state.and_then(|file| State::read(&file.text).ok());
    state
        .map(|(state, _)| state.fix_task_map())
        .unwrap_or_default()
}
