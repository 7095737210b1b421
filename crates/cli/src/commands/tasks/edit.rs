//! `regreen tasks tick`, `untick` and `insert-fix`

use std::collections::BTreeMap;

use regreen_documents::{Change, EditError, FixRecord, Place, RowId, TaskFile};
use regreen_model::{FixOrigin, NewTask};
use regreen_workspace::{
    EditReport, RealDisk, WriteMethod, edit_file, read_text, recover_leftovers,
};

use crate::arguments::{InsertFix, Which};
use crate::exit::Exit;
use crate::output;
use crate::plan::row_named;
use crate::problem::Problem;
use crate::state_file;

pub fn tick(which: &Which) -> Result<Exit, Problem> {
    edit(which, TaskFile::tick)
}

pub fn untick(which: &Which) -> Result<Exit, Problem> {
    edit(which, TaskFile::untick)
}

/// With `--write` the new task's id is printed, so that a script knows it.
pub fn insert_fix(arguments: &InsertFix) -> Result<Exit, Problem> {
    let which = &arguments.which;
    let map = state_file::fixes_beside(&which.file, which.write)?;
    let mut id = None;
    let exit = edit(which, |file, row| {
        let fix = fix(arguments, file, row, &map).ok_or(EditError::Checklist)?;
        id = Some(fix.id.clone());
        file.insert(&fix, Place::After(row))
    })?;
    if let Some(id) = id.filter(|_| which.write) {
        output::print(&format!("{id}\n"))?;
    }
    Ok(exit)
}

/// Makes an edit, in the file with `--write`, else on standard output.
fn edit(
    which: &Which,
    mut make: impl FnMut(&TaskFile, RowId) -> Result<Change, EditError>,
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
    Ok(Exit::Success)
}

/// The file may have changed since it was first read: the row is looked up again.
fn write(
    which: &Which,
    mut make: impl FnMut(&TaskFile, RowId) -> Result<Change, EditError>,
) -> Result<(), Problem> {
    // Whatever becomes of the edit, saves found in leftovers are told.
    for found in recover_leftovers(&RealDisk, &which.file)
        .into_iter()
        .flatten()
    {
        output::note(&found.to_string());
    }
    let edited = edit_file(&RealDisk, &which.file, |text| {
        let file = TaskFile::read(text);
        let row = find(&file, which).map_err(|_| EditError::NoSuchRow)?;
        let made = make(&file, row)?.made();
        Ok(made.map(|edited| edited.text().to_owned()))
    })
    .map_err(|error| Problem::from_edit(error, &which.file))?;
    report(&edited);
    Ok(())
}

/// What people should know about how it was written.
pub fn report(edited: &EditReport) {
    for found in &edited.recovered {
        output::note(&found.to_string());
    }
    if let WriteMethod::InPlace(why) = edited.written {
        output::note(&format!(
            "written in place, without the promises of an exchange: {why}"
        ));
    }
}

fn find(file: &TaskFile, which: &Which) -> Result<RowId, Problem> {
    row_named(file, &which.file, &which.id, which.line)
}

fn fix(
    arguments: &InsertFix,
    file: &TaskFile,
    row: RowId,
    map: &BTreeMap<String, FixRecord>,
) -> Option<NewTask> {
    let task = file.task(row)?;
    let origin = FixOrigin {
        error: arguments.error.to_string_lossy().into_owned(),
        attempted_fix: arguments.attempted.to_string_lossy().into_owned(),
        scope: arguments.spec.clone(),
        error_type: arguments.error_type.clone(),
        extra_step: String::new(),
    };
    Some(NewTask::fix(
        file.next_fix_id(row, map)?,
        task.id.as_ref()?,
        &task,
        &origin,
    ))
}
