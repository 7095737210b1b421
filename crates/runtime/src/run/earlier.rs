//! What earlier runs of a spec leave to the next one.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::PathBuf;

use regreen_documents::{RowId, TaskFile};
use regreen_engine::State;
use regreen_model::{ChoiceKind, PassedVerify, PersonChoice, RunOutcome, TaskKey, VerifyCommand};
use regreen_repairs::carried_environment;
use regreen_store::{Run, RunId};
use regreen_workspace::{MAX_FILE, Programs, RealDisk, read_text_file};

use super::RunError;
use crate::journal::{Journal, load_state};
use crate::perform::is_recorded;
use crate::project_programs::launcher_folder;
use crate::spec_paths::SpecPaths;

/// What a run inherits from the spec's run before it, and by that from all runs before.
#[derive(Debug, Default)]
pub(super) struct Inheritance {
    /// The run before ended at a limit.
    pub(super) after_limit: bool,
    /// The tasks whose rows agents removed, as far as no one has put them back or skipped them: a run
    /// without them is not green.
    pub(super) lost: Vec<TaskKey>,
    /// The checks that originals passed since all tasks were last done.
    pub(super) checks: Vec<PassedVerify>,
    /// What people should know of it.
    pub(super) warnings: Vec<String>,
    /// Variables that repairs have set for the workspace, whichever spec they were made for.
    pub(super) environment: Vec<(String, String)>,
}

impl Inheritance {
    pub(super) fn of(
        journal: &Journal,
        paths: &SpecPaths,
        file: &TaskFile,
        programs: &Programs,
        choices: &[PersonChoice],
        path: &OsStr,
    ) -> Result<Self, RunError> {
        let environment = environment(journal, paths, path)?;
        let Some(before) = run_before(journal, paths)? else {
            return Ok(Self {
                warnings: forgotten(paths, file).into_iter().collect(),
                environment,
                ..Self::default()
            });
        };
        let limit = RunOutcome::Limit {
            message: String::new(),
        };
        let end = before.end.as_ref();
        let after_limit = end.is_some_and(|end| end.outcome == limit.name());
        let Ok((state, _)) = load_state(&journal.store, &before.id) else {
            return Ok(Self {
                after_limit,
                warnings: vec![unreadable(&before)],
                environment,
                ..Self::default()
            });
        };
        let lost = lost_tasks(&state, file, choices);
        Ok(Self {
            after_limit,
            warnings: lost.iter().map(lost_warning).collect(),
            lost,
            checks: passed_checks(&state, file, programs),
            environment,
        })
    }
}

fn unreadable(run: &Run) -> String {
    let id = &run.id;
    format!(
        "the journal of run {id} can't be read: what passed in it is not checked again at the end, and rows that an agent removed then are not missed"
    )
}

fn lost_warning(task: &TaskKey) -> String {
    let id = &task.id;
    format!(
        "task {task} has not run: an agent removed its row from the plan. Put the row back, or run `regreen skip {id}`"
    )
}

/// What is left of the variables that repairs have set in the workspace's last run. That one had
/// inherited those of the runs before.
fn environment(
    journal: &Journal,
    paths: &SpecPaths,
    path: &OsStr,
) -> Result<Vec<(String, String)>, RunError> {
    let runs = journal.store.runs(usize::MAX)?;
    let last = runs.into_iter().find(|run| run.id != journal.run);
    let Some((id, state)) = last.and_then(|run| {
        let (state, _) = load_state(&journal.store, &run.id).ok()?;
        Some((run.id, state))
    }) else {
        return Ok(Vec::new());
    };
    Ok(carried_environment(
        &paths.root,
        &state.environment,
        &launchers(paths, &id),
        &launchers(paths, &journal.run),
        path,
    ))
}

/// The folder for launchers of a run, relative to the workspace.
fn launchers(paths: &SpecPaths, run: &RunId) -> PathBuf {
    let folder = launcher_folder(&paths.run_folder(run.as_str()));
    let inner = folder.strip_prefix(&paths.root);
    inner.unwrap_or(&folder).to_owned()
}

/// The spec's run before this one.
fn run_before(journal: &Journal, paths: &SpecPaths) -> Result<Option<Run>, RunError> {
    let runs = journal.store.runs(usize::MAX)?;
    let key = paths.spec_key();
    let mut before = runs
        .into_iter()
        .filter(|run| run.spec == key && run.id != journal.run);
    Ok(before.next())
}

fn lost_tasks(state: &State, file: &TaskFile, choices: &[PersonChoice]) -> Vec<TaskKey> {
    let is_skipped = |task: &TaskKey| {
        let mut choices = choices.iter().rev();
        let last = choices.find(|choice| choice.task == *task);
        last.is_some_and(|choice| choice.what == ChoiceKind::Skip)
    };
    let lost = state
        .lost
        .iter()
        .filter(|task| file.resolve(task).is_none() && !is_skipped(task));
    lost.cloned().collect()
}

/// The checks of the tasks that are still ticked, under the names and with the commands that they
/// have now: while nothing ran, the file was people's.
fn passed_checks(state: &State, file: &TaskFile, programs: &Programs) -> Vec<PassedVerify> {
    let as_of_now = |check: PassedVerify| {
        let keys = file.keys_to_reopen(&check.task).into_iter();
        keys.map(move |task| PassedVerify {
            commands: commands_now(&check, &task, file, programs),
            task,
            ..check.clone()
        })
    };
    let checks = state.checks_for_next_run().into_iter().flat_map(as_of_now);
    checks
        .filter(|check| file.open_row(&check.task).is_none())
        .collect()
}

/// The commands of a task's Verify, if people have changed them since it passed.
fn commands_now(
    passed: &PassedVerify,
    task: &TaskKey,
    file: &TaskFile,
    programs: &Programs,
) -> Vec<VerifyCommand> {
    let row = file.resolve(task);
    let mut now = row.map_or_else(Vec::new, |row| file.verify_commands(row));
    let what = |one: &VerifyCommand| (one.command.clone(), one.expects.clone());
    let is_same = now.iter().map(what).eq(passed.commands.iter().map(what));
    // What was a command then still is, even if its program is gone by now.
    if now.is_empty() || is_same {
        return passed.commands.clone();
    }
    programs.settle(&RealDisk, &mut now, &BTreeSet::new());
    now
}

/// Warns that the final check cannot repeat what earlier runs finished, because their journal is gone.
fn forgotten(paths: &SpecPaths, file: &TaskFile) -> Option<String> {
    let progress = read_text_file(&paths.progress, MAX_FILE).unwrap_or_default();
    let is_original = |row: &RowId| file.is_done(*row) && file.fixed_by(*row).is_none();
    let checked = file
        .rows()
        .filter(is_original)
        .filter(|row| !file.verify_commands(*row).is_empty());
    let keys = checked.filter_map(|row| file.key(row));
    let recorded = keys.filter(|key| is_recorded(&progress, key));
    let ids: Vec<String> = recorded.map(|key| key.id.to_string()).collect();
    let (first, others) = ids.split_first()?;
    let tasks = match others.len() {
        0 => format!("task {first}"),
        1 => format!("tasks {first} and {}", others[0]),
        more => format!("task {first} and {more} others"),
    };
    Some(format!(
        "the journal of the runs that finished {tasks} is gone: the final check does not repeat their Verify"
    ))
}
