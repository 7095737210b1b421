//! Decides whether a session may stop.

use regreen_agents::Template;
use regreen_documents::{InvalidState, Next, Pick, RowId, StateDocument, TaskFile};
use regreen_model::{Limits, Marker, TaskKind};

use super::StopContext;

/// The most parallel tasks shown at once.
const LARGEST_GROUP: usize = 5;

/// The answer to a Stop hook.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum StopDecision {
    Stop,
    StopWithMessage(String),
    Continue {
        reason: String,
        message: String,
        /// A line for the session's log.
        log: Option<String>,
    },
}

pub(super) fn decide(context: &StopContext) -> StopDecision {
    // Continuing a session that made no progress since the last refusal would be an endless loop.
    if context.is_stalled {
        return StopDecision::Stop;
    }
    if context.says_all_is_done {
        return logged("ALL_TASKS_COMPLETE detected in the transcript");
    }
    match &context.state {
        Err(error) => corrupt(context, error),
        Ok(state) => decide_by_state(context, state),
    }
}

/// Smart-ralph's prefix: other programs filter its hook's lines by it.
const LOG: &str = "[ralph-specum]";

/// Lets the session stop, with a line that only its log shows.
fn logged(why: &str) -> StopDecision {
    StopDecision::StopWithMessage(format!("{LOG} {why}"))
}

fn decide_by_state(context: &StopContext, state: &StateDocument) -> StopDecision {
    let phase = state.phase().unwrap_or_default();
    let is_execution = phase == "execution";
    if !is_execution && !state.quick_mode() {
        return StopDecision::Stop;
    }
    // Quick mode approves its own phases.
    if is_execution && state.awaits_approval() {
        return logged("awaitingApproval=true: the session may stop for a person");
    }
    let limit = state.max_global_iterations();
    if state.global_iteration() >= limit {
        let progress = context.has_progress.then_some(super::PROGRESS);
        return StopDecision::StopWithMessage(Limits::used_up(limit, progress));
    }
    if !is_execution {
        return quick_mode(context, phase);
    }
    let total = total(context, state);
    if state.task_index() < total {
        let all_done = |file: &TaskFile| file.runnable(false) > 0 && open_rows(file) == 0;
        return if context.tasks.as_ref().is_some_and(all_done) {
            finish(context, state, total)
        } else {
            next_task(context, state, total)
        };
    }
    match context.tasks.as_ref().map_or(0, open_rows) {
        0 => StopDecision::Stop,
        open => incomplete(context, state, total, open),
    }
}

/// Returns the number of tasks. A state with zero has not counted them yet.
fn total(context: &StopContext, state: &StateDocument) -> u32 {
    let in_file = || {
        context
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

fn corrupt(context: &StopContext, error: &InvalidState) -> StopDecision {
    let reason = fill(
        include_str!("corrupt.md"),
        &[
            ("path", context.shown.clone()),
            ("spec", context.spec.clone()),
            ("why", error.to_string()),
        ],
    );
    StopDecision::Continue {
        reason,
        message: format!("regreen: corrupt state file of spec {}", context.spec),
        log: None,
    }
}

fn quick_mode(context: &StopContext, phase: &str) -> StopDecision {
    let reason = fill(
        include_str!("quick_mode.md"),
        &[
            ("path", context.shown.clone()),
            ("spec", context.spec.clone()),
            ("phase", phase.to_owned()),
        ],
    );
    StopDecision::Continue {
        reason,
        message: format!(
            "regreen: quick mode, phase {phase} of spec {}",
            context.spec
        ),
        log: None,
    }
}

fn incomplete(
    context: &StopContext,
    state: &StateDocument,
    total: u32,
    open: usize,
) -> StopDecision {
    let items = if open == 1 { "item" } else { "items" };
    let reason = fill(
        include_str!("incomplete.md"),
        &[
            ("path", context.shown.clone()),
            ("index", state.task_index().to_string()),
            ("total", total.to_string()),
            ("open", open.to_string()),
            ("items", items.to_owned()),
        ],
    );
    StopDecision::Continue {
        reason,
        message: format!("regreen: {open} unchecked {items} left in tasks.md"),
        log: None,
    }
}

fn finish(context: &StopContext, state: &StateDocument, total: u32) -> StopDecision {
    let reason = fill(
        include_str!("finish.md"),
        &[
            ("path", context.shown.clone()),
            ("index", state.task_index().to_string()),
            ("total", total.to_string()),
        ],
    );
    StopDecision::Continue {
        reason,
        message: "regreen: all rows are ticked; the state file is behind".to_owned(),
        log: None,
    }
}

fn next_task(context: &StopContext, state: &StateDocument, total: u32) -> StopDecision {
    let number = state.task_index() + 1;
    let iteration = state.global_iteration();
    let (heading, block) = current_tasks(context, state);
    let on_failure = if state.recovery_mode() {
        ", or add a fix task below it"
    } else {
        ""
    };
    let reason = fill(
        include_str!("continue.md"),
        &[
            ("spec", context.spec.clone()),
            ("number", number.to_string()),
            ("total", total.to_string()),
            ("global_iteration", iteration.to_string()),
            ("path", context.shown.clone()),
            ("index", state.task_index().to_string()),
            ("iteration", state.task_iteration().to_string()),
            ("max_iterations", state.max_task_iterations().to_string()),
            ("recovery", state.recovery_mode().to_string()),
            ("heading", heading.to_owned()),
            ("block", block),
            ("on_failure", on_failure.to_owned()),
        ],
    );
    StopDecision::Continue {
        reason,
        message: format!("regreen: iteration {iteration}, task {number}/{total}"),
        log: Some(format!(
            "{LOG} Session stopped during spec: {} | Task: {number}/{total} | Attempt: {}",
            context.spec,
            state.task_iteration()
        )),
    }
}

/// Returns the text of the current task, or of all tasks that may run in parallel with it.
fn current_tasks(context: &StopContext, state: &StateDocument) -> (&'static str, String) {
    let one = "## Current Task";
    let found = context.tasks.as_ref().and_then(|file| {
        let row = current_row(file, state.task_index())?;
        Some((file, row))
    });
    let Some((file, row)) = found else {
        let text = "Unknown; read tasks.md to find it.";
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

/// Returns the row that the state points at if it is open, or else the first open row. An open fix
/// comes before the task that it fixes.
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

/// Returns the row and, if it may run in parallel, the following rows that may as well.
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

/// Fills in a built-in template; a test fills in each of them.
pub(super) fn fill(text: &str, values: &[(&str, String)]) -> String {
    let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
    let template = Template::parse(text, &names);
    let text = template.map(|template| template.fill(values));
    text.unwrap_or_default().trim_end().to_owned()
}

#[cfg(test)]
mod tests;
