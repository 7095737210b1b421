//! Fix tasks: what is left of a budget, a new row, and what became of them.

use std::collections::BTreeMap;

use regreen_documents::{EditError, FixHistory, FixRecord, HealingOutcome, RowId, TaskFile};
use regreen_engine::FixOrder;
use regreen_model::{FixBudget, TaskKey};
use regreen_workspace::EditFileError;

use super::modify::state;
use super::record::edit_progress;
use crate::perform_error::PerformError;
use crate::performer::Performer;

/// What a task has used of its fix budget; `None` if somebody removed or ticked
/// the task.
pub(crate) fn read_budget(
    performer: &mut Performer,
    task: &TaskKey,
) -> Result<Option<FixBudget>, PerformError> {
    let file = performer.plan.read()?;
    let map = fix_map(performer);
    let row = file.open_row(task);
    Ok(row.and_then(|row| file.fix_budget(row, &map)))
}

/// The fixes that the state file remembers; without one the rows alone count.
fn fix_map(performer: &Performer) -> BTreeMap<String, FixRecord> {
    state(performer).fix_task_map()
}

/// The fix is to stand after its task and the task's other fixes. Whether there is such a task.
pub(crate) fn insert_fix(
    performer: &mut Performer,
    order: &FixOrder,
) -> Result<bool, PerformError> {
    let edited = performer
        .plan
        .edit(|file| file.insert_fix(&order.task, order.id.clone(), &order.origin));
    let edited = match edited {
        Err(EditFileError::Edit(EditError::NoSuchRow)) => return Ok(false),
        edited => edited?,
    };
    performer.notices.edited(&edited);
    Ok(true)
}

/// Sets the box of a task. With `supersede`, ticks its open fixes as well, and returns them.
pub(crate) fn tick(
    performer: &mut Performer,
    task: &TaskKey,
    done: bool,
    supersede: bool,
) -> Result<Vec<TaskKey>, PerformError> {
    performer.set_box(task, done)?;
    if !supersede {
        return Ok(Vec::new());
    }
    let fixes = performer.plan.read()?.open_fixes(task);
    for fix in &fixes {
        performer.set_box(fix, true)?;
    }
    Ok(fixes)
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
        .filter_map(|row| history(&file, row, &map, HealingOutcome::MaxLimit))
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
    Ok(row.and_then(|row| history(&file, row, &map, HealingOutcome::Pass)))
}

fn history(
    file: &TaskFile,
    row: RowId,
    map: &BTreeMap<String, FixRecord>,
    outcome: HealingOutcome,
) -> Option<FixHistory> {
    let fixes = file.fix_ids(row, map);
    let task = file.key(row)?.id;
    (!fixes.is_empty()).then_some(FixHistory {
        task,
        fixes,
        outcome,
    })
}
