//! Processes that are not ours to keep, and strays that have lost their keeper.

use std::collections::HashSet;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rustix::process::Signal;

use crate::system::{self, Process};
use crate::termination::{Action, Termination};

/// How often to check whether processes have ended.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// What the system tells about a process at one moment. Nothing may be concluded from what is
/// missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessInfo {
    pub(crate) process: Process,
    /// Its process id.
    pub pid: i32,
    /// In clock ticks since boot; together with the pid it identifies a process for good.
    pub start: u64,
    /// When it started.
    pub started: SystemTime,
    /// It has ended, and its parent has not waited for it yet.
    pub is_zombie: bool,
    /// Whether it belongs to the user that regreen runs as.
    pub is_of_this_user: bool,
    /// Its working folder.
    pub folder: Option<PathBuf>,
    /// Its command line.
    pub argv: Vec<String>,
    /// The marker of the keeper it was started under.
    pub marker: Option<String>,
}

/// The processes that hold a file or a port, as far as they are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holders {
    /// All of them.
    Known(Vec<ProcessInfo>),
    /// Some process could not be inspected, or the system has no such table.
    Unknown,
}

/// Returns the process with that pid; `None` if there is none, or the system does not tell.
#[must_use]
pub fn process_info(pid: i32, now: SystemTime) -> Option<ProcessInfo> {
    system::process_info(pid, now)
}

/// Returns whether there is a process with that pid; `None` where the system does not tell.
#[must_use]
pub fn process_exists(pid: i32) -> Option<bool> {
    system::process_exists(pid)
}

/// Returns every process there is.
#[must_use]
pub fn list_processes(now: SystemTime) -> Vec<ProcessInfo> {
    system::list_processes(now)
}

/// Returns the processes that have a file open. Those of other users cannot be inspected, and
/// count as holders only where the system says so.
#[must_use]
pub fn holders_of_file(device: u64, inode: u64, now: SystemTime) -> Holders {
    system::holders_of_file(device, inode, now)
}

/// Returns the processes that listen on a TCP port, or on any.
#[must_use]
pub fn listeners_on(port: Option<u16>, now: SystemTime) -> Holders {
    system::listeners_on(port, now)
}

/// Ends exactly this process: asks first, kills when `grace` is over. Returns whether it is
/// gone. If the pid belongs to another process by now, that one is left alone.
#[must_use]
pub fn end_process(process: &ProcessInfo, grace: Duration) -> bool {
    let until = Instant::now() + grace;
    system::signal(process.process, Signal::TERM);
    while system::is_running(process.process) && Instant::now() < until {
        thread::sleep(POLL_INTERVAL);
    }
    if !system::is_running(process.process) {
        return true;
    }
    system::signal(process.process, Signal::KILL);
    let until = Instant::now() + grace;
    while system::is_running(process.process) && Instant::now() < until {
        thread::sleep(POLL_INTERVAL);
    }
    !system::is_running(process.process)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn the_info_of_this_process_is_right() {
        let now = SystemTime::now();
        let pid = i32::try_from(std::process::id()).unwrap();
        let info = process_info(pid, now).unwrap();
        assert!(info.is_of_this_user && !info.is_zombie);
        assert!(info.started <= now);
        assert_eq!(info.folder, std::env::current_dir().ok());
        assert!(list_processes(now).iter().any(|other| other.pid == pid));
    }

    #[test]
    fn a_process_that_has_a_file_open_is_found() {
        let now = SystemTime::now();
        let pid = i32::try_from(std::process::id()).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        let stat = fs::metadata(file.path()).unwrap();
        let is_held = || match holders_of_file(stat.dev(), stat.ino(), now) {
            Holders::Known(holders) => holders.iter().any(|holder| holder.pid == pid),
            Holders::Unknown => false,
        };
        assert!(is_held());
        let path = file.into_temp_path();
        assert!(!is_held());
        drop(path);
    }
}

/// A process with our marker that has lost its keeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stray {
    pub(crate) process: Process,
    /// Its marker.
    pub marker: String,
    /// Its command line.
    pub command: String,
}

/// How many strays were ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StraysEnded {
    /// How many ended.
    pub ended: u32,
    /// How many could not be ended.
    pub left: u32,
}

impl Stray {
    /// Returns its process id.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.process.pid().as_raw_nonzero().get()
    }
}

/// Returns this user's processes whose marker begins with `marker_prefix`, whether or not they
/// still have a keeper: the caller knows which runs are over. End the prefix with a colon, so
/// that `run-1:` does not match `run-12`. This process and its ancestors are never among them.
/// Finds nothing where the system does not show environments (macOS).
#[must_use]
pub fn find_strays(marker_prefix: &str) -> Vec<Stray> {
    system::marked(marker_prefix)
}

/// Ends what [`find_strays`] finds, including processes that appear meanwhile: asks first,
/// kills when `grace` is over. If a pid belongs to another process by then, that one is left
/// alone.
pub fn end_strays(marker_prefix: &str, grace: Duration) -> StraysEnded {
    let mut termination = Termination::new(grace);
    let mut action = termination.end_requested(Instant::now());
    let mut signalled = HashSet::new();
    loop {
        let strays = find_strays(marker_prefix);
        let signal = match action {
            Action::Ask => Some(Signal::TERM),
            Action::Kill => Some(Signal::KILL),
            Action::Wait(_) | Action::GiveUp => None,
        };
        if strays.is_empty() || action == Action::GiveUp {
            return summary(&signalled, strays.len());
        }
        for stray in strays {
            if signal.is_some_and(|signal| system::signal(stray.process, signal)) {
                signalled.insert(stray.process);
            }
        }
        thread::sleep(POLL_INTERVAL);
        action = termination.next(Instant::now());
    }
}

fn summary(signalled: &HashSet<Process>, left: usize) -> StraysEnded {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    StraysEnded {
        ended: count(signalled.len()).saturating_sub(count(left)),
        left: count(left),
    }
}
