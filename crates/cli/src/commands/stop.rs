//! `regreen stop`

use std::thread;
use std::time::{Duration, Instant};

use regreen_runtime::{TreeLock, TreeLockError};
use regreen_workspace::{RealDisk, workspace_root};
use rustix::process::{Pid, Signal, kill_process};

use super::here;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;

/// Ending an agent takes its grace; a commit hook may take longer.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Asks the run in this working tree to stop, and waits until it has.
pub fn run() -> Result<Exit, Problem> {
    let root = workspace_root(&RealDisk, &here()?);
    let Some(held) = TreeLock::holder(&root) else {
        output::print("no run is at work here\n")?;
        return Ok(Exit::AllGreen);
    };
    if let TreeLockError::Held { pid: Some(pid), .. } = &held
        && let Some(pid) = i32::try_from(*pid).ok().and_then(Pid::from_raw)
    {
        // It may have ended by itself meanwhile.
        let _ = kill_process(pid, Signal::TERM);
    }
    let since = Instant::now();
    while TreeLock::holder(&root).is_some() {
        if since.elapsed() > PATIENCE {
            return Err(Problem::StillAtWork {
                holder: held.to_string(),
            });
        }
        thread::sleep(LOOK_AGAIN);
    }
    output::print("stopped; `regreen run` goes on with it\n")?;
    Ok(Exit::AllGreen)
}
