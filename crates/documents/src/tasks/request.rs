//! Rows that an agent asked for.

use std::collections::BTreeMap;

use regreen_model::{
    ERROR_CHARS, Modification, ModificationRequest, NewTask, PlainLine, ProposedTask, TaskId,
    TaskKey,
};

use super::edit::{Change, EditError};
use super::insert::Place;
use super::row::RowId;
use super::task_file::TaskFile;
use crate::state::State;

/// So many requests are honoured for an original, those of its parts included.
const REQUESTS: u32 = 3;
/// So many times a task is divided, and its parts, and theirs.
const DEPTH: u32 = 2;
const ROWS: usize = 10;
const TITLE_CHARS: usize = 120;

impl TaskFile {
    /// The rows that come of a request for a task. `name` tells it from others: what was
    /// granted once is granted again, with the same rows.
    ///
    /// # Errors
    /// Why it is not honoured.
    pub fn grant(
        &self,
        state: &State,
        task: &TaskKey,
        name: &str,
        request: &ModificationRequest,
    ) -> Result<Vec<NewTask>, String> {
        let granted = state.modification_rows(&task.id, name);
        if granted.is_none() {
            judge(state, task, request)?;
        }
        let Some(row) = self.resolve(task) else {
            return Err("the task is no longer in the file".to_owned());
        };
        let first = granted
            .and_then(|rows| task.id.child_number(rows.first()?))
            .or_else(|| self.next_number(row, &task.id));
        Ok(new_tasks(&task.id, first.unwrap_or(1), request))
    }

    /// The first number that no row has used.
    fn next_number(&self, row: RowId, task: &TaskId) -> Option<u32> {
        let free = self.next_fix_id(row, &BTreeMap::new())?;
        task.child_number(&free)
    }

    /// Parts and what has to be there first go before the task, what follows goes after it.
    /// `None` if all of them stand there already.
    ///
    /// # Errors
    /// If the task is gone, or a row cannot be inserted.
    pub fn insert_granted(
        &self,
        task: &TaskKey,
        modification: Modification,
        tasks: &[NewTask],
    ) -> Result<Option<Self>, EditError> {
        let mut edited: Option<Self> = None;
        // After a row, the last is inserted first, so that they end up in their order.
        let in_order: Vec<&NewTask> = match modification {
            Modification::AddFollowup => tasks.iter().rev().collect(),
            Modification::SplitTask | Modification::AddPrerequisite => tasks.iter().collect(),
        };
        for new in in_order {
            let now = edited.as_ref().unwrap_or(self);
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
    }
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
    if lineage.depth >= DEPTH {
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
