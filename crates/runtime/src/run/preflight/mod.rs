//! Finds what would stop a run, before its first attempt and before anything is created.
//!
//! It runs no Verify. What can't even start is an error: a program that is missing, a misspelt
//! script, a command that the shell can't read. A wrong refusal is worse than a late failure, so
//! whatever a task, its agent or recovery may still provide is only a warning.

mod commands;
mod estimate;
mod finding;
mod makers;
mod modules;
mod provided;
mod reader;
mod syntax;
mod templates;

use std::path::Path;

use regreen_documents::TaskFile;
use regreen_model::PreflightPolicy;
use regreen_store::Store;
use regreen_workspace::{Git, Programs, RealDisk};
use rustix::fs::statvfs;

use self::commands::PlannedCommand;
pub use self::finding::{Preflight, PreflightFinding};
use super::{RunError, RunSetup, open_store_read_only};
use crate::process::workspace_masks;

/// The first logs and snapshots would fill a disk with less space than this.
const NEEDED_BYTES: u64 = 4 * 1024 * 1024;
/// A night of logs and snapshots may fill a disk with less space than this.
const SCARCE_BYTES: u64 = 256 * 1024 * 1024;

/// Refuses to start if the first attempt, or its commit, is bound to fail, or if a check can't even
/// start. Returns warnings. A run that is resumed has been looked at when it began.
pub(super) fn check(setup: &RunSetup, plan: &TaskFile) -> Result<Vec<String>, RunError> {
    let tasks = plan.tasks();
    let mut open = tasks.iter().filter(|task| !task.done);
    if open.clone().next().is_none() {
        return Ok(Vec::new());
    }
    check_room(&setup.paths.root)?;
    check_agent(setup)?;
    let is_committed = setup.config.recovery || open.any(|task| task.fields.commit.is_some());
    if setup.config.commits && is_committed {
        check_git(&setup.paths.root)?;
    }
    let store = open_store_read_only(&setup.paths.root).ok().flatten();
    if setup.preflight == PreflightPolicy::Off || is_resumed(setup, store.as_ref()) {
        return Ok(Vec::new());
    }
    let found = look(setup, plan, store.as_ref());
    if setup.preflight == PreflightPolicy::Fail && found.has_errors() {
        return Err(RunError::Preflight(found));
    }
    Ok(found.findings.iter().map(ToString::to_string).collect())
}

/// Looks for what would stop a new run, and what may. Creates nothing, and starts nothing but the
/// shell, which reads commands without running them, and Python, which looks up modules.
#[must_use]
pub fn preflight(setup: &RunSetup, plan: &TaskFile) -> Preflight {
    let mut found = Preflight::default();
    for refused in [check_room(&setup.paths.root), check_agent(setup)] {
        if let Err(why) = refused {
            found.add(PreflightFinding::error(why.to_string(), ""));
        }
    }
    let store = open_store_read_only(&setup.paths.root).ok().flatten();
    found.merge(look(setup, plan, store.as_ref()));
    found
}

fn is_resumed(setup: &RunSetup, store: Option<&Store>) -> bool {
    let spec = setup.paths.spec_key();
    store.is_some_and(|store| matches!(store.unfinished_run(&spec), Ok(Some(_))))
}

fn look(setup: &RunSetup, plan: &TaskFile, store: Option<&Store>) -> Preflight {
    let masks = workspace_masks(&setup.paths.root, &setup.secrets);
    let programs = Programs::new(&setup.path, &setup.paths.root);
    let planned = PlannedCommand::all(setup, plan, &programs);
    let mut found = Preflight::default();
    for command in &planned {
        provided::look(&mut found, setup, &programs, command);
    }
    let processes = reader::processes(setup, &masks);
    syntax::look(&mut found, setup, &programs, &processes, &planned);
    modules::look(&mut found, setup, &programs, &processes, &planned);
    templates::look(&mut found, setup, &programs);
    if let Some(missing) = &setup.missing_login {
        found.add(PreflightFinding::warning(missing.clone(), ""));
    }
    if free_bytes(&setup.paths.root).is_some_and(|free| free < SCARCE_BYTES) {
        let what = format!("less than {} MB are free on this disk", SCARCE_BYTES >> 20);
        found.add(PreflightFinding::warning(
            what,
            "logs and snapshots of a long run may fill it",
        ));
    }
    estimate::look(&mut found, setup, plan, store);
    found.masked(&masks)
}

fn refused(why: String) -> RunError {
    RunError::SetUp { why }
}

/// Returns the free space; `None` if the file system doesn't tell.
fn free_bytes(root: &Path) -> Option<u64> {
    let disk = statvfs(root).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

fn check_room(root: &Path) -> Result<(), RunError> {
    // A file system that reports no free space is not refused.
    let Some(free) = free_bytes(root) else {
        return Ok(());
    };
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

/// Checks that git has an identity to commit with, and that no merge or the like is unfinished.
fn check_git(root: &Path) -> Result<(), RunError> {
    // Without git nothing is committed; the tree reports why git can't be used.
    let Ok(git) = Git::open(root) else {
        return Ok(());
    };
    match git.commit_obstacle() {
        None => Ok(()),
        Some(obstacle) => Err(refused(format!("tasks can't be committed: {obstacle}"))),
    }
}
