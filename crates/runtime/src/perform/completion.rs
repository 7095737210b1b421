//! What follows a task that has passed: its commit, the progress file, claims about other tasks.

use std::collections::BTreeSet;
use std::convert::Infallible;

use regreen_documents::ProgressFile;
use regreen_engine::{CommitOrder, CommitResult, Record};
use regreen_model::{Claim, TaskKey};
use regreen_workspace::{ReadError, RealDisk, create_dir_all, create_file, edit_file, read_text};

use super::fix_tasks::passed_fixes;
use super::plan_guard::PlanGuard;
use crate::history::EarlierRuns;
use crate::observer::RunObserver;
use crate::performer::{PerformError, Performer};
use crate::tree::{ClosingJob, CommitJob};
use crate::verify::{Check, CheckResult};

/// The completed tasks that this process has recorded. An agent that resets the tree takes the
/// lines along that are not committed yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorded(Vec<Record>);

impl Recorded {
    /// Adds the lines that are missing, in their order.
    fn complete(&self, progress: &ProgressFile) -> ProgressFile {
        let tasks = self.0.iter().map(|Record { task, hash, .. }| {
            let title = task.title.as_str();
            (&task.id, title, hash.as_deref())
        });
        progress.all_completed(tasks)
    }

    fn forget(&mut self, task: &TaskKey) {
        self.0.retain(|record| record.task.id != task.id);
    }
}

/// Records in the progress file that a task is completed, and the fixes that it took.
pub(crate) fn record(
    performer: &mut Performer,
    record: &Record,
    earlier: &EarlierRuns<'_>,
) -> Result<(), PerformError> {
    let healed = passed_fixes(performer, record, earlier)?;
    let mut recorded = std::mem::take(&mut performer.recorded);
    recorded.0.push(record.clone());
    let edited = edit_progress(performer, |progress| {
        let progress = recorded.complete(&progress);
        match &healed {
            Some(history) => progress.fix_history(history),
            None => progress,
        }
    });
    performer.recorded = recorded;
    edited
}

/// Removes a task that no longer passes from the completed ones.
pub(super) fn unrecord(performer: &mut Performer, task: &TaskKey) -> Result<(), PerformError> {
    performer.recorded.forget(task);
    if !performer.paths.progress.exists() {
        return Ok(());
    }
    edit_progress(performer, |progress| progress.reopened(&task.id))
}

/// Edits the progress file; creates it if there is none. `say` may be called more than once.
pub(super) fn edit_progress(
    performer: &mut Performer,
    say: impl Fn(ProgressFile) -> ProgressFile,
) -> Result<(), PerformError> {
    let path = &performer.paths.progress;
    match read_text(&RealDisk, path) {
        Err(ReadError::NotFound { .. }) => {
            if let Some(folder) = path.parent() {
                create_dir_all(&RealDisk, folder)?;
            }
            create_file(&RealDisk, path, say(ProgressFile::read("")).text())?;
        }
        Err(error) => return Err(error.into()),
        Ok(_) => {
            let edited = edit_file(&RealDisk, path, |text| {
                let said = say(ProgressFile::read(text));
                let is_new = said.text() != text;
                Ok::<_, Infallible>(is_new.then(|| said.text().to_owned()))
            })?;
            performer.notices.edited(&edited);
        }
    }
    Ok(())
}

/// Commits what the attempts of a task and of its fixes changed, with the spec's files.
pub(crate) fn commit(
    performer: &mut Performer,
    order: &CommitOrder,
    earlier: &EarlierRuns<'_>,
) -> Result<CommitResult, PerformError> {
    let tasks = with_fixes(performer, &order.task)?;
    let job = CommitJob {
        run: performer.run.clone(),
        task: order.task.clone(),
        attempts: order.attempts,
        number: order.number,
        message: order.message.clone(),
        runs: runs(&performer.run, &tasks, earlier)?,
        tasks,
        parent: order.parent.clone(),
        spec_files: performer.paths.committed_files(),
        state: performer.paths.state_file(),
    };
    let (result, warnings) = performer.tree.commit(&job);
    performer.notices.add_all(warnings);
    match result {
        CommitResult::Done { .. } | CommitResult::Nothing => Ok(result),
        // It was interrupted, not refused.
        _ if performer.context.processes.stop.asked().is_some() => Err(PerformError::Stopped),
        result => Ok(result),
    }
}

/// Commits what is left of the spec's own files at the end of a run.
pub(crate) fn close_commit(
    performer: &mut Performer,
    message: &str,
    number: u32,
) -> Result<CommitResult, PerformError> {
    let job = ClosingJob {
        run: performer.run.clone(),
        number,
        message: message.to_owned(),
        spec_files: performer.paths.committed_files(),
    };
    let (result, warnings) = performer.tree.close_commit(&job);
    performer.notices.add_all(warnings);
    Ok(result)
}

/// This run, and the earlier ones that gave up one of the tasks.
fn runs(
    run: &str,
    tasks: &[TaskKey],
    earlier: &EarlierRuns<'_>,
) -> Result<BTreeSet<String>, PerformError> {
    let mut runs = BTreeSet::from([run.to_owned()]);
    for task in tasks {
        let unfinished = earlier.unfinished(task)?;
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

/// Rows that an agent ticked while it worked on a task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClaimsJob<'a> {
    pub(crate) task: &'a TaskKey,
    pub(crate) claims: &'a [Claim],
    pub(crate) gate: Option<&'a str>,
    pub(crate) environment: &'a [(String, String)],
}

/// The rows whose tick stays, and those whose tick was reverted.
type JudgedClaims = (Vec<TaskKey>, Vec<TaskKey>);

/// Verifies the rows of other tasks that the agent ticked, and ticks those that pass.
pub(crate) fn judge_claims(
    performer: &mut Performer,
    job: &ClaimsJob<'_>,
    guard: &mut PlanGuard,
    earlier: &EarlierRuns<'_>,
    observer: &mut dyn RunObserver,
) -> Result<JudgedClaims, PerformError> {
    let ClaimsJob {
        task,
        claims,
        gate,
        environment,
    } = *job;
    let (mut kept, mut taken_back) = (Vec::new(), Vec::new());
    for claim in claims {
        let stem = format!("claim-{}", claim.task.id);
        let check = Check {
            gate,
            ..performer.check(task, stem, &claim.verify, environment)
        };
        let (result, _) = performer.context.verify_with_retry(&check, observer)?;
        let list = if matches!(result, CheckResult::Passed) {
            &mut kept
        } else {
            &mut taken_back
        };
        list.push(claim.task.clone());
    }
    // Nothing runs from here on: these edits are regreen's own.
    let changes = guard.end(performer)?;
    performer.reviewed(Some(task), changes);
    for key in &kept {
        performer.set_box(key, true)?;
        let claimed = Record {
            task: key.clone(),
            hash: None,
            superseded: Vec::new(),
        };
        record(performer, &claimed, earlier)?;
    }
    Ok((kept, taken_back))
}
