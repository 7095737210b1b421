//! Whether a session may stop.

use regreen_agents::Template;
use regreen_documents::{InvalidState, Next, Pick, RowId, StateDocument, TaskFile};
use regreen_model::{Marker, TaskKind};

use super::situation::Situation;

/// So many neighbours that may run beside each other are shown at once.
const LARGEST_GROUP: usize = 5;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Stop,
    StopSaying(String),
    GoOn { reason: String, message: String },
}

pub(super) fn judge(situation: &Situation) -> Verdict {
    // A session that goes on for a hook and stops again has nothing left to say: to keep it
    // would be a loop.
    if situation.is_continuation || situation.says_all_is_done {
        return Verdict::Stop;
    }
    match &situation.state {
        Err(error) => corrupt(situation, error),
        Ok(state) => judge_state(situation, state),
    }
}

fn judge_state(situation: &Situation, state: &StateDocument) -> Verdict {
    let phase = state.phase().unwrap_or_default();
    let is_execution = phase == "execution";
    if state.awaits_approval() || (!is_execution && !state.quick_mode()) {
        return Verdict::Stop;
    }
    let limit = state.max_global_iterations();
    if state.global_iteration() >= limit {
        return Verdict::StopSaying(format!(
            "ERROR: Maximum global iterations ({limit}) reached. Review .progress.md for failure patterns."
        ));
    }
    if !is_execution {
        return quick_mode(situation, phase);
    }
    let total = total(situation, state);
    if state.task_index() < total {
        return go_on(situation, state, total);
    }
    match situation.tasks.as_ref().map_or(0, open_rows) {
        0 => Verdict::Stop,
        open => incomplete(situation, state, total, open),
    }
}

/// A state that counts nothing has not counted yet.
fn total(situation: &Situation, state: &StateDocument) -> u32 {
    let in_file = || {
        situation
            .tasks
            .as_ref()
            .map_or(0, |file| file.runnable(false))
    };
    match state.total_tasks() {
        0 => u32::try_from(in_file()).unwrap_or(u32::MAX),
        total => total,
    }
}

fn open_rows(file: &TaskFile) -> usize {
    file.rows()
        .filter(|row| is_to_run(file, *row) && !file.is_done(*row))
        .count()
}

fn is_to_run(file: &TaskFile, row: RowId) -> bool {
    file.kind(row) == Some(TaskKind::Task) && !file.is_optional(row)
}

fn corrupt(situation: &Situation, error: &InvalidState) -> Verdict {
    let reason = fill(
        include_str!("corrupt.md"),
        &[
            ("path", situation.shown.clone()),
            ("spec", situation.spec.clone()),
            ("why", error.to_string()),
        ],
    );
    Verdict::GoOn {
        reason,
        message: format!("regreen: corrupt state file of {}", situation.spec),
    }
}

fn quick_mode(situation: &Situation, phase: &str) -> Verdict {
    let reason = fill(
        include_str!("quick_mode.md"),
        &[
            ("path", situation.shown.clone()),
            ("spec", situation.spec.clone()),
            ("phase", phase.to_owned()),
        ],
    );
    Verdict::GoOn {
        reason,
        message: format!("regreen: quick mode, phase {phase} of {}", situation.spec),
    }
}

fn incomplete(situation: &Situation, state: &StateDocument, total: u32, open: usize) -> Verdict {
    let items = if open == 1 { "item" } else { "items" };
    let reason = fill(
        include_str!("incomplete.md"),
        &[
            ("path", situation.shown.clone()),
            ("index", state.task_index().to_string()),
            ("total", total.to_string()),
            ("open", open.to_string()),
            ("items", items.to_owned()),
        ],
    );
    Verdict::GoOn {
        reason,
        message: format!("regreen: {open} unchecked {items} left in tasks.md"),
    }
}

fn go_on(situation: &Situation, state: &StateDocument, total: u32) -> Verdict {
    let number = state.task_index() + 1;
    let iteration = state.global_iteration();
    let (heading, block) = current_tasks(situation, state);
    let on_failure = if state.recovery_mode() {
        ", or write a fix task below it"
    } else {
        ""
    };
    let reason = fill(
        include_str!("continue.md"),
        &[
            ("spec", situation.spec.clone()),
            ("number", number.to_string()),
            ("total", total.to_string()),
            ("global_iteration", iteration.to_string()),
            ("path", situation.shown.clone()),
            ("index", state.task_index().to_string()),
            ("iteration", state.task_iteration().to_string()),
            ("max_iterations", state.max_task_iterations().to_string()),
            ("recovery", state.recovery_mode().to_string()),
            ("heading", heading.to_owned()),
            ("block", block),
            ("on_failure", on_failure.to_owned()),
        ],
    );
    Verdict::GoOn {
        reason,
        message: format!("regreen: iteration {iteration}, task {number}/{total}"),
    }
}

/// The current task as it stands in the file, or all neighbours that may run beside it.
fn current_tasks(situation: &Situation, state: &StateDocument) -> (&'static str, String) {
    let one = "## Current Task";
    let found = situation.tasks.as_ref().and_then(|file| {
        let row = current_row(file, state.task_index())?;
        Some((file, row))
    });
    let Some((file, row)) = found else {
        let text = "It is not clear which one: read tasks.md.";
        return (one, text.to_owned());
    };
    let group = parallel_group(file, row);
    let heading = match group.len() {
        0 | 1 => one,
        _ => "## Current Task Group (PARALLEL): start all of these at once",
    };
    let blocks = group.iter().filter_map(|row| file.block(*row));
    let blocks: Vec<&str> = blocks.map(str::trim_end).collect();
    (heading, blocks.join("\n"))
}

/// The row that the state points at while it is open; else the first that is. An open fix
/// comes before the task it is for.
fn current_row(file: &TaskFile, index: u32) -> Option<RowId> {
    let next = match file.next(&Pick::default()) {
        Next::Run(row) | Next::CloseGroup(row) => Some(row),
        Next::Nothing => None,
    };
    let mut to_run = file.rows().filter(|row| is_to_run(file, *row));
    let at_index = to_run.nth(usize::try_from(index).ok()?);
    let is_it = |row: &RowId| !file.is_done(*row) && next.map(|next| file.root(next)) != Some(*row);
    at_index.filter(is_it).or(next)
}

/// The row itself and, if it may run beside others, those that follow and may as well.
fn parallel_group(file: &TaskFile, row: RowId) -> Vec<RowId> {
    let is_parallel = |row: &RowId| {
        let task = file.task(*row);
        task.is_some_and(|task| !task.done && task.markers.contains(&Marker::Parallel))
    };
    if !is_parallel(&row) {
        return vec![row];
    }
    let from_here = file.rows().skip_while(|other| *other != row);
    let to_run = from_here.filter(|row| is_to_run(file, *row));
    to_run.take_while(is_parallel).take(LARGEST_GROUP).collect()
}

/// The texts are our own and name nothing else; a test fills each of them.
fn fill(text: &str, values: &[(&str, String)]) -> String {
    let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
    let template = Template::parse(text, &names);
    let text = template.map(|template| template.fill(values));
    text.unwrap_or_default().trim_end().to_owned()
}

#[cfg(test)]
mod tests;
