//! What would stop a run later is found before its first attempt, and before anything is created.

use std::path::Path;

use regreen_documents::TaskFile;
use regreen_workspace::{Git, Programs, RealDisk};
use rustix::fs::statvfs;

use super::{RunError, RunSetup};

/// Less room than this is used up by the first logs and snapshots.
const NEEDED_BYTES: u64 = 4 * 1024 * 1024;

/// Refuses to begin where the first attempt, or its commit, could only fail.
pub(super) fn check(setup: &RunSetup, plan: &TaskFile) -> Result<(), RunError> {
    let tasks = plan.tasks();
    let mut open = tasks.iter().filter(|task| !task.done);
    if open.clone().next().is_none() {
        return Ok(());
    }
    check_room(&setup.paths.root)?;
    check_agent(setup)?;
    let is_committed = setup.config.recovery || open.any(|task| task.fields.commit.is_some());
    if setup.config.commits && is_committed {
        check_git(&setup.paths.root)?;
    }
    Ok(())
}

fn refused(why: String) -> RunError {
    RunError::SetUp { why }
}

fn check_room(root: &Path) -> Result<(), RunError> {
    // A file system that does not tell is not refused.
    let Ok(disk) = statvfs(root) else {
        return Ok(());
    };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if free >= NEEDED_BYTES {
        return Ok(());
    }
    Err(refused(format!(
        "no room left on the disk of {}: {} KB are free, and a run needs at least {} KB; free some space, then run again",
        root.display(),
        free / 1024,
        NEEDED_BYTES / 1024
    )))
}

fn check_agent(setup: &RunSetup) -> Result<(), RunError> {
    let program = setup.agent.program();
    let programs = Programs::new(&setup.path, &setup.paths.root);
    if programs.find(&RealDisk, program).is_some() {
        return Ok(());
    }
    Err(refused(format!(
        "the agent's program `{program}` is not installed or not in PATH; `regreen agents` lists the agents that are, and `--agent` chooses one"
    )))
}

/// A commit needs an identity, and a repository in which nothing else is unfinished.
fn check_git(root: &Path) -> Result<(), RunError> {
    // Without git nothing is committed; why it can't be used is said where it is.
    let Ok(git) = Git::open(root) else {
        return Ok(());
    };
    match git.commit_obstacle() {
        None => Ok(()),
        Some(obstacle) => Err(refused(format!("tasks can't be committed: {obstacle}"))),
    }
}
