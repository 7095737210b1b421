//! Compares the task file, the progress file and git with the journal at the start of every run.
//!
//! A journal that has lost its end (a damaged disk, a deleted database) has forgotten work. The
//! logs of attempts show what is missing. A ticked task without an end in the journal is completed
//! if one of regreen's own commits proves that it passed; otherwise regreen names it in a notice.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use regreen_engine::{Phase, State};
use regreen_model::{TaskId, TaskKey};
use regreen_store::{RunId, Store};
use regreen_workspace::{MAX_FILE, read_text_file};

use super::completion::edit_progress;
use crate::performer::{PerformError, Performer};
use crate::spec_paths::SpecPaths;

/// Completes or names the ticked tasks that the journal has lost.
pub(crate) fn reconcile(
    performer: &mut Performer,
    store: &Store,
    state: &State,
) -> Result<(), PerformError> {
    let file = performer.plan.read()?;
    let progress = read_text_file(&performer.paths.progress, MAX_FILE).unwrap_or_default();
    let recorded = RecordedTasks::read(&progress);
    let done = file.rows().filter(|row| file.is_done(*row));
    let keys: Vec<TaskKey> = done.filter_map(|row| file.key(row)).collect();
    let mut logs = AttemptLogs::list(&performer.paths);
    for key in &keys {
        if recorded.has(key) || is_being_saved(state, key) {
            continue;
        }
        let Some(run) = logs.lost_run(performer, store, key) else {
            continue;
        };
        complete_or_name(performer, &run, key)?;
    }
    name_lost_commits(performer, &keys, &recorded)
}

/// The most lost commits that are named.
const NAMED: usize = 5;

/// Names ticked tasks whose commit is no longer in the history of HEAD, because someone rewrote it
/// or an agent removed the repository.
fn name_lost_commits(
    performer: &mut Performer,
    done: &[TaskKey],
    recorded: &RecordedTasks<'_>,
) -> Result<(), PerformError> {
    let recorded = done.iter().filter_map(|key| {
        let hash = recorded.commit(key)?;
        Some((key.id.to_string(), hash.to_owned()))
    });
    let recorded: Vec<(String, String)> = recorded.collect();
    let hashes: Vec<String> = recorded.iter().map(|(_, hash)| hash.clone()).collect();
    let lost: BTreeSet<String> = performer
        .tree
        .not_in_history(&hashes)?
        .into_iter()
        .collect();
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

/// The last line of each task that the progress file has as completed, by the task's id.
pub(crate) struct RecordedTasks<'p>(BTreeMap<&'p str, &'p str>);

impl<'p> RecordedTasks<'p> {
    pub(crate) fn read(progress: &'p str) -> Self {
        let lines = progress.lines().filter_map(|line| {
            let (id, _) = line.strip_prefix("- [x] ")?.split_once(' ')?;
            Some((id, line))
        });
        Self(lines.collect())
    }

    pub(crate) fn has(&self, key: &TaskKey) -> bool {
        self.0.contains_key(key.id.as_str())
    }

    /// The commit that is named for a task.
    fn commit(&self, key: &TaskKey) -> Option<&'p str> {
        let (_, hash) = self.0.get(key.id.as_str())?.rsplit_once(" - ")?;
        let is_hash = (7..=64).contains(&hash.len()) && hash.bytes().all(|b| b.is_ascii_hexdigit());
        is_hash.then_some(hash)
    }
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

/// What the runs left in their folders, read once for all tasks.
struct AttemptLogs {
    /// The runs with a folder for logs, oldest first, and the names in it.
    runs: Vec<(String, BTreeSet<OsString>)>,
    /// The attempts of a run whose end the journal knows.
    known: BTreeMap<String, BTreeMap<TaskId, BTreeSet<u32>>>,
}

impl AttemptLogs {
    fn list(paths: &SpecPaths) -> Self {
        let names = |folder: &Path| -> BTreeSet<OsString> {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name()).collect()
        };
        let folder = paths.own().join("runs");
        let runs = names(&folder).into_iter().filter_map(|run| {
            let tasks = names(&folder.join(&run));
            Some((run.into_string().ok()?, tasks))
        });
        Self {
            runs: runs.collect(),
            known: BTreeMap::new(),
        }
    }

    /// The last run with a log of an attempt whose end the journal does not know.
    fn lost_run(&mut self, performer: &Performer, store: &Store, key: &TaskKey) -> Option<String> {
        let Self { runs, known } = self;
        let mut runs = runs.iter().rev();
        let lost = runs.find(|(run, tasks)| {
            let folder = performer.paths.task_folder(run, key);
            let is_there = folder.file_name().is_some_and(|name| tasks.contains(name));
            if !is_there {
                return false;
            }
            let of_run = known
                .entry(run.clone())
                .or_insert_with(|| known_attempts(store, run));
            let of_task = of_run.get(&key.id);
            let logged = logged_attempts(&folder);
            logged
                .iter()
                .any(|attempt| !of_task.is_some_and(|known| known.contains(attempt)))
        });
        lost.map(|(run, _)| run.clone())
    }
}

/// Returns the numbers of the attempts that left a log.
fn logged_attempts(folder: &Path) -> BTreeSet<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter_map(|name| name.strip_suffix(".log")?.parse().ok())
        .collect()
}

/// The numbers of the attempts whose end the journal knows, by task.
fn known_attempts(store: &Store, run: &str) -> BTreeMap<TaskId, BTreeSet<u32>> {
    // A run that the journal does not know has none.
    let attempts = store
        .attempts_in_run(&RunId::named(run))
        .unwrap_or_default();
    let mut known: BTreeMap<TaskId, BTreeSet<u32>> = BTreeMap::new();
    for attempt in attempts
        .into_iter()
        .filter(|attempt| attempt.outcome.is_some())
    {
        let of_task = known.entry(attempt.key.task.id).or_default();
        of_task.insert(attempt.key.number);
    }
    known
}
