//! Fix tasks: what is left of a budget, a new row, and what became of them.

use std::collections::BTreeMap;

use regreen_documents::{EditError, FixHistory, FixRecord, Outcome, Place, RowId, State, TaskFile};
use regreen_engine::{FixBudget, FixOrder};
use regreen_model::{FixOrigin, NewTask, TaskId, TaskKey};
use regreen_workspace::{RealDisk, read_text};

use super::record::edit_progress;
use crate::perform_error::PerformError;
use crate::performer::Performer;

/// What a task has used of its fix budget.
pub(crate) fn read_budget(
    performer: &mut Performer,
    task: &TaskKey,
) -> Result<FixBudget, PerformError> {
    let file = performer.plan.read()?;
    let map = fix_map(performer);
    let row = file.resolve(task);
    let found = row.and_then(|row| budget(&file, row, &map));
    found.ok_or_else(|| PerformError::Broken(format!("task {task} is no longer in the file")))
}

fn budget(file: &TaskFile, row: RowId, map: &BTreeMap<String, FixRecord>) -> Option<FixBudget> {
    let used = file.budget(row, map)?;
    Some(FixBudget {
        depth: used.depth,
        fixes: used.fixes,
        root_fixes: used.root_fixes,
        root: file.key(file.root(row))?.id,
        fix_ids: fix_ids(file, row, map),
        next_id: file.next_fix_id(row, map)?,
        last_error: last_error(file, row, map),
    })
}

/// What the state remembers of the last fix, which an earlier run may have made.
fn last_error(file: &TaskFile, row: RowId, map: &BTreeMap<String, FixRecord>) -> String {
    let recorded = file.key(row).and_then(|key| map.get(key.id.as_str()));
    recorded
        .map(|record| record.last_error.clone())
        .unwrap_or_default()
}

/// The fixes of a task, in the order they were made: those that the state remembers, and
/// those that only stand in the file.
fn fix_ids(file: &TaskFile, row: RowId, map: &BTreeMap<String, FixRecord>) -> Vec<TaskId> {
    let recorded = file.key(row).and_then(|key| map.get(key.id.as_str()));
    let recorded = recorded.into_iter().flat_map(|record| &record.fix_task_ids);
    let mut ids: Vec<TaskId> = recorded.filter_map(|id| TaskId::parse(id)).collect();
    for key in file.fixes(row).filter_map(|fix| file.key(fix)) {
        if !ids.contains(&key.id) {
            ids.push(key.id);
        }
    }
    ids
}

/// The fixes that the state file remembers; without one the rows alone count.
fn fix_map(performer: &Performer) -> BTreeMap<String, FixRecord> {
    let text = read_text(&RealDisk, &performer.places.state);
    let state = text.ok().and_then(|file| State::read(&file.text).ok());
    state
        .map(|(state, _)| state.fix_task_map())
        .unwrap_or_default()
}

/// The fix is to stand after its task and the task's other fixes.
pub(crate) fn insert_fix(performer: &mut Performer, order: &FixOrder) -> Result<(), PerformError> {
    let edited = performer.plan.edit(|file| {
        let (row, parent) = file
            .resolve(&order.task)
            .and_then(|row| Some((row, file.task(row)?)))
            .ok_or(EditError::NoSuchRow)?;
        let origin = FixOrigin {
            error: &order.error,
            attempted_fix: &order.attempted_fix,
            scope: &order.scope,
            error_type: "",
            extra_step: &order.extra_step,
        };
        let fix = NewTask::fix(order.id.clone(), &order.task.id, &parent, origin);
        Ok(file.insert(&fix, Place::After(row))?.made())
    })?;
    performer.notices.edited(&edited);
    Ok(())
}

/// The fixes of a task, and of its fixes, that are not done.
pub(crate) fn open_fixes(
    performer: &mut Performer,
    task: &TaskKey,
) -> Result<Vec<TaskKey>, PerformError> {
    let file = performer.plan.read()?;
    let row = file.resolve(task);
    let fixes = row.into_iter().flat_map(|row| file.all_fixes(row));
    let open = fixes.filter(|fix| !file.is_done(*fix));
    Ok(open.filter_map(|fix| file.key(fix)).collect())
}

/// The progress file is to say of a task, and of all above it, that healing them has failed.
pub(crate) fn note_failure(performer: &mut Performer, task: &TaskKey) -> Result<(), PerformError> {
    let file = performer.plan.read()?;
    let map = fix_map(performer);
    let Some(row) = file.resolve(task) else {
        return Ok(());
    };
    let above = std::iter::successors(Some(row), |row| file.fixed_by(*row));
    let histories: Vec<FixHistory> = above
        .filter_map(|row| history(&file, row, &map, Outcome::MaxLimit))
        .collect();
    edit_progress(performer, |progress| {
        // The original first.
        let histories = histories.iter().rev();
        histories.fold(progress, |progress, history| progress.fix_history(history))
    })
}

/// What the progress file says of a task that owns fixes; of any other it says nothing.
pub(super) fn passed(
    performer: &mut Performer,
    task: &TaskKey,
) -> Result<Option<FixHistory>, PerformError> {
    let file = performer.plan.read()?;
    let map = fix_map(performer);
    let row = file.resolve(task);
    Ok(row.and_then(|row| history(&file, row, &map, Outcome::Pass)))
}

fn history(
    file: &TaskFile,
    row: RowId,
    map: &BTreeMap<String, FixRecord>,
    outcome: Outcome,
) -> Option<FixHistory> {
    let fixes = fix_ids(file, row, map);
    let task = file.key(row)?.id;
    (!fixes.is_empty()).then_some(FixHistory {
        task,
        fixes,
        outcome,
    })
}
