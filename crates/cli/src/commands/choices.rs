//! `regreen skip`, `done` and `retry`: decisions about a task. A run that is at work carries them out itself.

use std::collections::BTreeSet;

use regreen_documents::{Change, TaskFile};
use regreen_model::{ChoiceKind, TaskKey};
use regreen_runtime::{
    LockPurpose, RunError, SpecPaths, TreeLockError, load_state, lock_tree, now, open_store,
    open_store_read_only, stored_ms,
};
use regreen_store::Store;
use regreen_workspace::{RealDisk, edit_file};

use crate::answers;
use crate::arguments::OneTask;
use crate::exit::Exit;
use crate::output;
use crate::plan::{Plan, SelectedTask, line_of};
use crate::problem::Problem;
use crate::requests::{self, Request};
use crate::spec_context::SpecContext;
use crate::state_file::{reopen_in_files, reset_fix_budgets};

pub fn run(arguments: &OneTask, what: ChoiceKind) -> Result<Exit, Problem> {
    let context = SpecContext::with_flag(arguments.spec.as_deref())?;
    output::print_text(&decide(&context, arguments, what)?)?;
    Ok(Exit::Success)
}

/// Sets the task's box, and records the choice for later runs. Returns what was done.
pub fn decide(
    context: &SpecContext,
    arguments: &OneTask,
    what: ChoiceKind,
) -> Result<String, Problem> {
    // Report a mistyped id before anything is created.
    let (_, selected) = select(context, arguments)?;
    let places = &context.places;
    let _lock = match lock_tree(places, LockPurpose::Change) {
        // During a run, the tick would be mistaken for a claim by its agent.
        Err(RunError::Lock(TreeLockError::Held(holder))) if holder.runs(places) => {
            requests::make(places, &selected.key, what).map_err(Problem::GiveAnswer)?;
            return Ok(requested(&selected, what));
        }
        lock => lock?,
    };
    // What a run that is gone was asked to do comes first.
    let (_, warnings) = carry_out_requests(places);
    warnings.iter().for_each(|warning| output::note(warning));
    carry_out(context, arguments, what)
}

/// Carries out what the run was asked to do. Returns whether there was anything, and what went wrong.
pub fn carry_out_requests(places: &SpecPaths) -> (bool, Vec<String>) {
    let requests = requests::all(places);
    let context = SpecContext {
        here: places.root.clone(),
        places: places.clone(),
    };
    let mut warnings = Vec::new();
    for Request { task, what, .. } in &requests {
        let named = OneTask {
            task: task.id.to_string(),
            line: line_of(places, task),
            spec: Some(places.spec.tasks.display().to_string()),
        };
        let Err(problem) = carry_out(&context, &named, *what) else {
            continue;
        };
        warnings.push(format!("cannot {} {}: {problem}", what.name(), task.id));
        // Anything else may work the next time.
        if named.line.is_none() {
            requests::forget(places, task);
        }
    }
    (!requests.is_empty(), warnings)
}

/// Says what the run will do.
fn requested(selected: &SelectedTask, what: ChoiceKind) -> String {
    let (id, name) = (&selected.key.id, what.name());
    format!(
        "told the run: {name} {id}; it does so as soon as its current step has ended (`regreen stop` ends that at once)\n"
    )
}

/// Carries out a decision in the working tree that this process has locked.
fn carry_out(
    context: &SpecContext,
    arguments: &OneTask,
    what: ChoiceKind,
) -> Result<String, Problem> {
    let places = &context.places;
    let (plan, selected) = select(context, arguments)?;
    let tasks = affected_tasks(&plan, &selected, what);
    let mut store = open_store(&places.root)?;
    // The boxes first: a recorded choice relies on them.
    match what {
        ChoiceKind::Skip => {}
        ChoiceKind::Done => drop(set_boxes(places, &tasks, true)?),
        ChoiceKind::Retry => {
            untick_tasks(places, &plan, &selected, &tasks)?;
            reset_fix_budgets(&places.state, &plan.file, &plan.with_fixes(&tasks))?;
            reopen_in_files(places, &tasks_to_reopen(&plan, &selected, &tasks))?;
        }
    }
    record_choice(&mut store, places, &tasks, what)?;
    let spec = context.argument(arguments.spec.as_deref());
    Ok(message(&selected, &tasks, what, spec.as_deref()))
}

/// Records a choice for later runs to follow.
pub fn record_choice(
    store: &mut Store,
    places: &SpecPaths,
    tasks: &[TaskKey],
    what: ChoiceKind,
) -> Result<(), Problem> {
    for key in tasks {
        store
            .choose(&places.spec_key(), key, what, stored_ms(now()))
            .map_err(Problem::journal)?;
        // Only now that it is stored: a decision that was accepted must not get lost.
        answers::forget(places, key);
        requests::forget(places, key);
    }
    Ok(())
}

