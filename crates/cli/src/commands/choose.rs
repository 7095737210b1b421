//! `regreen skip`, `done` and `retry`: what a person decides about a task outside a run.

use regreen_documents::{Change, TaskFile};
use regreen_model::{ChoiceKind, TaskKey};
use regreen_runtime::{Places, now, open_store, stored_ms, take_tree};
use regreen_workspace::{RealDisk, edit_file, read_text};

use super::inspect::task_id;
use crate::arguments::OneTask;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::workplace::Workplace;

/// Journals the choice, and makes the task's box say it.
pub fn run(arguments: &OneTask, what: ChoiceKind) -> Result<Exit, Problem> {
    let workplace = Workplace::find(arguments.spec.as_deref())?;
    let places = &workplace.places;
    // While a run is at work, a tick would be taken for a claim of its agent.
    let _lock = take_tree(places)?;
    let key = find(&workplace, &arguments.task)?;
    let mut store = open_store(places)?;
    // The box first: a choice that is journaled relies on it.
    match what {
        ChoiceKind::Skip => {}
        ChoiceKind::Done => set_box(places, &key, true)?,
        ChoiceKind::Retry => set_box(places, &key, false)?,
    }
    store
        .choose(&places.spec_key(), &key, what, stored_ms(now()))
        .map_err(Problem::journal)?;
    let id = &key.id;
    let said = match what {
        ChoiceKind::Skip => format!("{id} will be skipped; `regreen retry {id}` takes that back\n"),
        ChoiceKind::Done => format!("{id} is ticked, on your word\n"),
        ChoiceKind::Retry => {
            format!("{id} is open; `regreen run` tries it as if for the first time\n")
        }
    };
    output::print(&said)?;
    Ok(Exit::AllGreen)
}

/// The first row with this id.
pub fn find(workplace: &Workplace, task: &str) -> Result<TaskKey, Problem> {
    let id = task_id(task)?;
    let path = &workplace.places.spec.tasks;
    let file = TaskFile::read(read_text(&RealDisk, path)?.text);
    let row = file.rows_with_id(&id).next();
    row.and_then(|row| file.key(row))
        .ok_or_else(|| Problem::NoSuchTask {
            file: output::path_from(&workplace.here, path).into(),
            id: id.to_string(),
            known: known_ids(&file),
        })
}

/// The ids of a file, for whoever mistyped one.
pub fn known_ids(file: &TaskFile) -> Vec<String> {
    let keys = file.rows().filter_map(|row| file.key(row));
    keys.map(|key| key.id.to_string()).collect()
}

/// The box of a task is to be so.
pub fn set_box(places: &Places, key: &TaskKey, done: bool) -> Result<(), Problem> {
    let path = &places.spec.tasks;
    let edited = edit_file(&RealDisk, path, |text| {
        let file = TaskFile::read(text);
        let Some(row) = file.resolve(key) else {
            return Ok(None);
        };
        let change = if done {
            file.tick(row)
        } else {
            file.untick(row)
        };
        Ok(match change? {
            Change::AlreadySo => None,
            Change::Made(file) => Some(file.text().to_owned()),
        })
    });
    let edited = edited.map_err(|error| Problem::from_edit(error, path))?;
    super::tasks::report(&edited);
    Ok(())
}
