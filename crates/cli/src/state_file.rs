//! The state file beside a spec's task file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use regreen_documents::{EditError, FixRecord, InvalidState, RowId, StateDocument, TaskFile};
use regreen_workspace::{
    EditFileError, ReadError, RealDisk, create_dir_all, create_file, edit_file, move_aside,
    read_text,
};

use crate::config::StoredLimits;
use crate::output;
use crate::problem::Problem;

/// The fixes that a spec's state file remembers: they keep their numbers, also if their rows
/// are gone. Without one, the rows alone count.
///
/// A file that is past reading is moved aside and made anew from the rows, if anything may
/// be written.
pub fn fixes_beside(tasks: &Path, may_write: bool) -> Result<BTreeMap<String, FixRecord>, Problem> {
    let Some(Found { path, state }) = beside(tasks)? else {
        return Ok(BTreeMap::new());
    };
    match state {
        Ok(state) => Ok(state.fix_task_map()),
        Err(error) if may_write => rebuild(&path, tasks, &error),
        Err(error) => {
            output::note(&format!(
                "{} is {error}: the rows alone count",
                path.display()
            ));
            Ok(BTreeMap::new())
        }
    }
}

/// The fixes that a state file remembers. One that is past reading remembers none.
pub fn fixes_in(path: &Path) -> Result<BTreeMap<String, FixRecord>, Problem> {
    let state = at(path)?.and_then(|found| found.state.ok());
    Ok(state.map_or_else(BTreeMap::new, |state| state.fix_task_map()))
}

/// What these tasks have used of their fix budgets counts no more. Where nothing was used,
/// nothing is written; a file that is past reading is left to the next run.
pub fn forgive(path: &Path, file: &TaskFile, tasks: &[RowId]) -> Result<(), Problem> {
    let mut new = StateDocument::from_tasks(file);
    let before = new.to_text();
    new.forgive_all(file, tasks);
    let edited = edit_file(&RealDisk, path, |text| {
        let read = StateDocument::read(text).ok();
        let after = read.map(|(mut state, _)| {
            state.forgive_all(file, tasks);
            state.to_text()
        });
        Ok::<_, EditError>(after.filter(|after| after != text))
    });
    match edited {
        Ok(_) => Ok(()),
        Err(EditFileError::Read(ReadError::NotFound { .. })) if new.to_text() == before => Ok(()),
        Err(EditFileError::Read(ReadError::NotFound { .. })) => {
            if let Some(folder) = path.parent() {
                create_dir_all(&RealDisk, folder)?;
            }
            create_file(&RealDisk, path, &new.to_text()).map_err(Problem::from_create)?;
            Ok(())
        }
        Err(error) => Err(Problem::from_edit(error, path)),
    }
}

/// The limits that a spec's state file asks for.
pub fn limits_beside(tasks: &Path) -> Result<StoredLimits, Problem> {
    limits(beside(tasks)?)
}

/// The limits that a state file asks for.
pub fn limits_in(path: &Path) -> Result<StoredLimits, Problem> {
    limits(at(path)?)
}

fn limits(found: Option<Found>) -> Result<StoredLimits, Problem> {
    match found {
        None => Ok(StoredLimits::default()),
        Some(Found {
            state: Ok(state), ..
        }) => Ok(StoredLimits::of(&state)),
        Some(Found {
            state: Err(error),
            path,
        }) => {
            output::note(&format!(
                "{} is {error}: it asks for nothing",
                path.display()
            ));
            Ok(StoredLimits::default())
        }
    }
}

/// A state file that is there.
struct Found {
    path: PathBuf,
    state: Result<StateDocument, InvalidState>,
}

/// The state file beside a task file, if there is one. Wrong values in it are told.
fn beside(tasks: &Path) -> Result<Option<Found>, Problem> {
    // Only a spec's own tasks.md has its state beside it.
    if tasks.file_name().is_none_or(|name| name != "tasks.md") {
        return Ok(None);
    }
    at(&tasks.with_file_name(".ralph-state.json"))
}

fn at(path: &Path) -> Result<Option<Found>, Problem> {
    let text = match read_text(&RealDisk, path) {
        Ok(file) => file.text,
        Err(ReadError::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let state = StateDocument::read(&text).map(|(state, warnings)| {
        for warning in warnings {
            output::note(&format!(
                "{}: {}: {}",
                path.display(),
                warning.path,
                warning.message
            ));
        }
        state
    });
    Ok(Some(Found {
        path: path.to_owned(),
        state,
    }))
}

fn rebuild(
    path: &Path,
    tasks: &Path,
    error: &InvalidState,
) -> Result<BTreeMap<String, FixRecord>, Problem> {
    let state = StateDocument::from_tasks(&TaskFile::read(read_text(&RealDisk, tasks)?.text));
    let aside = move_aside(&RealDisk, path).map_err(Problem::from_aside)?;
    create_file(&RealDisk, path, &state.to_text()).map_err(Problem::from_create)?;
    output::note(&format!(
        "{} was {error}: it is kept as {}, and made anew from the tasks",
        path.display(),
        aside.display()
    ));
    Ok(state.fix_task_map())
}
