//! The steps after a task has passed: its commit, the progress file, and claims about other tasks.

use std::collections::BTreeSet;
use std::convert::Infallible;

use regreen_documents::{CompletedLine, ProgressFile};
use regreen_engine::{CommitOrder, CommitResult, Record};
use regreen_model::{Claim, TaskId, TaskKey};
use regreen_workspace::{
    EditFileError, ReadError, RealDisk, create_dir_all, create_file, edit_file,
};

use super::fix_tasks::passed_fixes;
use super::ignored_files::warn_of_uncommitted;
use super::other_specs::note_completed;
use super::plan_guard::PlanGuard;
use crate::history::EarlierRuns;
use crate::observer::RunObserver;
use crate::performer::{PerformError, Performer};
use crate::tree::{ClosingJob, CommitJob};
use crate::verify::{Check, CheckResult};

/// The completed tasks that this process has recorded. If an agent resets the tree, lines that are
/// not committed yet are lost from the progress file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorded(Vec<(TaskId, CompletedLine)>);

impl Recorded {
    fn add(&mut self, Record { task, hash, .. }: &Record) {
        let line = CompletedLine::new(&task.id, &task.title, hash.as_deref());
        self.0.push((task.id.clone(), line));
    }

    /// Adds the missing lines, in their order.
    fn complete(&self, progress: &ProgressFile) -> ProgressFile {
        progress.all_completed(self.0.iter().map(|(_, line)| line))
    }

    fn forget(&mut self, task: &TaskKey) {
        self.0.retain(|(recorded, _)| *recorded != task.id);
    }
}

/// Records a completed task and its fixes in the progress file.
pub(crate) fn record(
    performer: &mut Performer,
    record: &Record,
    earlier: &EarlierRuns<'_>,
) -> Result<(), PerformError> {
    let healed = passed_fixes(performer, record, earlier)?;
    let mut recorded = std::mem::take(&mut performer.recorded);
    recorded.add(record);
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

/// Removes a task that no longer passes from the completed tasks.
pub(super) fn unrecord(performer: &mut Performer, task: &TaskKey) -> Result<(), PerformError> {
    performer.recorded.forget(task);
    if !performer.paths.progress.exists() {
        return Ok(());
    }
    edit_progress(performer, |progress| progress.reopened(&task.id))
}

/// Edits the progress file, creating it if needed. May call `say` more than once.
pub(super) fn edit_progress(
    performer: &mut Performer,
    say: impl Fn(ProgressFile) -> ProgressFile,
) -> Result<(), PerformError> {
    let path = &performer.paths.progress;
    let edited = edit_file(&RealDisk, path, |text| {
        let said = say(ProgressFile::read(text));
        let is_new = said.text() != text;
        Ok::<_, Infallible>(is_new.then(|| said.text().to_owned()))
    });
    match edited {
        Err(EditFileError::Read(ReadError::NotFound { .. })) => {
            if let Some(folder) = path.parent() {
                create_dir_all(&RealDisk, folder)?;
            }
            create_file(&RealDisk, path, say(ProgressFile::read("")).text())?;
        }
        edited => performer.notices.edited(&edited?),
    }
    Ok(())
}

/// Commits the changes of a task's attempts and its fixes, with the spec's files.
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
    if let Ok(file) = performer.plan.latest() {
        warn_of_uncommitted(performer, &file, &order.task);
    }
    match result {
        CommitResult::Done { .. } | CommitResult::Nothing => Ok(result),
        // The commit was interrupted, not refused.
        _ if performer.context.processes.stop.asked().is_some() => Err(PerformError::Stopped),
        result => Ok(result),
    }
}

/// Commits the remaining changes to the spec's own files at the end of a run. If all tasks are done,
/// the files about several specs say so first: they are part of this commit. Also returns whether
/// the hooks of the commit changed files.
pub(crate) fn close_commit(
    performer: &mut Performer,
    message: &str,
    number: u32,
    completes: bool,
) -> Result<(CommitResult, bool), PerformError> {
    let shared_files = if completes {
        note_completed(performer)?
    } else {
        BTreeSet::new()
    };
    let job = ClosingJob {
        run: performer.run.clone(),
        number,
        message: message.to_owned(),
        spec_files: performer.paths.committed_files(),
        shared_files,
    };
    let before = performer.tree.current();
    let (result, warnings) = performer.tree.close_commit(&job);
    performer.notices.add_all(warnings);
    let mut changed = performer.tree.changed_from(before.as_ref());
    let spec_files = performer.paths.spec_files();
    changed.retain(|path| !spec_files.contains(&Some(path.clone())));
    if let Some(first) = changed.first() {
        let more = match changed.len() {
            1 => String::new(),
            several => format!(" and {} more", several - 1),
        };
        performer.notices.add(format!(
            "files changed while the closing commit was made ({first}{more}): the final check runs again"
        ));
    }
    Ok((result, !changed.is_empty()))
}

/// Returns this run, and the earlier runs that gave up on one of the tasks.
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
    // The guard has just read it.
    let file = performer.plan.latest()?;
    let row = file.resolve(task);
    let fixes = row.into_iter().flat_map(|row| file.all_fixes(row));
    let mut tasks: Vec<TaskKey> = fixes.filter_map(|fix| file.key(fix)).collect();
    tasks.push(task.clone());
    Ok(tasks)
}

/// Rows of other tasks that an agent ticked while working on a task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClaimsJob<'a> {
    pub(crate) task: &'a TaskKey,
    pub(crate) claims: &'a [Claim],
    pub(crate) gate: Option<&'a str>,
    pub(crate) environment: &'a [(String, String)],
}

/// The rows whose tick stays, and the rows whose tick was reverted.
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
    // No foreign code runs from here on: these edits are regreen's own.
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
