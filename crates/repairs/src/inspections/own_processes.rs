//! Recognizes leftover processes of this workspace.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use regreen_supervisor::ProcessInfo;

use crate::context::RepairContext;

/// How far timestamps of files and processes may differ.
pub(super) const TOLERANCE: Duration = Duration::from_millis(100);
/// Limits on the search for pid files.
const MAX_DEPTH: usize = 4;
const MAX_ENTRIES: usize = 5000;
/// A larger file is not a pid file.
const MAX_SIZE: u64 = 4096;

/// Returns whether a process is proven to be a leftover of this workspace's own runs. Either it
/// carries our marker; or it belongs to this user, runs in the workspace, is named by a pid
/// file there that is not older than itself, and has a command line that the task itself runs.
pub(super) fn is_ours(context: &RepairContext<'_>, process: &ProcessInfo) -> bool {
    let is_self = u32::try_from(process.pid).ok() == Some(std::process::id());
    if is_self || process.is_zombie || !process.is_of_this_user {
        return false;
    }
    let marker = context.marker.filter(|prefix| !prefix.is_empty());
    let is_marked = marker.is_some_and(|prefix| {
        process
            .marker
            .as_deref()
            .is_some_and(|marker| marker.starts_with(prefix))
    });
    is_marked
        || (works_here(context, process)
            && has_pid_file(context, process)
            && is_run_by_task(context, &process.argv))
}

fn works_here(context: &RepairContext<'_>, process: &ProcessInfo) -> bool {
    process
        .folder
        .as_deref()
        .is_some_and(|folder| folder.starts_with(context.root))
}

fn has_pid_file(context: &RepairContext<'_>, process: &ProcessInfo) -> bool {
    let not_older = |written: SystemTime| written + TOLERANCE >= process.started;
    let files = pid_files(context.root).into_iter();
    let mut naming = files.filter(|path| pid_in(path) == Some(process.pid));
    naming.any(|path| {
        path.metadata()
            .and_then(|stat| stat.modified())
            .is_ok_and(not_older)
    })
}

/// Finds the files of the workspace that are named like pid files.
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

/// Parses `4711`, `pid: 4711` or `{"pid": 4711}`. A file that contains more may be of another
/// machine, or not a lock at all.
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

/// Returns whether the task runs a command line: itself, or in a script of the workspace that
/// it starts.
fn is_run_by_task(context: &RepairContext<'_>, argv: &[String]) -> bool {
    let scripts = context
        .commands
        .iter()
        .flat_map(|command| crate::failure_text::words(command));
    let texts = scripts
        .filter_map(|word| context.locate(word))
        .filter_map(|place| script(&place.under(context.root)));
    let texts: Vec<String> = context.commands.iter().cloned().chain(texts).collect();
    let mut commands = texts.iter().flat_map(|text| simple_commands(text));
    commands.any(|command| is_same(&command, argv))
}

fn script(path: &Path) -> Option<String> {
    let is_small = path
        .metadata()
        .ok()
        .filter(|stat| stat.is_file() && stat.len() <= 64 * 1024);
    let text = is_small.and_then(|_| fs::read_to_string(path).ok())?;
    let is_shell = text.starts_with("#!") || path.extension().is_some_and(|ending| ending == "sh");
    is_shell.then_some(text)
}

/// Words that precede a command.
const STARTERS: [&str; 7] = ["exec", "nohup", "setsid", "env", "time", "command", "then"];

/// Splits a shell script into its commands, without redirections and assignments.
fn simple_commands(text: &str) -> Vec<Vec<String>> {
    let parts = text.split(['\n', ';', '|', '&', '(', ')', '{', '}']);
    let commands = parts.filter_map(|part| {
        let plain = part.split(['<', '>']).next().unwrap_or_default();
        let words = shell_words::split(plain).ok()?;
        let is_before = |word: &String| STARTERS.contains(&word.as_str()) || is_assignment(word);
        let command: Vec<String> = words.into_iter().skip_while(is_before).collect();
        (command.len() >= 2).then_some(command)
    });
    commands.collect()
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Returns whether program and arguments match. A script also matches if an interpreter runs
/// it.
fn is_same(command: &[String], argv: &[String]) -> bool {
    let (Some((program, args)), Some((running, with))) =
        (command.split_first(), argv.split_first())
    else {
        return false;
    };
    let is_it = is_same_program(program, running) && are_same(args, with);
    is_it || (program.contains('/') && are_same(command, with))
}

/// Programs whose name may end in a version.
const VERSIONED: [&str; 6] = ["python", "node", "ruby", "perl", "php", "lua"];

/// Compares names of programs: `python3` may be `/usr/bin/python3.11`.
fn is_same_program(program: &str, running: &str) -> bool {
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let (program, running) = (name(program), name(running));
    let bare = |name: &str| {
        let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        VERSIONED.iter().find(|known| **known == bare).copied()
    };
    let is_versioned = bare(&program).is_some() && bare(&program) == bare(&running);
    !program.is_empty() && (program == running || is_versioned)
}

/// Compares words; a variable matches any word, but at least one word must match literally.
fn are_same(words: &[String], with: &[String]) -> bool {
    let is_variable = |word: &str| word.starts_with('$');
    let same = words
        .iter()
        .zip(with)
        .all(|(word, arg)| is_variable(word) || word == arg);
    same && words.len() == with.len() && words.iter().any(|word| !is_variable(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(text: &str, argv: &[&str]) -> bool {
        let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
        simple_commands(text)
            .iter()
            .any(|command| is_same(command, &argv))
    }

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

    #[test]
    fn a_command_line_matches_by_program_and_arguments() {
        assert!(same(
            "python3 -m http.server 8000 &",
            &["/usr/bin/python3.11", "-m", "http.server", "8000"]
        ));
        assert!(same(
            "PORT=1 exec node srv.js >log 2>&1",
            &["node", "srv.js"]
        ));
        assert!(same(
            "python3 srv.py \"$PORT\" & echo $! > pid",
            &["python3", "srv.py", "8000"]
        ));
        assert!(same("./serve.sh 80", &["/bin/sh", "./serve.sh", "80"]));
        assert!(!same("bash svc.sh", &["sleep", "300"]));
        assert!(!same("python3 srv.py 8000", &["python3", "srv.py", "8001"]));
        assert!(!same("python3 srv.py", &["python3", "-c", "srv.py"]));
        assert!(!same("$CMD $ARG", &["sleep", "300"]));
        assert!(!same("sleep", &["sleep"]));
        assert!(!same("./server1 a", &["./server2", "a"]));
    }
}
