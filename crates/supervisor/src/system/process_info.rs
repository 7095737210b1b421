//! Information about processes that aren't under our keepers.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::param::clock_ticks_per_second;
use rustix::process::geteuid;

use super::linux::{Process, StatLine, all_processes, marker_in, stat_of};
use crate::{Holders, ProcessInfo};

/// `LISTEN` in the kernel's tables.
const LISTENING: &str = "0A";

pub(crate) fn process_exists(pid: i32) -> Option<bool> {
    // Without a process table nothing is known, not even that there is no such process.
    stat_of(i32::try_from(std::process::id()).ok()?)?;
    Some(Path::new(&format!("/proc/{pid}")).exists())
}

pub(crate) fn process_info(pid: i32, now: SystemTime) -> Option<ProcessInfo> {
    read_info(&stat_of(pid)?, now)
}

pub(crate) fn list_processes(now: SystemTime) -> Vec<ProcessInfo> {
    let all = all_processes();
    all.iter().filter_map(|stat| read_info(stat, now)).collect()
}

/// Returns whether it exists and isn't a zombie.
pub(crate) fn is_running(process: Process) -> bool {
    let pid = process.pid().as_raw_nonzero().get();
    process.is_there() && stat_of(pid).is_some_and(|stat| !stat.is_dead())
}

pub(crate) fn holders_of_file(device: u64, inode: u64, now: SystemTime) -> Holders {
    holders(now, |open| {
        fs::metadata(open).is_ok_and(|stat| stat.dev() == device && stat.ino() == inode)
    })
}

pub(crate) fn listeners_on(port: Option<u16>, now: SystemTime) -> Holders {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let texts: Vec<String> = tables
        .iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .collect();
    if texts.is_empty() {
        return Holders::Unknown;
    }
    let sockets: BTreeSet<PathBuf> = texts
        .iter()
        .flat_map(|text| text.lines().filter_map(|line| listening_socket(line, port)))
        .map(|inode| PathBuf::from(format!("socket:[{inode}]")))
        .collect();
    let found = holders(now, |open| {
        fs::read_link(open).is_ok_and(|target| sockets.contains(&target))
    });
    match found {
        // There is a listener that we may not inspect.
        Holders::Known(known) if known.is_empty() && !sockets.is_empty() => Holders::Unknown,
        found => found,
    }
}

/// Returns the socket's number, if the line describes one that listens on that port, or on any.
fn listening_socket(line: &str, port: Option<u16>) -> Option<u64> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let (_, local) = fields.get(1)?.rsplit_once(':')?;
    let local = u16::from_str_radix(local, 16).ok()?;
    let is_it = port.is_none_or(|port| port == local) && *fields.get(3)? == LISTENING;
    is_it.then(|| fields.get(9)?.parse().ok()).flatten()
}

/// Returns the processes with an open descriptor for which `is_it` holds. A process of this user
/// that can't be inspected might be another.
fn holders(now: SystemTime, is_it: impl Fn(&Path) -> bool) -> Holders {
    let mut found = Vec::new();
    for stat in all_processes().iter().filter(|stat| !stat.is_dead()) {
        let Ok(entries) = fs::read_dir(format!("/proc/{}/fd", stat.pid)) else {
            let is_there = stat_of(stat.pid).is_some_and(|now| !now.is_dead());
            if is_there && is_of_this_user(stat.pid) {
                return Holders::Unknown;
            }
            continue;
        };
        let mut open = entries.filter_map(|entry| Some(entry.ok()?.path()));
        if open.any(|open| is_it(&open)) {
            found.extend(read_info(stat, now));
        }
    }
    Holders::Known(found)
}

fn is_of_this_user(pid: i32) -> bool {
    let owner = fs::metadata(format!("/proc/{pid}")).map(|stat| stat.uid());
    owner.is_ok_and(|owner| owner == geteuid().as_raw())
}

fn read_info(stat: &StatLine, now: SystemTime) -> Option<ProcessInfo> {
    let folder = PathBuf::from(format!("/proc/{}", stat.pid));
    let environment = fs::read(folder.join("environ")).unwrap_or_default();
    let argv = fs::read(folder.join("cmdline")).unwrap_or_default();
    Some(ProcessInfo {
        process: Process::of(stat)?,
        pid: stat.pid,
        start: stat.start,
        started: started(stat.start, now)?,
        is_zombie: stat.is_dead(),
        is_of_this_user: is_of_this_user(stat.pid),
        folder: fs::read_link(folder.join("cwd")).ok(),
        argv: words(&argv),
        marker: marker_in(&environment).map(str::to_owned),
    })
}

fn words(cmdline: &[u8]) -> Vec<String> {
    let text = cmdline.strip_suffix(b"\0").unwrap_or(cmdline);
    if text.is_empty() {
        return Vec::new();
    }
    text.split(|&byte| byte == 0)
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}

/// Returns the start time of a process, given in ticks since boot.
fn started(ticks: u64, now: SystemTime) -> Option<SystemTime> {
    let uptime = fs::read_to_string("/proc/uptime").ok()?;
    let uptime: f64 = uptime.split_ascii_whitespace().next()?.parse().ok()?;
    let since_boot = Duration::from_millis(ticks * 1000 / clock_ticks_per_second().max(1));
    let age = Duration::try_from_secs_f64(uptime)
        .ok()?
        .saturating_sub(since_boot);
    now.checked_sub(age)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_known_by_port_and_state() {
        let line = "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 100 0 0 10 0";
        assert_eq!(listening_socket(line, Some(8080)), Some(4711));
        assert_eq!(listening_socket(line, Some(8081)), None);
        let connected = line.replace(" 0A ", " 01 ");
        assert_eq!(listening_socket(&connected, None), None);
    }

    #[test]
    fn a_command_line_is_its_words() {
        assert_eq!(words(b"python3\0a b.py\0\0"), ["python3", "a b.py", ""]);
        assert_eq!(words(b""), [""; 0]);
    }
}
