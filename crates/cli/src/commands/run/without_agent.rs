//! Tasks that need an agent where none is installed.

use regreen_agents::{Agent, AgentChoice};
use regreen_documents::{RowId, TaskFile, shell_steps};
use regreen_workspace::{RealDisk, read_text};

use super::PreparedRun;
use super::dry_run::is_next;
use crate::history::SpecHistory;
use crate::problem::Problem;

/// Refuses a run in which the shell works only because no agent is installed, although a task has
/// no commands for it: every attempt would fail in the same way.
pub fn check(ready: &PreparedRun) -> Result<(), Problem> {
    let is_chosen = *ready.settings.agent.value.choice() != AgentChoice::Auto;
    if is_chosen || !matches!(ready.agent, Agent::Shell(_)) || resumes(ready)? {
        return Ok(());
    }
    let file = TaskFile::read(read_text(&RealDisk, &ready.context.places.spec.tasks)?.text);
    let mut next = file.rows().filter(|row| is_next(ready, &file, *row));
    match next.find(|row| needs_agent(&file, *row)) {
        Some(row) => Err(Problem::NoAgent {
            task: file
                .key(row)
                .map(|key| key.id.to_string())
                .unwrap_or_default(),
        }),
        None => Ok(()),
    }
}

/// Whether the run resumes another, whose agent is known: a different one is refused as such.
fn resumes(ready: &PreparedRun) -> Result<bool, Problem> {
    let runs = SpecHistory::open(&ready.context.places)?.runs()?;
    Ok(runs.last().is_some_and(|run| run.end.is_none()))
}

/// Whether nothing but an agent can do what a row asks for. A fix may be regreen's own repair.
fn needs_agent(file: &TaskFile, row: RowId) -> bool {
    let is_service = file
        .declared_service(row)
        .is_some_and(|service| service.is_whole_task);
    let task = file.task(row).filter(|task| task.fix_of.is_none());
    let has_steps = |action: &str| !shell_steps(action).is_empty();
    !is_service && task.is_some_and(|task| !task.fields.action.as_deref().is_some_and(has_steps))
}
