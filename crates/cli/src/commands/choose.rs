//! `regreen skip`, `done` and `retry`: what a person decides about a task outside a run.

use std::collections::BTreeSet;

use regreen_documents::{Change, TaskFile};
use regreen_model::{ChoiceKind, TaskKey};
use regreen_runtime::{Places, Purpose, now, open_store, stored_ms, take_tree};
use regreen_store::Store;
use regreen_workspace::{RealDisk, edit_file};

use crate::arguments::OneTask;
use crate::exit::Exit;
use crate::output;
use crate::plan::{Plan, SelectedTask};
use crate::problem::Problem;
use crate::spec_context::SpecContext;
use crate::state_file::forgive;

/// Makes the task's box say it, and journals the choice.
pub fn run(arguments: &OneTask, what: ChoiceKind) -> Result<Exit, Problem> {
    let context = SpecContext::with_flag(arguments.spec.as_deref())?;
    // Whoever mistypes an id is told before anything is made.
    meant(&context, arguments)?;
    let places = &context.places;
    // While a run is at work, a tick would be taken for a claim of its agent.
    let _lock = take_tree(places, Purpose::Change)?;
    let (plan, selected) = meant(&context, arguments)?;
    let tasks = concerned(&plan, &selected, what);
    let mut store = open_store(&places.root)?;
    // The boxes first: a choice that is journaled relies on them.
    match what {
        ChoiceKind::Skip => {}
        ChoiceKind::Done => drop(set_boxes(places, &tasks, true)?),
        ChoiceKind::Retry => {
            empty_boxes(places, &plan, &selected, &tasks)?;
            forgive(&places.state, &plan.file, &plan.with_fixes(&tasks))?;
        }
    }
    journal(&mut store, places, &tasks, what)?;
    output::print(&told(&selected, &tasks, what))?;
    Ok(Exit::Success)
}

/// Later runs go by it.
pub fn journal(
    store: &mut Store,
    places: &Places,
    tasks: &[TaskKey],
    what: ChoiceKind,
) -> Result<(), Problem> {
    for key in tasks {
        store
            .choose(&places.spec_key(), key, what, stored_ms(now()))
            .map_err(Problem::journal)?;
    }
    Ok(())
}

fn meant(context: &SpecContext, arguments: &OneTask) -> Result<(Plan, SelectedTask), Problem> {
    let plan = Plan::read(context)?;
    let selected = plan.find(arguments, std::iter::empty())?;
    Ok((plan, selected))
}

/// What is done is not skipped, and stays done when the rest of its group is tried again.
fn concerned(plan: &Plan, selected: &SelectedTask, what: ChoiceKind) -> Vec<TaskKey> {
    let all = plan.with_tasks_below(selected);
    let is_open = |key: &&TaskKey| !plan.is_done(key);
    let open: Vec<TaskKey> = all.iter().filter(is_open).cloned().collect();
    match what {
        ChoiceKind::Skip => open,
        ChoiceKind::Retry if !open.is_empty() => open,
        ChoiceKind::Retry | ChoiceKind::Done => all,
    }
}

fn told(selected: &SelectedTask, tasks: &[TaskKey], what: ChoiceKind) -> String {
    let id = &selected.key.id;
    let others = tasks.iter().filter(|key| **key != selected.key);
    let others: Vec<String> = others.map(|key| key.id.to_string()).collect();
    let (who, is, was) = match others.as_slice() {
        [] => (id.to_string(), "is", "it"),
        others => (
            format!("{id} with {}", others.join(", ")),
            "are",
            "each of them",
        ),
    };
    match what {
        ChoiceKind::Skip if tasks.is_empty() => {
            format!("{id} is done already: there is nothing to skip\n")
        }
        ChoiceKind::Skip => {
            format!("{who} will be skipped; `regreen retry {id}` takes that back\n")
        }
        ChoiceKind::Done => format!("{who} {is} ticked, on your word\n"),
        ChoiceKind::Retry => {
            format!("{who} {is} open; `regreen run` tries {was} as if for the first time\n")
        }
    }
}

/// The task itself with those of the others that are no fixes.
pub fn reopened(plan: &Plan, selected: &SelectedTask, tasks: &[TaskKey]) -> Vec<TaskKey> {
    let is_fix = |key: &TaskKey| plan.is_fix(key) && *key != selected.key;
    let tasks = tasks.iter().filter(|key| !is_fix(key)).cloned();
    let mut keys: Vec<TaskKey> = tasks.chain([selected.key.clone()]).collect();
    let mut seen = BTreeSet::new();
    keys.retain(|key| seen.insert(key.clone()));
    keys
}

/// The boxes of these tasks are to be empty, and with them that of the task itself and those of
/// the groups around it. Whether any was not.
pub fn empty_boxes(
    places: &Places,
    plan: &Plan,
    selected: &SelectedTask,
    tasks: &[TaskKey],
) -> Result<bool, Problem> {
    let mut keys = reopened(plan, selected, tasks);
    keys.extend(plan.groups_around(selected));
    set_boxes(places, &keys, false)
}

/// The boxes of tasks are to be so; whether any was not.
fn set_boxes(places: &Places, keys: &[TaskKey], done: bool) -> Result<bool, Problem> {
    let path = &places.spec.tasks;
    let mut changed = false;
    for key in keys {
        let edited = edit_file(&RealDisk, path, |text| {
            let file = TaskFile::read(text);
            let row = file.resolve(key);
            let change = row.map(|row| file.set_box(row, done)).transpose()?;
            let made = change.and_then(Change::made);
            changed |= made.is_some();
            Ok(made.map(|file| file.text().to_owned()))
        });
        let edited = edited.map_err(|error| Problem::from_edit(error, path))?;
        super::tasks::report(&edited);
    }
    Ok(changed)
}
