//! Executes, checks and undoes the actions of repairs.

mod files;
mod run_tools;

use std::time::Duration;

use regreen_supervisor::process_info;

use crate::context::RepairContext;
use crate::plan::{Action, RepairPlan, ToolRunner};

pub(crate) use files::{set_aside, set_aside_in};

/// Executes an action and checks the result; undoes it if it didn't help. The error is the reason.
pub(crate) fn execute(
    context: &RepairContext<'_>,
    plan: &RepairPlan,
    runner: &mut dyn ToolRunner,
) -> Result<(), String> {
    match &plan.action {
        Action::Environment => Ok(()),
        Action::MakeExecutable(path) => files::make_executable(context, path),
        Action::MakeFolder(path) => files::make_folder(context, path),
        Action::UnixLineEnds(path) => files::line_ends(context, path),
        Action::CopyFile { from, to } => files::copy_file(context, from, to),
        Action::SetAside(path) => files::move_aside(context, path),
        Action::EndProcess { pid, start } => end_process(context, *pid, *start),
        Action::RunTools(run) => run_tools::run_tools(context, run, runner),
        Action::PersonOnly => Err(format!("only a person can do this: {}", plan.does)),
    }
}

/// How long a process may take to exit.
const GRACE: Duration = Duration::from_secs(5);

/// Ends the process only if it is still the one that was inspected.
fn end_process(context: &RepairContext<'_>, pid: i32, start: u64) -> Result<(), String> {
    let process = process_info(pid, context.now).filter(|process| process.start == start);
    match process {
        None => Err(format!("process {pid} is a different process now")),
        Some(process) if regreen_supervisor::end_process(&process, GRACE) => Ok(()),
        Some(_) => Err(format!("process {pid} does not exit")),
    }
}