fn select(context: &SpecContext, arguments: &OneTask) -> Result<(Plan, SelectedTask), Problem> {
    let plan = Plan::read(context)?;
    plan.refuse_ambiguous(arguments)?;
    let lost = lost_tasks(&context.places)?;
    let selected = plan.find(arguments, lost.iter())?;
    Ok((plan, selected))
}

/// Returns the tasks whose rows agents removed in the last run, because people can decide about
/// those too.
fn lost_tasks(places: &SpecPaths) -> Result<Vec<TaskKey>, Problem> {
    let Some(store) = open_store_read_only(&places.root)? else {
        return Ok(Vec::new());
    };
    let runs = store.runs(usize::MAX).map_err(Problem::journal)?;
    let last = runs.iter().find(|run| run.spec == places.spec_key());
    let state = last.and_then(|run| load_state(&store, &run.id).ok());
    let removed = state.map(|(state, _)| state.lost).unwrap_or_default();
    Ok(removed.into_iter().collect())
}

/// Returns the tasks that the choice affects. A finished task is never skipped, and stays finished
/// when the rest of its group is retried.
fn affected_tasks(plan: &Plan, selected: &SelectedTask, what: ChoiceKind) -> Vec<TaskKey> {
    let all = plan.with_tasks_below(selected);
    let is_open = |key: &&TaskKey| !plan.is_done(key);
    let open: Vec<TaskKey> = all.iter().filter(is_open).cloned().collect();
    match what {
        ChoiceKind::Skip => open,
        ChoiceKind::Retry if !open.is_empty() => open,
        ChoiceKind::Retry | ChoiceKind::Done => all,
    }
}

fn message(
    selected: &SelectedTask,
    tasks: &[TaskKey],
    what: ChoiceKind,
    spec: Option<&str>,
) -> String {
    let id = &selected.key.id;
    let others = tasks.iter().filter(|key| **key != selected.key);
    let others: Vec<String> = others.map(|key| key.id.to_string()).collect();
    let tasks_named = match others.as_slice() {
        [] => id.to_string(),
        others => format!("{id} (with {})", others.join(", ")),
    };
    match what {
        ChoiceKind::Skip if tasks.is_empty() => {
            format!("{id} is already done; nothing to skip\n")
        }
        ChoiceKind::Skip => {
            let flag = spec.map_or(String::new(), |spec| format!(" --spec {spec}"));
            format!(
                "skipping {tasks_named} from now on; run `regreen retry {id}{flag}` to reopen\n"
            )
        }
        ChoiceKind::Done => format!("marked {tasks_named} as done, without verifying\n"),
        ChoiceKind::Retry => {
            let argument = spec.map_or(String::new(), |spec| format!(" {spec}"));
            format!(
                "reopened {tasks_named} and reset its attempts; run `regreen run{argument}` to try again\n"
            )
        }
    }
}

/// Returns the selected task, and the other tasks except fixes.
pub fn tasks_to_reopen(plan: &Plan, selected: &SelectedTask, tasks: &[TaskKey]) -> Vec<TaskKey> {
    let is_fix = |key: &TaskKey| plan.is_fix(key) && *key != selected.key;
    let tasks = tasks.iter().filter(|key| !is_fix(key)).cloned();
    let mut keys: Vec<TaskKey> = tasks.chain([selected.key.clone()]).collect();
    let mut seen = BTreeSet::new();
    keys.retain(|key| seen.insert(key.clone()));
    keys
}

/// Unticks these tasks, the selected task and the groups around it. Returns whether the file
/// changed.
pub fn untick_tasks(
    places: &SpecPaths,
    plan: &Plan,
    selected: &SelectedTask,
    tasks: &[TaskKey],
) -> Result<bool, Problem> {
    let mut keys = tasks_to_reopen(plan, selected, tasks);
    keys.extend(plan.groups_around(selected));
    set_boxes(places, &keys, false)
}

/// Ticks or unticks these tasks. Returns whether the file changed.
fn set_boxes(places: &SpecPaths, keys: &[TaskKey], done: bool) -> Result<bool, Problem> {
    let path = &places.spec.tasks;
    let mut changed = false;
    for key in keys {
        let edited = edit_file(&RealDisk, path, |text| {
            let file = TaskFile::read(text);
            let row = file.resolve(key);
            let change = row.map(|row| file.set_box(row, done)).transpose()?;
            let made = change.and_then(Change::edited);
            changed |= made.is_some();
            Ok(made.map(|file| file.text().to_owned()))
        });
        let edited = edited.map_err(|error| Problem::from_edit(error, path))?;
        super::tasks::report_edit(&edited);
    }
    Ok(changed)
}
