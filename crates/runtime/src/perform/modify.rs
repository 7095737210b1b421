//! Rows that an agent asked for.

use regreen_documents::{InvalidState, StateDocument};
use regreen_engine::{ModifyOrder, ModifyResult};
use regreen_model::{Modification, NewTask, TaskId, TaskKey};
use regreen_workspace::{RealDisk, edit_file, read_text};

use super::save_state::sound_state;
use crate::perform_error::PerformError;
use crate::performer::Performer;

/// Writes the rows into the plan, or says why not.
pub(crate) fn modify(
    performer: &mut Performer,
    order: &ModifyOrder,
) -> Result<ModifyResult, PerformError> {
    sound_state(performer)?;
    let file = performer.plan.read()?;
    let state = state(performer);
    let name = order.name(&performer.run);
    let tasks = match file.grant(&state, &order.task, &name, &order.request) {
        Ok(tasks) => tasks,
        Err(why) => return Ok(ModifyResult::Refused { why }),
    };
    // Counted first: were we killed in between, the same rows would come of it again.
    count(performer, &order.task.id, &name, &tasks)?;
    match insert_all(performer, &order.task, order.request.modification, &tasks) {
        Err(PerformError::Broken(why)) => Ok(ModifyResult::Refused { why }),
        added => Ok(ModifyResult::Done { added: added? }),
    }
}

pub(super) fn state(performer: &Performer) -> StateDocument {
    let text = read_text(&RealDisk, &performer.places.state);
    let state = text
        .ok()
        .and_then(|file| StateDocument::read(&file.text).ok());
    state.map(|(state, _)| state).unwrap_or_default()
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

/// Notes the request, and which rows come of it.
fn count(
    performer: &mut Performer,
    task: &TaskId,
    name: &str,
    tasks: &[NewTask],
) -> Result<(), PerformError> {
    let ids: Vec<TaskId> = tasks.iter().map(|task| task.id.clone()).collect();
    let edited = edit_file(&RealDisk, &performer.places.state, |text| {
        let (mut state, _) = StateDocument::read(text)?;
        state.record_modification(task, name, &ids);
        let said = state.to_text();
        Ok::<_, InvalidState>((said != text).then_some(said))
    })?;
    performer.notices.edited(&edited);
    Ok(())
}
