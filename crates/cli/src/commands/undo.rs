//! `regreen undo`: reverts a task's changes in the working tree.

use regreen_model::{ChoiceKind, TaskKey};
use regreen_runtime::{LockPurpose, lock_tree, open_store};
use regreen_workspace::{
    RealDisk, RelPath, SnapshotLimits, Snapshots, UndoConflict, UndoError, UndoOutcome,
};

use super::choices::{record_choice, tasks_to_reopen, untick_tasks};
use super::inspect::{TaskSpans, spec_files};
use crate::arguments::OneTask;
use crate::exit::Exit;
use crate::history::TaskHistory;
use crate::output;
use crate::problem::Problem;
use crate::state_file::{reopen_in_files, reset_fix_budgets};

pub fn run(arguments: &OneTask) -> Result<Exit, Problem> {
    // If there is nothing to revert, nothing is created.
    let history = TaskHistory::open(arguments)?;
    history.plan.refuse_ambiguous(arguments)?;
    TaskSpans::of(&history, None)?;
    let _lock = lock_tree(&history.context.places, LockPurpose::Change)?;
    let history = TaskHistory::open(arguments)?;
    let (paths, kept) = revert(&history)?;
    let tried = history.since_finished(None)?;
    let tried: Vec<TaskKey> = tried.iter().map(|one| one.key.task.clone()).collect();
    let is_opened = untick_tasks(
        &history.context.places,
        &history.plan,
        &history.selected,
        &tried,
    )?;
    if is_opened || !paths.is_empty() {
        reset_attempts(&history, &tried)?;
    }
    output::print_text(&message(&history, &paths, is_opened)?)?;
    for conflict in &kept {
        output::note(&format!("{conflict}; left unchanged"));
    }
    Ok(match kept.as_slice() {
        [] => Exit::Success,
        _ => Exit::NeedsPerson,
    })
}

/// Makes the next run start over with the tasks.
fn reset_attempts(history: &TaskHistory, tried: &[TaskKey]) -> Result<(), Problem> {
    let (places, plan) = (&history.context.places, &history.plan);
    let tasks = tasks_to_reopen(plan, &history.selected, tried);
    reset_fix_budgets(&places.state, &plan.file, &plan.with_fixes(&tasks))?;
    reopen_in_files(places, &tasks)?;
    record_choice(
        &mut open_store(&places.root)?,
        places,
        &tasks,
        ChoiceKind::Retry,
    )
}

fn revert(history: &TaskHistory) -> Result<(Vec<RelPath>, Vec<UndoConflict>), Problem> {
    let places = &history.context.places;
    let TaskSpans { git, spans } = TaskSpans::of(history, None)?;
    let mut snapshots = Snapshots::new(git, &places.scratch(), SnapshotLimits::default());
    match snapshots.undo(&RealDisk, &spans, &spec_files(places)) {
        Ok(UndoOutcome::Restored { paths, kept }) => Ok((paths, kept)),
        Ok(UndoOutcome::Conflicts(conflicts)) => Err(Problem::UndoConflict {
            task: history.selected.key.id.to_string(),
            paths: conflicts.iter().map(ToString::to_string).collect(),
        }),
        Err(UndoError::Git(error)) => Err(Problem::Git(error)),
        Err(UndoError::Step(error)) => Err(Problem::Step(error)),
        Err(UndoError::Snapshot(error)) => Err(Problem::Snapshot(error)),
    }
}

fn message(history: &TaskHistory, paths: &[RelPath], is_opened: bool) -> Result<String, Problem> {
    let id = &history.selected.key.id;
    let opened = if is_opened {
        "; the task is open again"
    } else {
        ""
    };
    let mut text = match paths.len() {
        0 => format!("nothing to revert for task {id}{opened}\n"),
        1 => format!("restored 1 file to its state before task {id}{opened}\n"),
        n => format!("restored {n} files to their state before task {id}{opened}\n"),
    };
    for path in paths {
        text.push_str(&format!("  {path}\n"));
    }
    let commits = commits(history)?;
    match (paths, commits.as_slice()) {
        ([], _) | (_, []) => {}
        (_, commits) => text.push_str(&format!(
            "commits stay ({}); commit the restored files to make the undo permanent\n",
            commits.join(", ")
        )),
    }
    Ok(output::printable(&text))
}

/// Returns the commits of everything that was reverted.
fn commits(history: &TaskHistory) -> Result<Vec<String>, Problem> {
    let attempts = history.since_finished(None)?;
    let mut commits = Vec::new();
    for run in &history.runs {
        if !attempts.iter().any(|attempt| attempt.key.run == run.id) {
            continue;
        }
        let tasks = history.spec_history.state(run)?.tasks;
        let ours = tasks
            .iter()
            .filter(|(key, _)| history.plan.belongs(&history.selected, key));
        commits.extend(ours.filter_map(|(_, task)| task.hash.clone()));
    }
    Ok(commits)
}
