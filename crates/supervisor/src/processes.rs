//! Processes without a keeper of ours, and strays that have lost theirs.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rustix::process::Signal;

use crate::spec::Marker;
use crate::system::{self, Process};
use crate::termination::{Action, Termination};

/// How often to check whether processes have ended.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The system's information about a process at one moment. Missing information proves nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessInfo {
    pub(crate) process: Process,
    /// Its process id.
    pub pid: i32,
    /// The start time in clock ticks since boot; together with the pid it identifies a process for
    /// good.
    pub start: u64,
    /// When it started.
    pub started: SystemTime,
    /// Whether it has ended, but its parent hasn't waited for it yet.
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

/// The processes that hold a file or a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holders {
    /// All of them.
    Known(Vec<ProcessInfo>),
    /// Some process couldn't be inspected, or the system has no such table.
    Unknown,
}

/// Returns the process with that pid; `None` if there is none, or the system doesn't tell.
#[must_use]
pub fn process_info(pid: i32, now: SystemTime) -> Option<ProcessInfo> {
    system::process_info(pid, now)
}

/// Returns whether a process with that pid exists; `None` if the system doesn't tell.
#[must_use]
pub fn process_exists(pid: i32) -> Option<bool> {
    system::process_exists(pid)
}

/// Returns whether a keeper started this process, or one of its ancestors as far as can be told:
/// then it belongs to a run, and no person started it.
#[must_use]
pub fn is_started_by_a_run() -> bool {
    std::env::var_os(Marker::VARIABLE).is_some() || system::is_below_keeper()
}

/// Returns whether a run started the program that opened a connection to this process; `peer` is
/// the other end. `None` if the connection isn't one of this machine any more, or the system doesn't
/// tell.
#[must_use]
pub fn is_connected_by_a_run(peer: SocketAddr) -> Option<bool> {
    system::is_connected_by_a_run(peer)
}

/// Returns all processes.
#[must_use]
pub fn list_processes(now: SystemTime) -> Vec<ProcessInfo> {
    system::list_processes(now)
}

/// Returns the processes that have a file open. Other users' processes can't be inspected, and
/// count as holders only if the system says so.
#[must_use]
pub fn holders_of_file(device: u64, inode: u64, now: SystemTime) -> Holders {
    system::holders_of_file(device, inode, now)
}

/// Returns the processes that listen on a TCP port, or on any port.
#[must_use]
pub fn listeners_on(port: Option<u16>, now: SystemTime) -> Holders {
    system::listeners_on(port, now)
}

/// Ends exactly this process: asks first, then kills it after `grace`. Returns whether it is gone.
/// If the pid belongs to another process by now, that one is left alone.
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

/// The result of ending strays.
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

/// Returns this user's processes whose marker starts with `marker_prefix`, whether or not they
/// still have a keeper: the caller knows which runs are over. End the prefix with a colon, so that
/// `run-1:` doesn't match `run-12`. This process and its ancestors are never included. Finds
/// nothing on systems that hide environments (macOS).
#[must_use]
pub fn find_strays(marker_prefix: &str) -> Vec<Stray> {
    system::marked(marker_prefix)
}

/// Ends the processes that [`find_strays`] finds, including any that appear meanwhile: asks first,
/// then kills after `grace`. If a pid belongs to another process by then, that one is left alone.
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
