//! New rows in the plan: fix tasks, and tasks requested by an agent.

use std::collections::BTreeMap;

use regreen_documents::{
    EditError, FixHistory, FixRecord, HealingOutcome, InvalidState, RowId, StateDocument, TaskFile,
};
use regreen_engine::{FixOrder, Input, ModifyOrder, ModifyResult, Record};
use regreen_model::{CommandSeq, FailureKind, FixBudget, Modification, NewTask, TaskId, TaskKey};
use regreen_workspace::{EditFileError, RealDisk, edit_file};

use super::completion::edit_progress;
use super::state_file::{current_state, ensure_state_file};
use crate::history::EarlierRuns;
use crate::performer::{PerformError, Performer};

/// Reads how much of its fix budget a task has used; `None` if someone removed or ticked the task.
pub(crate) fn read_budget(
    performer: &mut Performer,
    task: &TaskKey,
) -> Result<Option<FixBudget>, PerformError> {
    let file = performer.plan.read()?;
    let map = fix_map(performer);
    let row = file.open_row(task);
    Ok(row.and_then(|row| file.fix_budget(row, &map)))
}

/// Returns the fixes in the state file. Without a state file, only the rows count.
fn fix_map(performer: &mut Performer) -> BTreeMap<String, FixRecord> {
    current_state(performer).fix_task_map()
}

/// Inserts a fix after its task and the task's other fixes, unless it is already there. Returns the
/// answer to the command.
pub(crate) fn insert_fix(
    performer: &mut Performer,
    seq: CommandSeq,
    order: &FixOrder,
) -> Result<Input, PerformError> {
    let edited = performer
        .plan
        .edit(|file| file.insert_fix(&order.task, order.id.clone(), &order.origin));
    let edited = match edited {
        Err(EditFileError::Edit(EditError::NoSuchRow)) => return Ok(Input::Gone { seq }),
        Err(EditFileError::Edit(EditError::IdTaken(_))) => {
            let budget = read_budget(performer, &order.task)?;
            let answer = budget.map(|budget| Input::BudgetRead { seq, budget });
            return Ok(answer.unwrap_or(Input::Gone { seq }));
        }
        edited => edited?,
    };
    performer.notices.edited(&edited);
    Ok(Input::Inserted { seq })
}

/// Ticks or unticks a task. With `supersede`, also ticks its open fixes, and returns them.
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

/// Records in the progress file that healing a task, and all tasks above it, has failed. If there is
/// no file yet, it is made, because the message about the limit names it.
pub(crate) fn note_failure(
    performer: &mut Performer,
    task: &TaskKey,
    kind: Option<FailureKind>,
    earlier: &EarlierRuns<'_>,
) -> Result<(), PerformError> {
    let file = performer.plan.read()?;
    let map = fix_map(performer);
    let Some(row) = file.resolve(task) else {
        return Ok(());
    };
    let above = std::iter::successors(Some(row), |row| file.fixed_by(*row));
    let mut histories: Vec<FixHistory> = Vec::new();
    for row in above {
        let ran = fixes_that_ran(&file, row, &map, &[], earlier)?;
        histories.extend(history(&file, row, ran, HealingOutcome::MaxLimit));
    }
    edit_progress(performer, |progress| {
        // Original first.
        let histories = histories.iter().rev();
        let progress = histories.fold(progress, |progress, history| progress.fix_history(history));
        progress.or_failed(&task.id, kind)
    })
}

/// Returns the fix history of a task that has passed; `None` if it has no fixes.
pub(super) fn passed_fixes(
    performer: &mut Performer,
    record: &Record,
    earlier: &EarlierRuns<'_>,
) -> Result<Option<FixHistory>, PerformError> {
    let file = performer.plan.latest()?;
    let Some(row) = file.resolve(&record.task) else {
        return Ok(None);
    };
    let map = fix_map(performer);
    let ran = fixes_that_ran(&file, row, &map, &record.superseded, earlier)?;
    Ok(history(&file, row, ran, HealingOutcome::Pass))
}

/// Returns the fixes of a task that were run: those with an attempt in the journal, and those that
/// are done and were not merely ticked because the task had passed.
fn fixes_that_ran(
    file: &TaskFile,
    row: RowId,
    map: &BTreeMap<String, FixRecord>,
    superseded: &[TaskKey],
    earlier: &EarlierRuns<'_>,
) -> Result<Vec<TaskId>, PerformError> {
    let mut ran = Vec::new();
    for id in file.fix_ids(row, map) {
        let is_done = file.rows_with_id(&id).any(|row| file.is_done(row));
        let is_superseded = superseded.iter().any(|fix| fix.id == id);
        if (is_done && !is_superseded) || earlier.has_attempt(&id)? {
            ran.push(id);
        }
    }
    Ok(ran)
}

fn history(
    file: &TaskFile,
    row: RowId,
    fixes: Vec<TaskId>,
    outcome: HealingOutcome,
) -> Option<FixHistory> {
    let task = file.key(row)?.id;
    (!fixes.is_empty()).then_some(FixHistory {
        task,
        fixes,
        outcome,
    })
}

/// Adds the requested rows to the plan, or reports why not.
pub(crate) fn modify(
    performer: &mut Performer,
    order: &ModifyOrder,
) -> Result<ModifyResult, PerformError> {
    ensure_state_file(performer)?;
    let file = performer.plan.read()?;
    let state = current_state(performer);
    let name = order.name(&performer.run);
    let tasks = match file.grant(&state, &order.task, &name, &order.request) {
        Ok(tasks) => tasks,
        Err(why) => return Ok(ModifyResult::Refused { why }),
    };
    // Counted first: if regreen is killed in between, the same rows are granted again.
    count(performer, order, &name, &tasks)?;
    match insert_all(performer, &order.task, order.request.modification, &tasks) {
        Err(PerformError::Broken(why)) => Ok(ModifyResult::Refused { why }),
        added => Ok(ModifyResult::Done { added: added? }),
    }
}

fn insert_all(
    performer: &mut Performer,
    task: &TaskKey,
    modification: Modification,
    tasks: &[NewTask],
) -> Result<Vec<TaskKey>, PerformError> {
    let edited = performer
        .plan
        .edit(|file| file.insert_granted(task, modification, tasks))?;
    performer.notices.edited(&edited);
    Ok(performer.plan.read()?.granted_keys(tasks))
}

/// Records the request and the rows that it adds.
fn count(
    performer: &mut Performer,
    order: &ModifyOrder,
    name: &str,
    tasks: &[NewTask],
) -> Result<(), PerformError> {
    let (task, request) = (&order.task.id, &order.request);
    let ids: Vec<TaskId> = tasks.iter().map(|task| task.id.clone()).collect();
    let edited = edit_file(&RealDisk, &performer.paths.state, |text| {
        let (mut state, _) = StateDocument::read(text)?;
        state.record_modification(task, name, &ids);
        if let Some(first) = ids.first() {
            let kind = request.modification.name();
            state.describe_modification(task, first, kind, &request.reasoning);
        }
        let said = state.to_text();
        Ok::<_, InvalidState>((said != text).then_some(said))
    })?;
    performer.notices.edited(&edited);
    Ok(())
}
