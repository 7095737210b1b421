//! Locks that a killed git left behind.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use regreen_supervisor::{Holders, ProcessInfo, holders_of_file, list_processes};
use regreen_workspace::RelPath;
use rustix::process::geteuid;

use crate::actions::set_aside_in;
use crate::inspections::described;

/// A newer lock may belong to a process that isn't visible here.
const OLD_ENOUGH: Duration = Duration::from_secs(10 * 60);

/// The state of a lock's owner, as far as known. Git's locks don't name theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LockOwner {
    /// No process has the lock open, no git is running here, and the lock is old or was left by a
    /// git of ours that was killed.
    Dead,
    /// A process that uses the lock, or may.
    Alive(String),
    /// The reason why nothing is proven.
    Unknown(&'static str),
}

impl LockOwner {
    /// Finds the owner. If one of regreen's own git processes was killed, `killed_since` is the
    /// time since which it may have created the lock.
    pub(crate) fn find(
        root: &Path,
        lock: &Metadata,
        killed_since: Option<SystemTime>,
        now: SystemTime,
    ) -> Self {
        match holders_of_file(lock.dev(), lock.ino(), now) {
            Holders::Unknown => return Self::Unknown("cannot inspect every process"),
            Holders::Known(holders) => {
                if let Some(holder) = holders.first() {
                    return Self::Alive(format!("{} has it open", described(holder)));
                }
            }
        }
        let processes = list_processes(now);
        if let Some(git) = processes.iter().find(|process| is_git_here(root, process)) {
            return Self::Alive(format!("{} is running in this repository", described(git)));
        }
        let Ok(written) = lock.modified() else {
            return Self::Unknown("cannot tell its age");
        };
        let is_old = now
            .duration_since(written)
            .is_ok_and(|age| age >= OLD_ENOUGH);
        let is_ours = killed_since.is_some_and(|since| written >= since);
        if processes.is_empty() || !(is_old || is_ours) {
            return Self::Unknown("it is recent: its owner may not be visible from here");
        }
        Self::Dead
    }
}

fn is_git_here(root: &Path, process: &ProcessInfo) -> bool {
    let program = process.argv.first().map_or("", String::as_str);
    let name = program.rsplit('/').next().unwrap_or_default();
    let is_here = process
        .folder
        .as_deref()
        .is_some_and(|folder| folder.starts_with(root));
    let is_named = process
        .argv
        .iter()
        .any(|word| Path::new(word).starts_with(root));
    !process.is_zombie && name.starts_with("git") && (is_here || is_named)
}

/// Moves a git lock to `.regreen/removed/` if its owner is proven dead.
///
/// # Errors
/// Returns the reason why the lock stays.
pub fn release_git_lock(
    root: &Path,
    lock: &Path,
    killed_since: Option<SystemTime>,
    now: SystemTime,
) -> Result<(), String> {
    let place =
        RelPath::inside(root, lock).map_err(|_| "it is outside of the workspace".to_owned())?;
    let found = place.under(root).symlink_metadata();
    let found = found.map_err(|error| error.to_string())?;
    if !found.is_file() || found.nlink() > 1 || found.uid() != geteuid().as_raw() {
        return Err("it is not a lock of this user".to_owned());
    }
    match LockOwner::find(root, &found, killed_since, now) {
        LockOwner::Dead => set_aside_in(root, &place).map_err(|error| error.to_string()),
        LockOwner::Alive(who) => Err(who),
        LockOwner::Unknown(why) => Err(why.to_owned()),
    }
}
