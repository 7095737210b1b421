use regreen_engine::{CommitOrder, CommitResult};
use regreen_model::TaskKey;

use crate::perform_error::PerformError;
use crate::performer::Performer;
use crate::tree::CommitJob;

/// Commits what the attempts of a task and of its fixes changed, with the spec's files.
pub(crate) fn commit(
    performer: &mut Performer,
    order: &CommitOrder,
) -> Result<CommitResult, PerformError> {
    let job = CommitJob {
        run: performer.run.clone(),
        task: order.task.clone(),
        attempts: order.attempts,
        message: order.message.clone(),
        tasks: with_fixes(performer, &order.task)?,
        parent: order.parent.clone(),
        // The state is of this machine and this moment.
        spec_files: performer.places.committed_files(),
    };
    let (result, warnings) = performer.tree.commit(&job);
    performer.notices.add_all(warnings);
    match result {
        CommitResult::Done { .. } | CommitResult::Nothing => Ok(result),
        // Cut short, not refused.
        _ if performer.processes.stop.asked().is_some() => Err(PerformError::Stopped),
        result => Ok(result),
    }
}

fn with_fixes(performer: &mut Performer, task: &TaskKey) -> Result<Vec<TaskKey>, PerformError> {
    let file = performer.plan.read()?;
    let row = file.resolve(task);
    let fixes = row.into_iter().flat_map(|row| file.all_fixes(row));
    let mut tasks: Vec<TaskKey> = fixes.filter_map(|fix| file.key(fix)).collect();
    tasks.push(task.clone());
    Ok(tasks)
}
