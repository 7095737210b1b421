//! Rows that an agent asked for.

use std::collections::BTreeMap;

use regreen_documents::{Change, EditError, NotState, Place, RowId, State, TaskFile};
use regreen_engine::{ModifyOrder, ModifyResult};
use regreen_model::{
    ERROR_CHARS, Modification, ModificationRequest, NewTask, PlainLine, ProposedTask, TaskId,
    TaskKey,
};
use regreen_workspace::{RealDisk, edit_file, read_text};

use crate::perform_error::PerformError;
use crate::performer::Performer;

/// So many requests are honoured for an original, those of its parts included.
const REQUESTS: u32 = 3;
const ROWS: usize = 10;
const TITLE_CHARS: usize = 120;

/// Writes the rows into the plan, or says why not.
pub(crate) fn modify(
    performer: &mut Performer,
    order: &ModifyOrder,
) -> Result<ModifyResult, PerformError> {
    let file = performer.plan.read()?;
    let state = state(performer);
    let refused = |why: &str| {
        Ok(ModifyResult::Refused {
            why: why.to_owned(),
        })
    };
    let request = &order.request;
    let name = format!("{}/{}", performer.run, order.attempt);
    let is_granted = state.modification_rows(&order.task.id, &name).is_some();
    if let Err(why) = judge(&state, &order.task, request)
        && !is_granted
    {
        return refused(&why);
    }
    let Some(row) = file.resolve(&order.task) else {
        return refused("the task is no longer in the file");
    };
    let first = state
        .modification_rows(&order.task.id, &name)
        .and_then(|rows| order.task.id.child_number(rows.first()?))
        .or_else(|| next_number(&file, row, &order.task.id));
    let tasks = new_tasks(&order.task.id, first.unwrap_or(1), request);
    // Counted first: were we killed in between, the same rows would come of it again.
    count(performer, &order.task.id, &name, &tasks)?;
    match insert_all(performer, &order.task, request.modification, &tasks) {
        Err(PerformError::Broken(why)) => refused(&why),
        added => Ok(ModifyResult::Done { added: added? }),
    }
}

/// The first number that no row has used.
fn next_number(file: &TaskFile, row: RowId, task: &TaskId) -> Option<u32> {
    let free = file.next_fix_id(row, &BTreeMap::new())?;
    task.child_number(&free)
}

fn state(performer: &Performer) -> State {
    let text = read_text(&RealDisk, &performer.places.state);
    let state = text.ok().and_then(|file| State::read(&file.text).ok());
    state.map(|(state, _)| state).unwrap_or_default()
}

/// Why a request is not honoured.
fn judge(state: &State, task: &TaskKey, request: &ModificationRequest) -> Result<(), String> {
    if request.original_task_id != task.id {
        return Err(format!(
            "it asks for task {}, but task {} was run",
            request.original_task_id, task.id
        ));
    }
    let rows = request.proposed_tasks.len();
    if rows == 0 || rows > ROWS {
        return Err(format!("it proposes {rows} rows; 1 to {ROWS} are allowed"));
    }
    if request
        .proposed_tasks
        .iter()
        .any(|task| title(task).is_empty())
    {
        return Err("a row that it proposes has no title".to_owned());
    }
    let lineage = state.modification_lineage(&task.id);
    if lineage.depth >= 2 {
        return Err("parts of parts are not divided further".to_owned());
    }
    if lineage.requests >= REQUESTS {
        return Err(format!(
            "task {} has had its {REQUESTS} changes",
            lineage.root
        ));
    }
    Ok(())
}

fn new_tasks(original: &TaskId, first: u32, request: &ModificationRequest) -> Vec<NewTask> {
    let numbered = (first..).zip(&request.proposed_tasks);
    numbered
        .map(|(number, task)| new_task(original.child(number), task))
        .collect()
}

fn title(task: &ProposedTask) -> PlainLine {
    match task {
        ProposedTask::Lines(lines) => PlainLine::first_of(strip_box(lines), TITLE_CHARS),
        ProposedTask::Fields { title, .. } => PlainLine::flatten(title, TITLE_CHARS),
    }
}

/// A row as an agent writes it may come with its box.
fn strip_box(line: &str) -> &str {
    let line = line.trim_start();
    let line = line.trim_start_matches(['-', '*', '+']).trim_start();
    line.strip_prefix("[ ]").unwrap_or(line).trim_start()
}

fn new_task(id: TaskId, task: &ProposedTask) -> NewTask {
    let line = |text: &Option<String>| {
        let text = text.as_deref().filter(|text| !text.trim().is_empty());
        text.map(|text| PlainLine::flatten(text, ERROR_CHARS))
    };
    let one_line = |text: &Option<String>| line(text).map(|line| line.to_string());
    let empty = NewTask {
        title: title(task),
        id,
        markers: Vec::new(),
        action: None,
        steps: Vec::new(),
        files: None,
        done_when: None,
        verify: None,
        commit: None,
    };
    match task {
        ProposedTask::Lines(_) => empty,
        ProposedTask::Fields {
            action,
            files,
            done_when,
            verify,
            commit,
            ..
        } => NewTask {
            action: line(action),
            files: one_line(files),
            done_when: line(done_when),
            verify: verify.as_ref().map(|verify| one_code_line(verify)),
            commit: line(commit),
            ..empty
        },
    }
}

/// A command stays as it is, on one line.
fn one_code_line(text: &str) -> String {
    let is_plain = |c: &char| !c.is_control();
    let text: String = text.trim().chars().filter(is_plain).collect();
    match text.starts_with('`') {
        true => text,
        false => format!("`{}`", text.replace('`', "")),
    }
}

/// Parts and what has to be there first go before the task, what follows goes after it.
fn insert_all(
    performer: &mut Performer,
    task: &TaskKey,
    modification: Modification,
    tasks: &[NewTask],
) -> Result<Vec<TaskKey>, PerformError> {
    let edited = performer.plan.edit(|file| {
        let mut edited: Option<TaskFile> = None;
        // After a row, the last is inserted first, so that they end up in their order.
        let in_order: Vec<&NewTask> = match modification {
            Modification::AddFollowup => tasks.iter().rev().collect(),
            Modification::SplitTask | Modification::AddPrerequisite => tasks.iter().collect(),
        };
        for new in in_order {
            let now = edited.as_ref().unwrap_or(file);
            let row = now.resolve(task).ok_or(EditError::NoSuchRow)?;
            let place = match modification {
                Modification::AddFollowup => Place::After(row),
                Modification::SplitTask | Modification::AddPrerequisite => Place::Before(row),
            };
            if let Change::Made(made) = now.insert(new, place)? {
                edited = Some(made);
            }
        }
        Ok(edited)
    })?;
    performer.notices.edited(&edited);
    let file = performer.plan.read()?;
    let rows = tasks
        .iter()
        .filter_map(|task| file.rows_with_id(&task.id).next());
    Ok(rows.filter_map(|row| file.key(row)).collect())
}

/// Notes the request, and which rows come of it.
fn count(
    performer: &mut Performer,
    task: &TaskId,
    name: &str,
    tasks: &[NewTask],
) -> Result<(), PerformError> {
    let ids: Vec<TaskId> = tasks.iter().map(|task| task.id.clone()).collect();
    let edited = edit_file(&RealDisk, &performer.places.state, |text| {
        let (mut state, _) = State::read(text)?;
        state.record_modification(task, name, &ids);
        let said = state.to_text();
        Ok::<_, NotState>((said != text).then_some(said))
    })?;
    performer.notices.edited(&edited);
    Ok(())
}
