//! `regreen tasks`: reads and edits task files, for scripts.

mod list;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use regreen_documents::{Change, EditError, FixRecord, InsertPosition, RowId, TaskFile};
use regreen_model::{FixOrigin, NewTask};
use regreen_workspace::{
    EditReport, RealDisk, WriteMethod, edit_file, read_text, recover_leftovers,
};

use crate::exit::Exit;
use crate::output;
use crate::plan::row_with_id;
use crate::problem::Problem;
use crate::state_file;

#[derive(Debug, Subcommand)]
pub enum Tasks {
    /// List the rows of a task file
    List {
        /// Task file
        file: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Tick a task's box
    Tick(Which),
    /// Untick a task's box
    Untick(Which),
    /// Insert a fix task after a failed task
    InsertFix(InsertFix),
}

/// Which row of which file, and whether to write it.
#[derive(Debug, Args)]
pub struct Which {
    /// Task file
    pub file: PathBuf,
    /// Task id, or its position (1, 2, 3 …) in a list without ids
    pub id: String,
    /// Line of the row, if several tasks have this id [default: the first of them]
    #[arg(long, value_name = "N")]
    pub line: Option<usize>,
    /// Edit the file in place instead of printing the result
    #[arg(long)]
    pub write: bool,
}

#[derive(Debug, Args)]
pub struct InsertFix {
    #[command(flatten)]
    pub which: Which,
    /// Error message of the failed task
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub error: OsString,
    /// What was already tried
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        allow_hyphen_values = true
    )]
    pub attempted: OsString,
    /// Type of the error, in words: `missing file`
    #[arg(long, value_name = "WORDS", default_value = "")]
    pub error_type: String,
    /// Name of the spec, for the commit message
    #[arg(long, value_name = "NAME", default_value = "")]
    pub spec: String,
}

pub fn run(command: &Tasks) -> Result<Exit, Problem> {
    match command {
        Tasks::List { file, json } => list::run(file, *json),
        Tasks::Tick(which) => tick(which),
        Tasks::Untick(which) => untick(which),
        Tasks::InsertFix(arguments) => insert_fix(arguments),
    }
}

fn tick(which: &Which) -> Result<Exit, Problem> {
    edit(which, TaskFile::tick)
}

fn untick(which: &Which) -> Result<Exit, Problem> {
    edit(which, TaskFile::untick)
}

/// Inserts a fix task. With `--write`, prints its id for scripts.
fn insert_fix(arguments: &InsertFix) -> Result<Exit, Problem> {
    let which = &arguments.which;
    let map = state_file::fixes_beside(&which.file, which.write)?;
    let mut id = None;
    let exit = edit(which, |file, row| {
        let fix = fix(arguments, file, row, &map).ok_or(EditError::Checklist)?;
        id = file.key(row).map(|parent| (fix.id.clone(), parent.id));
        file.insert(&fix, InsertPosition::After(row))
    })?;
    if let Some((id, parent)) = id.filter(|_| which.write) {
        let error = arguments.error.to_string_lossy();
        state_file::record_fix_beside(&which.file, &parent, &id, &error)?;
        output::print(&format!("{id}\n"))?;
    }
    Ok(exit)
}

/// Edits the file with `--write`; otherwise prints the edited text.
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

/// Edits the file. Looks up the row again, because the file may have changed since it was read.
fn write(
    which: &Which,
    mut make: impl FnMut(&TaskFile, RowId) -> Result<Change, EditError>,
) -> Result<(), Problem> {
    // Report saves found in leftovers, even if the edit fails.
    for found in recover_leftovers(&RealDisk, &which.file)
        .into_iter()
        .flatten()
    {
        output::note(&found.to_string());
    }
    let edited = edit_file(&RealDisk, &which.file, |text| {
        let file = TaskFile::read(text);
        let row = find(&file, which).map_err(|_| EditError::NoSuchRow)?;
        let made = make(&file, row)?.edited();
        Ok(made.map(|edited| edited.text().to_owned()))
    })
    .map_err(|error| Problem::from_edit(error, &which.file))?;
    report_edit(&edited);
    Ok(())
}

/// Prints anything unusual about how a file was written.
pub fn report_edit(edited: &EditReport) {
    for found in &edited.recovered {
        output::note(&found.to_string());
    }
    if let WriteMethod::InPlace(why) = edited.written {
        output::note(&format!("written in place, not atomically: {why}"));
    }
}

fn find(file: &TaskFile, which: &Which) -> Result<RowId, Problem> {
    row_with_id(file, &which.file, &which.id, which.line)
}

fn fix(
    arguments: &InsertFix,
    file: &TaskFile,
    row: RowId,
    map: &BTreeMap<String, FixRecord>,
) -> Option<NewTask> {
    let task = file.task(row)?;
    let origin = FixOrigin {
        summary: String::new(),
        error: arguments.error.to_string_lossy().into_owned(),
        error_type: arguments.error_type.clone(),
        attempted_fix: arguments.attempted.to_string_lossy().into_owned(),
        scope: arguments.spec.clone(),
        extra_step: String::new(),
    };
    Some(NewTask::fix(
        file.next_fix_id(row, map)?,
        task.id.as_ref()?,
        &task,
        &origin,
    ))
}
