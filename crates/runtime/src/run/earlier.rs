//! What a run inherits from the spec's earlier runs.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::PathBuf;

use regreen_documents::{RowId, TaskFile};
use regreen_engine::State;
use regreen_model::{
    ChoiceKind, PassedVerify, PersonChoice, RunOutcome, TaskKey, TaskKind, VerifyCommand,
};
use regreen_repairs::carried_environment;
use regreen_store::{Run, RunId};
use regreen_workspace::{MAX_FILE, Programs, RealDisk, read_text_file};

use super::RunError;
use crate::journal::{Journal, load_state};
use crate::perform::RecordedTasks;
use crate::project_programs::launcher_folder;
use crate::spec_paths::SpecPaths;

/// What a run inherits from the previous run of the spec, and through it from all runs before.
#[derive(Debug, Default)]
pub(super) struct Inheritance {
    /// The previous run ended at a limit.
    pub(super) after_limit: bool,
    /// The tasks whose rows agents removed, unless someone has put them back or skipped them. A run
    /// without them is not green.
    pub(super) lost: Vec<TaskKey>,
    /// The checks that originals have passed since all tasks were last done.
    pub(super) checks: Vec<PassedVerify>,
    /// The originals that were ticked before the spec's first run, until a run has ended with all tasks
    /// done and said so.
    pub(super) ticked_before: Vec<TaskKey>,
    /// Messages for people about the inheritance.
    pub(super) warnings: Vec<String>,
    /// Variables set by repairs in the workspace, for any spec.
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
        let mut warnings = Vec::new();
        let Some(before) = run_before(journal, paths, file, &mut warnings)? else {
            warnings.extend(forgotten(paths, file));
            return Ok(Self {
                warnings,
                ticked_before: ticked_by_others(paths, file),
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
        warnings.extend(lost.iter().map(lost_warning));
        let (checks, gone) = passed_checks(&state, file, programs);
        warnings.extend(gone_warning(&gone));
        Ok(Self {
            after_limit,
            warnings,
            lost,
            checks,
            ticked_before: still_unchecked(&state, file),
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

/// Returns the variables that repairs set in the workspace's last run and that still apply. That
/// run had itself inherited those of the runs before it.
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

/// Returns the launcher folder of a run, relative to the workspace.
fn launchers(paths: &SpecPaths, run: &RunId) -> PathBuf {
    let folder = launcher_folder(&paths.run_folder(run.as_str()));
    let inner = folder.strip_prefix(&paths.root);
    inner.unwrap_or(&folder).to_owned()
}

/// Returns the previous run of the spec. That may have been under another name; then a warning says so.
fn run_before(
    journal: &Journal,
    paths: &SpecPaths,
    file: &TaskFile,
    warnings: &mut Vec<String>,
) -> Result<Option<Run>, RunError> {
    let mut runs = journal.store.runs(usize::MAX)?;
    runs.retain(|run| run.id != journal.run);
    let key = paths.spec_key();
    if let Some(before) = runs.iter().find(|run| run.spec == key) {
        return Ok(Some(before.clone()));
    }
    let renamed = run_under_old_name(journal, paths, file, &runs);
    warnings.extend(renamed.as_ref().map(|run| {
        let old = &run.spec;
        format!(
            "{old} is gone, and its tasks are in {key}: what passed there counts as passed here, and is checked again at the end"
        )
    }));
    Ok(renamed)
}

/// The last run of the only spec that is gone and whose tasks are all in this file: someone has
/// renamed it.
fn run_under_old_name(
    journal: &Journal,
    paths: &SpecPaths,
    file: &TaskFile,
    runs: &[Run],
) -> Option<Run> {
    let mut names = BTreeSet::new();
    let last = runs.iter().filter(|run| names.insert(run.spec.as_str()));
    let is_renamed = |run: &&Run| {
        let is_gone = !paths.root.join(&run.spec).exists();
        is_gone && load_state(&journal.store, &run.id).is_ok_and(|(state, _)| is_of(&state, file))
    };
    let mut renamed = last.filter(is_renamed);
    renamed.next().filter(|_| renamed.next().is_none()).cloned()
}

/// Whether all originals that a run has worked on are rows of this file.
fn is_of(state: &State, file: &TaskFile) -> bool {
    let tasks = state.tasks.values().filter(|task| !task.picked.is_fix());
    let mut originals = tasks.map(|task| &task.picked.task).peekable();
    originals.peek().is_some()
        && originals.all(|task| {
            let row = file.resolve(task).and_then(|row| file.key(row));
            row.is_some_and(|key| key.title == task.title)
        })
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
        .filter(|task| file.keys_to_reopen(task).is_empty() && !is_skipped(task));
    lost.cloned().collect()
}

/// Returns the checks of the tasks that are still ticked, with their current names and commands:
/// while nothing was running, the file belonged to people. Also returns the tasks whose row is gone,
/// or belongs to another task now.
fn passed_checks(
    state: &State,
    file: &TaskFile,
    programs: &Programs,
) -> (Vec<PassedVerify>, Vec<TaskKey>) {
    let (mut checks, mut gone) = (Vec::new(), Vec::new());
    let passed = state.checks_for_next_run();
    for check in passed.clone() {
        let keys = keys_now(&check, &passed, file);
        if keys.is_empty() {
            gone.push(check.task);
            continue;
        }
        let done = keys.into_iter().filter(|key| file.open_row(key).is_none());
        checks.extend(done.map(|task| PassedVerify {
            commands: commands_now(&check, &task, file, programs),
            task,
            ..check.clone()
        }));
    }
    (checks, gone)
}

/// The rows that the task of a check may be now. One with another title is the task if it alone has
/// the Verify; an open one that has neither is another task.
fn keys_now(check: &PassedVerify, passed: &[PassedVerify], file: &TaskFile) -> Vec<TaskKey> {
    if let Some(keys) = keys_among_namesakes(check, passed, file) {
        return keys;
    }
    let mut keys = file.keys_to_reopen(&check.task);
    if keys.iter().any(|key| key.title == check.task.title) {
        return keys;
    }
    if let Some(row) = only_row_with(file, &check.commands) {
        return file.key(row).into_iter().collect();
    }
    keys.retain(|key| file.open_row(key).is_none());
    keys
}

/// The rows that the task of a check may be, if several have its title: those that also have its
/// Verify. If none has, the row with its id, unless that has the Verify of another of them: in a
/// list without ids, a row that people insert renumbers those below it.
fn keys_among_namesakes(
    check: &PassedVerify,
    passed: &[PassedVerify],
    file: &TaskFile,
) -> Option<Vec<TaskKey>> {
    let rows = file.rows().filter(|row| file.fixed_by(*row).is_none());
    let keyed = rows.filter_map(|row| Some((file.key(row)?, file.verify_commands(row))));
    let namesakes = keyed.filter(|(key, _)| key.title == check.task.title);
    let namesakes: Vec<_> = namesakes.collect();
    if namesakes.len() < 2 {
        return None;
    }
    let has = |own: &[VerifyCommand], of: &PassedVerify| are_same(own, &of.commands);
    let same: Vec<_> = namesakes
        .iter()
        .filter(|(_, own)| has(own, check))
        .collect();
    if !same.is_empty() {
        return Some(same.into_iter().map(|(key, _)| key.clone()).collect());
    }
    let others = || {
        let others = passed.iter().filter(|other| other.task != check.task);
        others.filter(|other| other.task.title == check.task.title)
    };
    let is_it = |(key, own): &&(TaskKey, Vec<VerifyCommand>)| {
        *key == check.task && !others().any(|other| has(own, other))
    };
    let own = namesakes.iter().filter(is_it);
    Some(own.map(|(key, _)| key.clone()).collect())
}

/// The only original with these commands as its Verify.
fn only_row_with(file: &TaskFile, commands: &[VerifyCommand]) -> Option<RowId> {
    let has_them = |row: &RowId| {
        let own = file.verify_commands(*row);
        file.fixed_by(*row).is_none() && !own.is_empty() && are_same(&own, commands)
    };
    let mut rows = file.rows().filter(has_them);
    rows.next().filter(|_| rows.next().is_none())
}

/// Whether they demand the same.
fn are_same(some: &[VerifyCommand], others: &[VerifyCommand]) -> bool {
    let what = |one: &VerifyCommand| (one.command.clone(), one.expects.clone());
    some.iter().map(what).eq(others.iter().map(what))
}

/// Warns of tasks that passed in an earlier run and can't be told among the rows of the plan.
fn gone_warning(gone: &[TaskKey]) -> Option<String> {
    let named = |TaskKey { id, title, .. }: &TaskKey| format!("{id} ({title})");
    let gone: Vec<String> = gone.iter().map(named).collect();
    let tasks = some_of(&gone)?;
    Some(format!(
        "{tasks} passed in an earlier run, and the plan has no such row now: the final check does not repeat that Verify"
    ))
}

/// Names a few of the tasks.
fn some_of(tasks: &[String]) -> Option<String> {
    let (first, others) = tasks.split_first()?;
    Some(match others.len() {
        0 => format!("task {first}"),
        1 => format!("tasks {first} and {}", others[0]),
        more => format!("task {first} and {more} others"),
    })
}

/// Returns the commands of a task's Verify, if people have changed them since it passed.
fn commands_now(
    passed: &PassedVerify,
    task: &TaskKey,
    file: &TaskFile,
    programs: &Programs,
) -> Vec<VerifyCommand> {
    let row = file.resolve(task);
    let mut now = row.map_or_else(Vec::new, |row| file.verify_commands(row));
    // A command stays a command, even if its program is gone by now.
    if now.is_empty() || are_same(&now, &passed.commands) {
        return passed.commands.clone();
    }
    programs.settle(&RealDisk, &mut now, &BTreeSet::new());
    now
}

/// Returns the originals that are ticked although no run of this spec is known, not even from the
/// progress file.
fn ticked_by_others(paths: &SpecPaths, file: &TaskFile) -> Vec<TaskKey> {
    let progress = read_text_file(&paths.progress, MAX_FILE).unwrap_or_default();
    let completed = RecordedTasks::read(&progress);
    let is_task = |row: &RowId| {
        let kind = file.kind(*row);
        matches!(kind, Some(TaskKind::Task | TaskKind::Optional))
            && file.is_done(*row)
            && file.fixed_by(*row).is_none()
    };
    let keys = file.rows().filter(is_task).filter_map(|row| file.key(row));
    keys.filter(|key| !completed.has(key)).collect()
}

/// Returns the originals that were ticked before the spec's first run, and that no run has done since.
fn still_unchecked(state: &State, file: &TaskFile) -> Vec<TaskKey> {
    if state.outcome == Some(RunOutcome::AllGreen) {
        return Vec::new();
    }
    let is_done_by_run = |task: &TaskKey| {
        let task = state.tasks.get(task);
        task.is_some_and(|task| task.result == Some(true))
    };
    let is_ticked = |task: &TaskKey| file.resolve(task).is_some_and(|row| file.is_done(row));
    let ticked = state.config.ticked_before.iter();
    let ticked = ticked.filter(|task| is_ticked(task) && !is_done_by_run(task));
    ticked.cloned().collect()
}

/// Warns that the final check can't repeat the checks of earlier runs because their journal is
/// gone.
fn forgotten(paths: &SpecPaths, file: &TaskFile) -> Option<String> {
    let progress = read_text_file(&paths.progress, MAX_FILE).unwrap_or_default();
    let completed = RecordedTasks::read(&progress);
    let is_original = |row: &RowId| file.is_done(*row) && file.fixed_by(*row).is_none();
    let checked = file
        .rows()
        .filter(is_original)
        .filter(|row| !file.verify_commands(*row).is_empty());
    let keys = checked.filter_map(|row| file.key(row));
    let recorded = keys.filter(|key| completed.has(key));
    let ids: Vec<String> = recorded.map(|key| key.id.to_string()).collect();
    let tasks = some_of(&ids)?;
    Some(format!(
        "the journal of the runs that finished {tasks} is gone: the final check does not repeat their Verify"
    ))
}
