//! The state file beside a spec's task file.

use std::collections::BTreeMap;
use std::path::Path;

use regreen_documents::{FixRecord, NotState, State, TaskFile};
use regreen_workspace::{ReadError, RealDisk, create_file, move_aside, read_text};

use crate::output;
use crate::problem::Problem;

/// The fixes that a spec's state file remembers: they keep their numbers, also if their rows
/// are gone. Without one, the rows alone count.
///
/// A file that is past reading is moved aside and made anew from the rows, if anything may
/// be written.
pub fn fixes_beside(tasks: &Path, may_write: bool) -> Result<BTreeMap<String, FixRecord>, Problem> {
    // Only a spec's own tasks.md has its state beside it.
    if tasks.file_name().is_none_or(|name| name != "tasks.md") {
        return Ok(BTreeMap::new());
    }
    let path = tasks.with_file_name(".ralph-state.json");
    let text = match read_text(&RealDisk, &path) {
        Ok(file) => file.text,
        Err(ReadError::NotFound { .. }) => return Ok(BTreeMap::new()),
        Err(error) => return Err(error.into()),
    };
    match State::read(&text) {
        Ok((state, warnings)) => {
            for warning in warnings {
                output::note(&format!(
                    "{}: {}: {}",
                    path.display(),
                    warning.path,
                    warning.message
                ));
            }
            Ok(state.fix_task_map())
        }
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

fn rebuild(
    path: &Path,
    tasks: &Path,
    error: &NotState,
) -> Result<BTreeMap<String, FixRecord>, Problem> {
    let state = State::from_tasks(&TaskFile::read(read_text(&RealDisk, tasks)?.text));
    let aside = move_aside(&RealDisk, path).map_err(Problem::from_aside)?;
    create_file(&RealDisk, path, &state.to_text()).map_err(Problem::from_create)?;
    output::note(&format!(
        "{} was {error}: it is kept as {}, and made anew from the tasks",
        path.display(),
        aside.display()
    ));
    Ok(state.fix_task_map())
}
