//! Shared by all tests here: a spec for the test child, a run, and process checks.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use regreen_supervisor::{
    Chunk, Handle, Keepers, Marker, Observer, ProcessEnd, ProcessSpec, Running, Stdin, Stream,
    TimeLimits,
};
use tempfile::TempDir;

pub(crate) const SOON: Duration = Duration::from_secs(20);
/// Far longer than any test takes, even on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) fn testchild() -> PathBuf {
    env!("CARGO_BIN_EXE_regreen-testchild").into()
}

pub(crate) fn spec(words: &[&str]) -> ProcessSpec {
    let words = words.iter().map(OsString::from);
    ProcessSpec {
        argv: [testchild().into_os_string()]
            .into_iter()
            .chain(words)
            .collect(),
        cwd: "/".into(),
        env: Vec::new(),
        stdin: Stdin::Empty,
        limits: TimeLimits {
            hard: LONG,
            idle: None,
            grace: Duration::from_millis(300),
        },
        marker: Marker::new("test"),
        masks: None,
        last_copy: None,
    }
}

pub(crate) fn start(spec: ProcessSpec) -> Running {
    Keepers::new(testchild()).spawn(spec).unwrap()
}

/// The output of a child, and how it ended.
pub(crate) struct Run {
    pub(crate) ended: ProcessEnd,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn run(spec: ProcessSpec) -> Run {
    run_with(spec, |_, _| {})
}

/// Calls `react` with all of stdout so far, whenever it grows.
pub(crate) fn run_with(spec: ProcessSpec, react: impl FnMut(&Handle, &str)) -> Run {
    let running = start(spec);
    let mut recorder = Recorder {
        handle: running.handle(),
        stdout: Vec::new(),
        stderr: Vec::new(),
        react,
    };
    let ended = running.wait(&mut recorder).unwrap();
    Run {
        ended,
        stdout: String::from_utf8(recorder.stdout).unwrap(),
        stderr: String::from_utf8(recorder.stderr).unwrap(),
    }
}

struct Recorder<F> {
    handle: Handle,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    react: F,
}

impl<F: FnMut(&Handle, &str)> Observer for Recorder<F> {
    fn output(&mut self, chunk: Chunk<'_>) {
        match chunk.stream {
            Stream::Stderr => self.stderr.extend_from_slice(chunk.bytes),
            Stream::Stdout => {
                self.stdout.extend_from_slice(chunk.bytes);
                (self.react)(&self.handle, &String::from_utf8_lossy(&self.stdout));
            }
        }
    }
}

/// The folder where daemons leave their pids.
pub(crate) struct Nest(TempDir);

impl Nest {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self) -> &str {
        self.0.path().to_str().unwrap()
    }

    pub(crate) fn wait_until_full(&self) {
        assert!(eventually(|| self.pids().len() == 2), "no daemons");
    }

    pub(crate) fn alive(&self) -> Vec<i32> {
        self.pids()
            .into_iter()
            .filter(|&pid| is_alive(pid))
            .collect()
    }

    fn pids(&self) -> Vec<i32> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        entries
            .map(|entry| {
                entry
                    .unwrap()
                    .file_name()
                    .to_str()
                    .unwrap()
                    .parse()
                    .unwrap()
            })
            .collect()
    }

    /// Asserts that there were two daemons, and that both are gone soon.
    pub(crate) fn assert_deserted(&self) {
        assert_eq!(self.pids().len(), 2);
        let end = Instant::now() + SOON;
        while !self.alive().is_empty() {
            assert!(Instant::now() < end, "left behind: {:?}", self.alive());
            thread::sleep(Duration::from_millis(5));
        }
    }
}

pub(crate) fn is_alive(pid: i32) -> bool {
    fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap().starts_with(" Z"))
}

pub(crate) fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(20);
    while Instant::now() < end {
        if holds() {
            return true;
        }
        thread::sleep(Duration::from_millis(5));
    }
    false
}
