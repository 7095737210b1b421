use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;
use rustix::param::clock_ticks_per_second;
use rustix::process::{
    Pid, PidfdFlags, Signal, geteuid, getpid, kill_process, pidfd_open, pidfd_send_signal,
    set_child_subreaper,
};

use crate::{KEEPER_ARGUMENT, Marker, Stray};

/// Identifies a process for good: a reused pid has another start time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Process {
    pid: Pid,
    start: u64,
}

impl Process {
    pub(crate) fn pid(self) -> Pid {
        self.pid
    }

    pub(super) fn is_there(self) -> bool {
        let stat = stat_of(self.pid.as_raw_nonzero().get());
        stat.is_some_and(|stat| stat.start == self.start)
    }

    pub(super) fn of(stat: &StatLine) -> Option<Self> {
        Some(Self {
            pid: Pid::from_raw(stat.pid)?,
            start: stat.start,
        })
    }
}

/// Returns whether this process was started with SIGHUP ignored, as `nohup` does.
#[must_use]
pub fn ignores_hangup() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // Signals are counted from 1.
    let bit = 1_u64 << (Signal::HUP.as_raw() - 1);
    mask.is_some_and(|mask| mask & bit != 0)
}

/// Returns whether this process or one of its ancestors is a keeper, or carries a keeper's marker.
///
/// A program may clean its environment, or leave its parents: a keeper then adopts it, so it stays
/// below one for as long as the keeper lives.
pub(crate) fn is_below_keeper() -> bool {
    is_one_below_keeper(getpid().as_raw_nonzero().get())
}

/// Returns the same for another process.
pub(super) fn is_one_below_keeper(pid: i32) -> bool {
    let mut seen = BTreeSet::new();
    let mut current = Some(pid);
    while let Some(pid) = current.filter(|&pid| pid > 0 && seen.insert(pid)) {
        if is_kept(pid) {
            return true;
        }
        current = stat_of(pid).map(|stat| stat.parent);
    }
    false
}

fn is_kept(pid: i32) -> bool {
    let read =
        |file: &str| read_whole(Path::new(&format!("/proc/{pid}/{file}"))).unwrap_or_default();
    let is_keeper = |cmdline: &[u8]| {
        let mut words = cmdline.split(|&byte| byte == 0);
        words.nth(1) == Some(KEEPER_ARGUMENT.as_bytes())
    };
    marker_in(&read("environ")).is_some() || is_keeper(&read("cmdline"))
}

/// Makes this process the parent of orphaned descendants.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// No polling needed: a keeper is notified of everything that happens below it.
pub(crate) const POLL_INTERVAL: Option<Duration> = None;

/// Returns whether there can be descendants that aren't children of the keeper: never, because it
/// adopts orphans.
pub(crate) fn any_left(_program: Pid) -> bool {
    false
}

/// Returns all living descendants of the keeper.
pub(crate) fn descendants(keeper: Pid, _program: Pid) -> Vec<Process> {
    let below = below(keeper.as_raw_nonzero().get(), all_processes());
    let alive = below.iter().filter(|stat| !stat.is_dead());
    alive.filter_map(Process::of).collect()
}

/// Returns the command line of a process, as one line.
pub(crate) fn command_line(process: Process) -> Option<String> {
    const LONGEST: usize = 300;
    let path = format!("/proc/{}/cmdline", process.pid.as_raw_nonzero());
    let bytes = fs::read(path).ok()?;
    let bytes = bytes.get(..bytes.len().min(LONGEST))?;
    let words = bytes.split(|byte| *byte == 0);
    let words: Vec<String> = words
        .map(|word| String::from_utf8_lossy(word).replace(char::is_control, " "))
        .collect();
    let line = words.join(" ").trim().to_owned();
    (!line.is_empty() && process.is_there()).then_some(line)
}

/// Sends a signal to exactly this process; `false` if it is gone or out of reach.
pub(crate) fn signal(process: Process, signal: Signal) -> bool {
    // Once the descriptor is open, the pid can't be reused.
    match pidfd_open(process.pid, PidfdFlags::empty()) {
        Ok(descriptor) => process.is_there() && pidfd_send_signal(descriptor, signal).is_ok(),
        Err(Errno::NOSYS | Errno::PERM) => {
            process.is_there() && kill_process(process.pid, signal).is_ok()
        }
        Err(_) => false,
    }
}

