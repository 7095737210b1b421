//! The processes of one run: those with its mark in their environment or arguments.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// A folder whose path is the mark, and where the scripts write notes.
#[derive(Debug)]
pub(crate) struct Notes(PathBuf);

/// A unique process: a reused process id has another start time.
pub(crate) type Process = (i32, String);

impl Notes {
    pub(crate) const VARIABLE: &str = "NOTES";

    pub(crate) fn new(folder: PathBuf) -> Self {
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the notes of the scripts so far.
    pub(crate) fn happened(&self) -> String {
        fs::read_to_string(self.0.join("happened")).unwrap_or_default()
    }

    /// Returns how often a script has written this note.
    pub(crate) fn count(&self, word: &str) -> usize {
        let happened = self.happened();
        let first_words = happened.lines().filter_map(|line| line.split(' ').next());
        first_words.filter(|first| *first == word).count()
    }

    pub(crate) fn alive(&self) -> BTreeSet<Process> {
        let entries = fs::read_dir("/proc").unwrap();
        let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        numbers.filter_map(|pid| self.process(pid)).collect()
    }

    fn process(&self, pid: i32) -> Option<Process> {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        let mark = self.0.as_os_str().as_encoded_bytes();
        let has_mark = |file: &str| {
            let bytes = fs::read(folder.join(file)).unwrap_or_default();
            bytes.windows(mark.len()).any(|window| window == mark)
        };
        let is_ours = has_mark("environ") || has_mark("cmdline");
        is_ours.then(|| Some((pid, start_of(pid)?))).flatten()
    }
}

/// Returns when a process started; `None` if it is gone or a zombie.
fn start_of(pid: i32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    let is_dead = matches!(*fields.first()?, "Z" | "X" | "x");
    (!is_dead).then_some(fields.get(19)?.to_string())
}

/// Waits until these processes are gone. Returns how long that took, or which are left.
pub(crate) fn wait_until_gone(
    mut who: impl FnMut() -> BTreeSet<Process>,
    since: Instant,
    limit: Duration,
) -> Result<Duration, BTreeSet<Process>> {
    loop {
        let left = who();
        let waited = since.elapsed();
        if left.is_empty() {
            return Ok(waited);
        }
        if waited > limit {
            return Err(left);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Returns those that are still the same process.
pub(crate) fn still_alive(processes: &BTreeSet<Process>) -> BTreeSet<Process> {
    let same = |process: &&Process| start_of(process.0).as_ref() == Some(&process.1);
    processes.iter().filter(same).cloned().collect()
}

/// Describes a process that should be gone, to help find out why it isn't.
pub(crate) fn described((pid, _): &Process) -> String {
    let read = |file: &str| fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let command = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
    let stat = String::from_utf8_lossy(&read("stat")).into_owned();
    format!("{pid}: {command}({stat})")
}
