//! The state file beside a spec's task file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use regreen_documents::{
    EditError, FixRecord, InvalidState, ProgressFile, RowId, StateDocument, TaskFile,
};
use regreen_model::{TaskId, TaskKey};
use regreen_runtime::SpecPaths;
use regreen_workspace::{
    EditFileError, ReadError, RealDisk, create_dir_all, create_file, edit_file, move_aside,
    read_text, workspace_root,
};

use crate::config::StoredLimits;
use crate::output;
use crate::problem::Problem;

/// Returns the fixes recorded in the state file beside a task file: their numbers stay taken, even
/// if their rows are gone. Without a state file there are none.
///
/// With `may_write`, an unreadable file is moved aside and rebuilt from the rows.
pub fn fixes_beside(tasks: &Path, may_write: bool) -> Result<BTreeMap<String, FixRecord>, Problem> {
    let Some(StateFile { path, state }) = beside(tasks)? else {
        return Ok(BTreeMap::new());
    };
    match state {
        Ok(state) => Ok(state.fix_task_map()),
        Err(error) if may_write => rebuild(&path, tasks, &error),
        Err(error) => {
            output::note(&format!(
                "{} is {error}; using only the task file",
                path.display()
            ));
            Ok(BTreeMap::new())
        }
    }
}

/// Returns the fixes recorded in a state file; none if it is unreadable.
pub fn fixes_in(path: &Path) -> Result<BTreeMap<String, FixRecord>, Problem> {
    let state = at(path)?.and_then(|found| found.state.ok());
    Ok(state.map_or_else(BTreeMap::new, |state| state.fix_task_map()))
}

/// Removes tasks that are open again from the completed tasks in the state file and the progress
/// file. Ignores files that don't exist or can't be read.
pub fn reopen_in_files(places: &SpecPaths, tasks: &[TaskKey]) -> Result<(), Problem> {
    let file = TaskFile::read(read_text(&RealDisk, &places.spec.tasks)?.text);
    edit_if_there(&places.state, |text| {
        let (mut state, _) = StateDocument::read(text).ok()?;
        state.reopen(&file);
        Some(state.to_text())
    })?;
    let open = tasks.iter().filter(|task| file.open_row(task).is_some());
    let open: Vec<&TaskKey> = open.collect();
    edit_if_there(&places.progress, |text| {
        let progress = ProgressFile::read(text);
        let reopened = open
            .iter()
            .fold(progress, |progress, task| progress.reopened(&task.id));
        Some(reopened.text().to_owned())
    })
}

fn edit_if_there(path: &Path, edit: impl Fn(&str) -> Option<String>) -> Result<(), Problem> {
    let edited = edit_file(&RealDisk, path, |text| {
        Ok::<_, EditError>(edit(text).filter(|after| after != text))
    });
    match edited {
        Ok(_) | Err(EditFileError::Read(_)) => Ok(()),
        Err(error) => Err(Problem::from_edit(error, path)),
    }
}

/// Resets the fix budgets of these tasks. Writes nothing if none was used; leaves an unreadable
/// file to the next run.
pub fn reset_fix_budgets(path: &Path, file: &TaskFile, tasks: &[RowId]) -> Result<(), Problem> {
    let mut new = with_identity(StateDocument::from_tasks(file), path);
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

/// Records a fix that the task file now has in the state file beside it, if that exists.
pub fn record_fix_beside(
    tasks: &Path,
    parent: &TaskId,
    fix: &TaskId,
    error: &str,
) -> Result<(), Problem> {
    let Some(StateFile { path, state: Ok(_) }) = beside(tasks)? else {
        return Ok(());
    };
    let file = TaskFile::read(read_text(&RealDisk, tasks)?.text);
    let total = u32::try_from(file.runnable(false)).unwrap_or(u32::MAX);
    let edited = edit_file(&RealDisk, &path, |text| {
        let read = StateDocument::read(text).ok();
        let after = read.map(|(mut state, _)| {
            state.record_fix(parent, fix, error);
            state.set_total_tasks(total);
            state.to_text()
        });
        Ok::<_, EditError>(after.filter(|after| after != text))
    });
    match edited {
        Ok(_) => Ok(()),
        Err(error) => Err(Problem::from_edit(error, &path)),
    }
}

/// Returns the limits stored in the state file beside a task file.
pub fn limits_beside(tasks: &Path) -> Result<StoredLimits, Problem> {
    limits(beside(tasks)?)
}

/// Returns the limits stored in a state file.
pub fn limits_in(path: &Path) -> Result<StoredLimits, Problem> {
    limits(at(path)?)
}

fn limits(found: Option<StateFile>) -> Result<StoredLimits, Problem> {
    match found {
        None => Ok(StoredLimits::default()),
        Some(StateFile {
            state: Ok(state), ..
        }) => Ok(StoredLimits::of(&state)),
        Some(StateFile {
            state: Err(error),
            path,
        }) => {
            output::note(&format!(
                "{} is {error}; ignoring its limits",
                path.display()
            ));
            Ok(StoredLimits::default())
        }
    }
}

/// A state file that exists.
struct StateFile {
    path: PathBuf,
    state: Result<StateDocument, InvalidState>,
}

/// Reads the state file beside a task file, if it exists.
fn beside(tasks: &Path) -> Result<Option<StateFile>, Problem> {
    // Only a spec's own tasks.md has its state beside it.
    if tasks.file_name().is_none_or(|name| name != "tasks.md") {
        return Ok(None);
    }
    at(&tasks.with_file_name(".ralph-state.json"))
}

/// Reads a state file, and warns about invalid values in it.
fn at(path: &Path) -> Result<Option<StateFile>, Problem> {
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
    Ok(Some(StateFile {
        path: path.to_owned(),
        state,
    }))
}

/// Adds the name of the spec, from the folder of the file.
fn with_identity(state: StateDocument, path: &Path) -> StateDocument {
    let folder = path.parent().unwrap_or(path);
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let here = std::env::current_dir().unwrap_or_default();
    let root = workspace_root(&RealDisk, &here);
    let shown = folder.strip_prefix(&root).unwrap_or(folder);
    state.with_identity(&name, &shown.to_string_lossy())
}

fn rebuild(
    path: &Path,
    tasks: &Path,
    error: &InvalidState,
) -> Result<BTreeMap<String, FixRecord>, Problem> {
    let state = StateDocument::from_tasks(&TaskFile::read(read_text(&RealDisk, tasks)?.text));
    let state = with_identity(state, path);
    let aside = move_aside(&RealDisk, path).map_err(Problem::from_aside)?;
    create_file(&RealDisk, path, &state.to_text()).map_err(Problem::from_create)?;
    output::note(&format!(
        "{} was {error}; kept it as {} and rebuilt it from the tasks",
        path.display(),
        aside.display()
    ));
    Ok(state.fix_task_map())
}
