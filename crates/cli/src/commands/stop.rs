//! `regreen stop`: stops the run in this workspace, now or after its current task.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use regreen_runtime::{LockHolder, LockPurpose, TreeLock, ask_to_stop_after_task};
use regreen_workspace::{RealDisk, workspace_root};
use rustix::process::{Pid, Signal, kill_process};

use crate::arguments::StopRun;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::spec_context::{SpecContext, current_dir};

/// Ending an agent takes its grace period; a commit hook may take longer.
const MAX_WAIT: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Asks the run in this working tree to stop, and waits until it has.
pub fn run(arguments: &StopRun) -> Result<Exit, Problem> {
    let root = workspace_root(&RealDisk, &current_dir()?);
    if arguments.after_task {
        output::print_text(&stop_after_task(&root)?)?;
        return Ok(Exit::Success);
    }
    let since = Instant::now();
    let mut asked: Option<LockHolder> = None;
    while let Some(holder) = TreeLock::holder(&root) {
        if since.elapsed() > MAX_WAIT {
            let holder = holder.to_string();
            return Err(Problem::StillAtWork { holder });
        }
        // Another run may start once the first has ended; nobody asked that one to stop.
        match &asked {
            None if ask_to_stop(&holder) => asked = Some(holder),
            Some(first) if first.pid != holder.pid => break,
            _ => {}
        }
        thread::sleep(POLL_INTERVAL);
    }
    output::print_text(&match asked {
        Some(holder) => format!(
            "stopped spec {}; run `{}` to resume\n",
            output::printable(&holder.name),
            output::printable(&run_command(&holder))
        ),
        None => "no run is active here\n".to_owned(),
    })?;
    Ok(Exit::Success)
}

/// Asks the run to stop after its current task, and returns what was done, at once.
pub fn stop_after_task(root: &Path) -> Result<String, Problem> {
    let holder = TreeLock::holder(root).filter(|holder| holder.purpose == LockPurpose::Run);
    Ok(match &holder {
        None => "no run is active here\n".to_owned(),
        Some(holder) => {
            ask_to_stop_after_task(root, holder).map_err(Problem::StopRequest)?;
            format!(
                "spec {} stops after its current task; `{}` resumes it then\n",
                output::printable(&holder.name),
                output::printable(&run_command(holder))
            )
        }
    })
}

/// Returns the command that resumes the run, with the spec if there are several.
fn run_command(holder: &LockHolder) -> String {
    let found = [&holder.name, &holder.spec].into_iter().find_map(|name| {
        let spec = SpecContext::find(Some(name)).ok()?;
        (spec.places.spec_key() == holder.spec).then(|| spec.argument(Some(name)))
    });
    match found.flatten() {
        Some(argument) => format!("regreen run {argument}"),
        None => "regreen run".to_owned(),
    }
}

/// Asks the process to stop if it is a run. Anything else releases the tree soon.
pub fn ask_to_stop(holder: &LockHolder) -> bool {
    let pid = holder.pid.and_then(|pid| i32::try_from(pid).ok());
    match pid.and_then(Pid::from_raw) {
        Some(pid) if holder.purpose == LockPurpose::Run => {
            // It may already have exited.
            let _ = kill_process(pid, Signal::TERM);
            true
        }
        _ => false,
    }
}