/// Returns the processor time that the keeper and its descendants have used.
pub(crate) fn cpu_time(keeper: Pid) -> Option<Duration> {
    let keeper = keeper.as_raw_nonzero().get();
    let own = stat_of(keeper)?;
    let below = below(keeper, all_processes());
    let ticks: u64 = below.iter().chain([&own]).map(|stat| stat.cpu_ticks).sum();
    Some(Duration::from_millis(
        ticks * 1000 / clock_ticks_per_second().max(1),
    ))
}

/// Returns this user's processes whose marker starts with `prefix`, except this process and its
/// ancestors.
pub(crate) fn marked(prefix: &str) -> Vec<Stray> {
    // Nearly always there is none, and the state of every process costs far more to read.
    let candidates: BTreeSet<i32> = pids().filter(|pid| has_marker(*pid, prefix)).collect();
    if candidates.is_empty() {
        return Vec::new();
    }
    let all = all_processes();
    let mine = with_ancestors(getpid().as_raw_nonzero().get(), &all);
    all.iter()
        .filter(|stat| !stat.is_dead() && !mine.contains(&stat.pid))
        .filter(|stat| candidates.contains(&stat.pid))
        .filter_map(|stat| stray(stat, prefix))
        .collect()
}

fn has_marker(pid: i32, prefix: &str) -> bool {
    marker_of(pid).is_some_and(|marker| marker.starts_with(prefix))
}

/// Returns the marker of a process of this user.
fn marker_of(pid: i32) -> Option<String> {
    let folder = PathBuf::from(format!("/proc/{pid}"));
    if fs::metadata(&folder).ok()?.uid() != geteuid().as_raw() {
        return None;
    }
    let environment = read_whole(&folder.join("environ"))?;
    marker_in(&environment).map(str::to_owned)
}

/// The marker is read again, after the line that identifies the process: its pid may have been
/// another's before.
fn stray(stat: &StatLine, prefix: &str) -> Option<Stray> {
    let marker = marker_of(stat.pid).filter(|marker| marker.starts_with(prefix))?;
    let command = read_whole(Path::new(&format!("/proc/{}/cmdline", stat.pid)));
    let command = command.unwrap_or_default();
    Some(Stray {
        process: Process::of(stat)?,
        marker,
        command: String::from_utf8_lossy(&command)
            .replace('\0', " ")
            .trim_end()
            .to_owned(),
    })
}

pub(super) fn marker_in(environment: &[u8]) -> Option<&str> {
    environment
        .split(|&byte| byte == 0)
        .filter_map(|entry| std::str::from_utf8(entry).ok())
        .find_map(|entry| entry.strip_prefix(Marker::VARIABLE)?.strip_prefix('='))
}

pub(super) fn all_processes() -> Vec<StatLine> {
    pids().filter_map(stat_of).collect()
}

fn pids() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

pub(super) fn stat_of(pid: i32) -> Option<StatLine> {
    let line = read_whole(Path::new(&format!("/proc/{pid}/stat")))?;
    StatLine::parse(&String::from_utf8_lossy(&line))
}

