//! Compares the task file, the progress file and git with the journal, at the start of every run.
//!
//! A journal whose end is lost (a damaged disk, a deleted database) no longer knows what was done. The logs
//! of attempts show what it should know. A ticked task whose end it does not know is completed if regreen's
//! own commit proves that it has passed, and named otherwise.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use regreen_documents::RowId;
use regreen_engine::{Phase, State};
use regreen_model::TaskKey;
use regreen_store::{RunId, Store};
use regreen_workspace::{MAX_FILE, read_text_file};

use super::completion::edit_progress;
use crate::performer::{PerformError, Performer};

/// Completes or names the ticked tasks that the journal has lost.
pub(crate) fn reconcile(
    performer: &mut Performer,
    store: &Store,
    state: &State,
) -> Result<(), PerformError> {
    let file = performer.plan.read()?;
    let progress = read_text_file(&performer.paths.progress, MAX_FILE).unwrap_or_default();
    let is_done = |row: &RowId| file.task(*row).is_some_and(|task| task.done);
    let done = file.rows().filter(is_done);
    let keys: Vec<TaskKey> = done.filter_map(|row| file.key(row)).collect();
    for key in &keys {
        if is_recorded(&progress, key) || is_being_saved(state, key) {
            continue;
        }
        let Some(run) = lost_run(performer, store, key) else {
            continue;
        };
        complete_or_name(performer, &run, key)?;
    }
    name_lost_commits(performer, &keys, &progress)
}

/// How many lost commits are named.
const NAMED: usize = 5;

/// Names ticked tasks whose commit is no longer in the history of HEAD: someone rewrote it, or an
/// agent removed the repository.
fn name_lost_commits(
    performer: &mut Performer,
    done: &[TaskKey],
    progress: &str,
) -> Result<(), PerformError> {
    let recorded = done.iter().filter_map(|key| {
        let hash = recorded_commit(progress, key)?;
        Some((key.id.to_string(), hash.to_owned()))
    });
    let recorded: Vec<(String, String)> = recorded.collect();
    let hashes: Vec<String> = recorded.iter().map(|(_, hash)| hash.clone()).collect();
    let lost = performer.tree.not_in_history(&hashes)?;
    let mut named: Vec<String> = recorded
        .iter()
        .filter(|(_, hash)| lost.contains(hash))
        .map(|(id, hash)| format!("{id} ({hash})"))
        .collect();
    if named.is_empty() {
        return Ok(());
    }
    let more = named.len().saturating_sub(NAMED);
    named.truncate(NAMED);
    if more > 0 {
        named.push(format!("{more} more"));
    }
    performer.notices.add(format!(
        "the commits of these done tasks are not in the history of HEAD: {}. If you did not rewrite it, check whether their work is still there",
        named.join(", ")
    ));
    Ok(())
}

/// The commit that the progress file names for a task.
fn recorded_commit<'p>(progress: &'p str, key: &TaskKey) -> Option<&'p str> {
    let start = format!("- [x] {} ", key.id);
    let line = progress
        .lines()
        .rev()
        .find(|line| line.starts_with(&start))?;
    let (_, hash) = line.rsplit_once(" - ")?;
    let is_hash = (7..=64).contains(&hash.len()) && hash.bytes().all(|b| b.is_ascii_hexdigit());
    is_hash.then_some(hash)
}

fn complete_or_name(
    performer: &mut Performer,
    run: &str,
    key: &TaskKey,
) -> Result<(), PerformError> {
    let id = &key.id;
    match performer.tree.commit_of(run, key)? {
        Some(hash) => {
            edit_progress(performer, |progress| {
                progress.completed(id, &key.title, Some(&hash))
            })?;
            performer.notices.add(format!(
                "task {id}: the journal lost its end, which commit {hash} shows; .progress.md has it now"
            ));
        }
        None => performer.notices.add(format!(
            "task {id} is ticked, but the journal lost how it ended: it is neither in .progress.md nor in a commit of its own. Check its work, and untick it to run it again"
        )),
    }
    Ok(())
}

pub(crate) fn is_recorded(progress: &str, key: &TaskKey) -> bool {
    let start = format!("- [x] {} ", key.id);
    progress.lines().any(|line| line.starts_with(&start))
}

/// Whether the run goes on with ticking, committing or recording it.
fn is_being_saved(state: &State, key: &TaskKey) -> bool {
    let phase = state.tasks.get(key).map(|task| &task.phase);
    matches!(
        phase,
        Some(
            Phase::Ticking { .. }
                | Phase::Superseding { .. }
                | Phase::TickingFixes { .. }
                | Phase::Committing { .. }
                | Phase::Recording { .. }
        )
    )
}

/// The last run with a log of an attempt whose end the journal does not know.
fn lost_run(performer: &Performer, store: &Store, key: &TaskKey) -> Option<String> {
    let runs = fs::read_dir(performer.paths.own().join("runs")).ok()?;
    let mut names: Vec<String> = runs
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    let is_lost = |run: &&String| {
        let logged = logged_attempts(&performer.paths.task_folder(run, key));
        let known = known_attempts(store, run, key);
        !logged.is_subset(&known)
    };
    names.iter().rev().find(is_lost).cloned()
}

/// The numbers of the attempts that left a log.
fn logged_attempts(folder: &Path) -> BTreeSet<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter_map(|name| name.strip_suffix(".log")?.parse().ok())
        .collect()
}

/// The numbers of the attempts whose end the journal knows.
fn known_attempts(store: &Store, run: &str, key: &TaskKey) -> BTreeSet<u32> {
    let run = RunId::named(run);
    // A run that the journal does not know has none.
    let attempts = store.attempts_in_run(&run).unwrap_or_default();
    let known = attempts
        .iter()
        .filter(|attempt| attempt.key.task.id == key.id && attempt.outcome.is_some());
    known.map(|attempt| attempt.key.number).collect()
}
