//! Recognizes leftover processes of this workspace.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use regreen_supervisor::ProcessInfo;

use crate::context::RepairContext;

/// How much timestamps of files and processes may differ.
pub(super) const TOLERANCE: Duration = Duration::from_millis(100);
/// Limits on the search for pid files.
const MAX_DEPTH: usize = 4;
const MAX_ENTRIES: usize = 5000;
/// Larger files aren't pid files.
const MAX_SIZE: u64 = 4096;

/// Returns whether a process is a leftover of this workspace's own runs. Only our marker in its
/// environment proves that: a server that a person started may have the same command line, and a
/// pid file may name it.
pub(super) fn is_ours(context: &RepairContext<'_>, process: &ProcessInfo) -> bool {
    let is_self = u32::try_from(process.pid).ok() == Some(std::process::id());
    if is_self || process.is_zombie || !process.is_of_this_user {
        return false;
    }
    let prefix = context.marker.filter(|prefix| !prefix.is_empty());
    let marker = process.marker.as_deref();
    // A service of the run is ours but isn't a leftover: tasks need it.
    let marker = marker.filter(|marker| !marker.contains(":service:"));
    prefix.is_some_and(|prefix| marker.is_some_and(|marker| marker.starts_with(prefix)))
}

/// Finds the files in the workspace with names like pid files.
pub(super) fn pid_files(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut left) = (Vec::new(), MAX_ENTRIES);
    visit(root, MAX_DEPTH, &mut left, &mut found);
    found.sort();
    found
}

fn visit(folder: &Path, depth: usize, left: &mut usize, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Some(rest) = left.checked_sub(1) else {
            return;
        };
        *left = rest;
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let name = entry.file_name().to_string_lossy().to_ascii_lowercase();
        let is_skipped = [".git", "node_modules", ".venv", "target"].contains(&name.as_str());
        if kind.is_dir() && depth > 0 && !is_skipped {
            visit(&entry.path(), depth - 1, left, found);
        } else if kind.is_file() && is_pid_name(&name) {
            found.push(entry.path());
        }
    }
}

fn is_pid_name(name: &str) -> bool {
    let name = name.strip_suffix("file").unwrap_or(name);
    let before = name.strip_suffix("pid");
    before.is_some_and(|before| before.is_empty() || before.ends_with(['.', '_', '-']))
}

/// Returns the pid in a pid file or lock that contains nothing else.
pub(super) fn pid_in(path: &Path) -> Option<i32> {
    let is_small = path
        .symlink_metadata()
        .ok()
        .filter(|stat| stat.is_file() && stat.len() <= MAX_SIZE);
    let text = is_small.and_then(|_| fs::read_to_string(path).ok())?;
    only_pid(text.trim()).filter(|pid| *pid > 1)
}

/// Parses `4711`, `pid: 4711` or `{"pid": 4711}`. A file that contains more may come from another
/// machine, or not be a lock at all.
fn only_pid(text: &str) -> Option<i32> {
    let digits = |text: &str| {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse().ok()).flatten()
    };
    let named = || {
        let (name, rest) = text.split_at_checked(3)?;
        let rest = rest.trim_start_matches([' ', ':', '=']);
        name.eq_ignore_ascii_case("pid").then(|| digits(rest))?
    };
    let json = || {
        let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).ok()?;
        let pid = object.get("pid").filter(|_| object.len() == 1)?;
        i32::try_from(pid.as_i64()?).ok()
    };
    digits(text).or_else(named).or_else(json)
}

/// Returns the highest pid that a process on this machine can have.
pub(super) fn highest_pid() -> Option<i32> {
    let text = fs::read_to_string("/proc/sys/kernel/pid_max").ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pid_file_contains_only_a_pid() {
        for text in ["4711", "pid 4711", "PID=4711", r#"{"pid": 4711}"#] {
            assert_eq!(only_pid(text), Some(4711), "{text}");
        }
        for text in [
            "",
            "+4711",
            "4711\n/var/lib/data",
            "process 4711",
            "pid 4711 on host",
            r#"{"pid": 4711, "host": "b"}"#,
            "the pid of the server was 4711",
            "pidé",
        ] {
            assert_eq!(only_pid(text), None, "{text}");
        }
        assert!(is_pid_name("server.pid") && is_pid_name("pidfile"));
        assert!(!is_pid_name("rapid") && !is_pid_name("pid.txt"));
    }
}
