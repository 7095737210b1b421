use std::collections::BTreeSet;

use regreen_engine::{CommitOrder, CommitResult};
use regreen_model::TaskKey;

use crate::past::Past;
use crate::perform_error::PerformError;
use crate::performer::Performer;
use crate::tree::CommitJob;

/// Commits what the attempts of a task and of its fixes changed, with the spec's files.
pub(crate) fn commit(
    performer: &mut Performer,
    order: &CommitOrder,
    past: &Past<'_>,
) -> Result<CommitResult, PerformError> {
    let tasks = with_fixes(performer, &order.task)?;
    let job = CommitJob {
        run: performer.run.clone(),
        task: order.task.clone(),
        attempts: order.attempts,
        message: order.message.clone(),
        runs: runs(&performer.run, &tasks, past)?,
        tasks,
        parent: order.parent.clone(),
        spec_files: performer.places.committed_files(),
        state: performer.places.state_file(),
    };
    let (result, warnings) = performer.tree.commit(&job);
    performer.notices.add_all(warnings);
    match result {
        CommitResult::Done { .. } | CommitResult::Nothing => Ok(result),
        // Cut short, not refused.
        _ if performer.context.processes.stop.asked().is_some() => Err(PerformError::Stopped),
        result => Ok(result),
    }
}

/// This run, and those before it that gave up one of the tasks.
fn runs(run: &str, tasks: &[TaskKey], past: &Past<'_>) -> Result<BTreeSet<String>, PerformError> {
    let mut runs = BTreeSet::from([run.to_owned()]);
    for task in tasks {
        let unfinished = past.unfinished(task)?;
        runs.extend(unfinished.iter().map(|run| run.as_str().to_owned()));
    }
    Ok(runs)
}

fn with_fixes(performer: &mut Performer, task: &TaskKey) -> Result<Vec<TaskKey>, PerformError> {
    let file = performer.plan.read()?;
    let row = file.resolve(task);
    let fixes = row.into_iter().flat_map(|row| file.all_fixes(row));
    let mut tasks: Vec<TaskKey> = fixes.filter_map(|fix| file.key(fix)).collect();
    tasks.push(task.clone());
    Ok(tasks)
}
