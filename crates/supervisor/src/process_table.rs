use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rustix::process::Signal;

use crate::system::{self, Process};

/// How often a process that was told to end is looked for.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// A process as it was seen at one moment. Only what the system tells us: where it does not,
/// nothing may be concluded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenProcess {
    pub(crate) process: Process,
    pub pid: i32,
    /// In clock ticks since boot; with the pid it names a process for good.
    pub start: u64,
    pub started: SystemTime,
    /// It has ended, and its parent has not asked how.
    pub is_zombie: bool,
    /// Whether it belongs to the user that regreen runs as.
    pub is_of_this_user: bool,
    pub folder: Option<PathBuf>,
    pub argv: Vec<String>,
    /// The marker of the keeper it was started under.
    pub marker: Option<String>,
}

/// What can be said about the holders of a file or a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holders {
    Known(Vec<SeenProcess>),
    /// Some process could not be looked into, or the system has no such table.
    Unknown,
}

/// The process of that pid; `None` if there is none, or the system does not tell.
#[must_use]
pub fn see_process(pid: i32, now: SystemTime) -> Option<SeenProcess> {
    system::see(pid, now)
}

/// Whether there can be a process of that pid: `None` where the system does not tell.
#[must_use]
pub fn has_process(pid: i32) -> Option<bool> {
    system::has_process(pid)
}

/// Every process there is.
#[must_use]
pub fn see_processes(now: SystemTime) -> Vec<SeenProcess> {
    system::see_all(now)
}

/// Who has a file open. Processes of other users cannot be looked into: they are counted as
/// holders only where the system says so.
#[must_use]
pub fn holders_of_file(device: u64, inode: u64, now: SystemTime) -> Holders {
    system::holders_of_file(device, inode, now)
}

/// Who listens on a TCP port, or on any.
#[must_use]
pub fn listeners_on(port: Option<u16>, now: SystemTime) -> Holders {
    system::listeners_on(port, now)
}

/// Ends exactly this process: asked first, killed when `grace` is over. `true` once it is
/// gone. A pid that means another process by now is left alone.
#[must_use]
pub fn end_process(seen: &SeenProcess, grace: Duration) -> bool {
    let until = Instant::now() + grace;
    system::signal(seen.process, Signal::TERM);
    while system::is_running(seen.process) && Instant::now() < until {
        thread::sleep(LOOK_AGAIN);
    }
    if !system::is_running(seen.process) {
        return true;
    }
    system::signal(seen.process, Signal::KILL);
    let until = Instant::now() + grace;
    while system::is_running(seen.process) && Instant::now() < until {
        thread::sleep(LOOK_AGAIN);
    }
    !system::is_running(seen.process)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn this_very_process_is_seen_as_it_is() {
        let now = SystemTime::now();
        let pid = i32::try_from(std::process::id()).unwrap();
        let seen = see_process(pid, now).unwrap();
        assert!(seen.is_of_this_user && !seen.is_zombie);
        assert!(seen.started <= now);
        assert_eq!(seen.folder, std::env::current_dir().ok());
        assert!(see_processes(now).iter().any(|other| other.pid == pid));
    }

    #[test]
    fn who_has_a_file_open_is_found() {
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