/// Reads a file of /proc, whose length is not known before, in as few calls as possible: each one
/// writes the text anew.
fn read_whole(path: &Path) -> Option<Vec<u8>> {
    const USUAL: usize = 8 * 1024;
    let mut bytes = Vec::with_capacity(USUAL);
    fs::File::open(path).ok()?.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn below(root: i32, all: Vec<StatLine>) -> Vec<StatLine> {
    let mut children: BTreeMap<i32, Vec<StatLine>> = BTreeMap::new();
    for stat in all {
        children.entry(stat.parent).or_default().push(stat);
    }
    let mut found = children.remove(&root).unwrap_or_default();
    let mut next = 0;
    while let Some(stat) = found.get(next) {
        found.extend(children.remove(&stat.pid).unwrap_or_default());
        next += 1;
    }
    found
}

fn with_ancestors(pid: i32, all: &[StatLine]) -> BTreeSet<i32> {
    let parents: BTreeMap<i32, i32> = all.iter().map(|stat| (stat.pid, stat.parent)).collect();
    let mut line = BTreeSet::new();
    let mut current = Some(pid);
    while let Some(pid) = current.filter(|&pid| line.insert(pid)) {
        current = parents.get(&pid).copied();
    }
    line
}

/// The fields of `/proc/<pid>/stat` that we need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StatLine {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    pub(crate) state: u8,
    /// The processor time in clock ticks, including that of children it has waited for.
    pub(crate) cpu_ticks: u64,
    /// The start time in clock ticks since boot; together with the pid it identifies a process for
    /// good.
    pub(crate) start: u64,
}

impl StatLine {
    /// Parses a line. A name may contain blanks and brackets: the last bracket ends it.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let (head, tail) = line.rsplit_once(')')?;
        let (pid, _name) = head.split_once('(')?;
        let fields: Vec<&str> = tail.split_ascii_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<i64>().ok();
        let ticks: i64 = (11..=14).map(number).sum::<Option<i64>>()?;
        Some(Self {
            pid: pid.trim().parse().ok()?,
            parent: fields.get(1)?.parse().ok()?,
            state: *fields.first()?.as_bytes().first()?,
            cpu_ticks: u64::try_from(ticks).ok()?,
            start: fields.get(19)?.parse().ok()?,
        })
    }

    /// Returns whether it is a zombie or being removed, so that there is nothing left to end.
    pub(crate) fn is_dead(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(pid: i32, parent: i32) -> StatLine {
        StatLine {
            pid,
            parent,
            state: b'S',
            cpu_ticks: 0,
            start: 1,
        }
    }

    fn pids(stats: &[StatLine]) -> Vec<i32> {
        stats.iter().map(|stat| stat.pid).collect()
    }

    #[test]
    fn everything_below_is_found_however_deep_and_nothing_else() {
        let all = vec![stat(9, 1), stat(5, 3), stat(3, 2), stat(2, 1), stat(6, 5)];
        assert_eq!(pids(&below(2, all.clone())), [3, 5, 6]);
        assert_eq!(pids(&below(6, all)), [0; 0]);
    }

    #[test]
    fn a_loop_of_parents_does_not_hang() {
        let all = [stat(1, 2), stat(2, 1)];
        assert_eq!(with_ancestors(1, &all), BTreeSet::from([1, 2]));
        assert_eq!(pids(&below(1, all.to_vec())), [2, 1]);
    }

    #[test]
    fn a_process_that_reuses_a_pid_is_not_signalled() {
        let me = stat_of(getpid().as_raw_nonzero().get()).unwrap();
        let other = Process {
            pid: getpid(),
            start: me.start + 1,
        };
        assert!(!signal(other, Signal::KILL));
    }

    #[test]
    fn the_marker_is_a_whole_variable() {
        assert_eq!(
            marker_in(b"A=1\0REGREEN_KEEPER=r:1:x\0B=2\0"),
            Some("r:1:x")
        );
        assert_eq!(marker_in(b"MY_REGREEN_KEEPER=r\0REGREEN_KEEPERS=r\0"), None);
    }

    #[test]
    fn a_line_is_read_under_any_program_name() {
        let line = "4711 (a) R (b) 1) S 12 4711 4711 0 -1 4194304 100 0 0 0 5 6 7 8 20 0 1 0 98765 \
                    1000 10 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0";
        let stat = StatLine::parse(line).unwrap();
        assert_eq!(stat.pid, 4711);
        assert_eq!(stat.parent, 12);
        assert_eq!(stat.cpu_ticks, 26);
        assert_eq!(stat.start, 98_765);
        assert!(!stat.is_dead());
    }

    #[test]
    fn a_truncated_line_is_not_parsed() {
        assert_eq!(StatLine::parse("4711 (a) S 12"), None);
        assert_eq!(StatLine::parse(""), None);
    }
}
