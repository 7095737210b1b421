//! For systems that can't adopt orphans, such as macOS: processes are ended as long as they stay in
//! the program's process group. A descendant that starts its own session gets away; strays can't be
//! found, and processor time isn't known.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use crate::{Holders, ProcessInfo, Stray};

/// The program's whole process group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Process {
    group: Pid,
}

impl Process {
    pub(crate) fn pid(self) -> Pid {
        self.group
    }
}

/// Returns whether this process was started with SIGHUP ignored, which isn't known here.
#[must_use]
pub fn ignores_hangup() -> bool {
    false
}

pub(crate) fn adopt_orphans() -> io::Result<()> {
    Ok(())
}

/// Polling is needed: the keeper isn't notified when processes end that aren't its children.
pub(crate) const POLL_INTERVAL: Option<Duration> = Some(Duration::from_millis(10));

pub(crate) fn any_left(program: Pid) -> bool {
    test_kill_process_group(program).is_ok()
}

pub(crate) fn descendants(_keeper: Pid, program: Pid) -> Vec<Process> {
    let group = Process { group: program };
    any_left(program).then_some(group).into_iter().collect()
}

/// Not known here.
pub(crate) fn command_line(_process: Process) -> Option<String> {
    None
}

pub(crate) fn signal(process: Process, signal: Signal) -> bool {
    kill_process_group(process.group, signal).is_ok()
}

pub(crate) fn cpu_time(_keeper: Pid) -> Option<Duration> {
    None
}

/// Ancestors aren't known here.
pub(crate) fn is_below_keeper() -> bool {
    false
}

/// Connections aren't known here.
pub(crate) fn is_connected_by_a_run(_peer: SocketAddr) -> Option<bool> {
    None
}

pub(crate) fn marked(_prefix: &str) -> Vec<Stray> {
    Vec::new()
}

pub(crate) fn process_exists(_pid: i32) -> Option<bool> {
    None
}

pub(crate) fn process_info(_pid: i32, _now: SystemTime) -> Option<ProcessInfo> {
    None
}

pub(crate) fn list_processes(_now: SystemTime) -> Vec<ProcessInfo> {
    Vec::new()
}

pub(crate) fn holders_of_file(_device: u64, _inode: u64, _now: SystemTime) -> Holders {
    Holders::Unknown
}

pub(crate) fn listeners_on(_port: Option<u16>, _now: SystemTime) -> Holders {
    Holders::Unknown
}

pub(crate) fn is_running(process: Process) -> bool {
    test_kill_process_group(process.group).is_ok()
}
