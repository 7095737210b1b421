use std::collections::BTreeSet;

use regreen_documents::{Next, Pick, RowId, TaskFile, commit_message, verify_commands};
use regreen_engine::{NextStep, Plan};
use regreen_model::{PickedTask, TaskId, TaskKey};

use crate::audience::Audience;
use crate::outline::outline;
use crate::perform_error::PerformError;
use crate::performer::Performer;

/// What the task file says now.
pub(crate) fn read_plan(
    performer: &mut Performer,
    include_optional: bool,
    only: Option<&TaskId>,
    passed_over: &BTreeSet<TaskKey>,
    originals_first: Option<&BTreeSet<TaskKey>>,
    audience: &mut dyn Audience,
) -> Result<Plan, PerformError> {
    let file = performer.plan.read()?;
    audience.outline(&outline(&file));
    let pick = Pick {
        include_optional,
        passed_over: passed_over.clone(),
        originals_first: originals_first
            .map(|tried| untried(&file, tried))
            .unwrap_or_default(),
    };
    let next = match only {
        None => file.next(&pick),
        Some(id) => only_task(&file, &pick, id),
    };
    let total = count(file.runnable(include_optional));
    Ok(Plan {
        next: match next {
            Next::Run(row) => picked(&file, row, total, include_optional, false),
            Next::CloseGroup(row) => picked(&file, row, total, include_optional, true),
            Next::Nothing => NextStep::Nothing,
        },
        total,
        open: match only {
            None => count(file.open_originals(include_optional)),
            Some(id) => open_with_id(&file, id),
        },
    })
}

/// Originals that were not tried yet.
fn untried(file: &TaskFile, tried: &BTreeSet<TaskKey>) -> BTreeSet<TaskKey> {
    let originals = file.rows().filter(|row| file.fixed_by(*row).is_none());
    let keys = originals.filter_map(|row| file.key(row));
    keys.filter(|key| !tried.contains(key)).collect()
}

/// The task that was asked for, or its fixes, as long as it is open; whatever else is open.
fn only_task(file: &TaskFile, pick: &Pick, id: &TaskId) -> Next {
    let others = file.rows().filter(|row| {
        let root = file.root(*row);
        file.key(root).is_some_and(|key| key.id != *id)
    });
    let pick = Pick {
        include_optional: true,
        passed_over: pick
            .passed_over
            .iter()
            .cloned()
            .chain(others.filter_map(|row| file.key(row)))
            .collect(),
        ..pick.clone()
    };
    file.next(&pick)
}

fn picked(
    file: &TaskFile,
    row: RowId,
    total: u32,
    include_optional: bool,
    is_group: bool,
) -> NextStep {
    let (Some(task), Some(root)) = (file.task(row), file.key(file.root(row))) else {
        return NextStep::Nothing;
    };
    let Some(key) = task.key() else {
        return NextStep::Nothing;
    };
    NextStep::Task(Box::new(PickedTask {
        task: key,
        root,
        index: count(file.index_of(row, include_optional)),
        total,
        is_verify: task.is_verify(),
        is_group,
        has_fixes: file.fixes(row).next().is_some(),
        verify: task
            .fields
            .verify
            .as_deref()
            .map(verify_commands)
            .unwrap_or_default(),
        commit: task.fields.commit.as_deref().and_then(commit_message),
    }))
}

fn open_with_id(file: &TaskFile, id: &TaskId) -> u32 {
    let tasks = file.rows_with_id(id).filter_map(|row| file.task(row));
    count(tasks.filter(|task| !task.done).count())
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
