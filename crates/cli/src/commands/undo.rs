//! `regreen undo`: takes back in the working tree what a task changed.

use std::collections::BTreeSet;

use regreen_model::TaskKey;
use regreen_runtime::take_tree;
use regreen_workspace::{
    AttemptSpan, Git, RealDisk, RelPath, SnapshotLimits, Snapshots, UndoConflict, UndoError, Undone,
};

use super::choose::set_box;
use super::inspect::{open_git, spans, task_id};
use crate::arguments::OneTask;
use crate::exit::Exit;
use crate::history::History;
use crate::output;
use crate::problem::Problem;
use crate::workplace::Workplace;

pub fn run(arguments: &OneTask) -> Result<Exit, Problem> {
    let workplace = Workplace::find(arguments.spec.as_deref())?;
    let places = &workplace.places;
    let task = task_id(&arguments.task)?;
    let _lock = take_tree(places)?;
    let attempt = History::open(places)?.attempt(&task, None)?;
    let key = attempt.key.task;
    let git = open_git(places)?;
    let spans = spans(&git, attempt.key.run.as_str(), &key, None)?;
    if spans.is_empty() {
        return Err(Problem::NoSnapshot {
            task: task.to_string(),
        });
    }
    // What was written about the work stays; only the work is taken back.
    let spec_files = places.spec_files().into_iter().flatten().collect();
    let (paths, kept) = take_back(git, &places.scratch(), &spans, &spec_files)?;
    set_box(places, &key, false)?;
    output::print(&told(&key, &paths))?;
    for conflict in kept {
        output::note(&conflict.to_string());
    }
    Ok(Exit::AllGreen)
}

fn take_back(
    git: Git,
    scratch: &std::path::Path,
    spans: &[AttemptSpan],
    except: &BTreeSet<RelPath>,
) -> Result<(Vec<RelPath>, Vec<UndoConflict>), Problem> {
    let mut snapshots = Snapshots::new(git, scratch, SnapshotLimits::default());
    match snapshots.undo(&RealDisk, spans, except) {
        Ok(Undone::Restored { paths, kept }) => Ok((paths, kept)),
        Ok(Undone::Conflicts(conflicts)) => Err(Problem::UndoConflict {
            paths: conflicts.iter().map(ToString::to_string).collect(),
        }),
        Err(UndoError::Git(error)) => Err(Problem::Git(error)),
        Err(UndoError::Step(error)) => Err(Problem::Step(error)),
        Err(UndoError::Snapshot(error)) => Err(Problem::Snapshot(error)),
    }
}

fn told(key: &TaskKey, paths: &[RelPath]) -> String {
    let id = &key.id;
    let mut text = match paths.len() {
        0 => format!("there is nothing left to take back of task {id}\n"),
        1 => format!("1 file is as it was before task {id}; its box is empty again\n"),
        n => format!("{n} files are as they were before task {id}; its box is empty again\n"),
    };
    for path in paths {
        text.push_str(&format!("  {path}\n"));
    }
    output::printable(&text)
}
