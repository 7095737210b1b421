//! Keeps the machine awake while agents work, if the user wants that and the system can.
//!
//! `systemd-inhibit` holds the lock for as long as the program that it starts runs. Both run under a keeper, so they
//! end with regreen, even if it is killed.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use regreen_engine::Command;
use regreen_supervisor::{
    Chunk, EndReason, Exit, Handle, Observer, ProcessSpec, Stdin, TimeLimits,
};

use crate::process::{GRACE, Processes};
use crate::services::FOR_EVER;

/// The program and its arguments. It is looked up in the user's own `PATH`.
const ARGV: [&str; 7] = [
    "systemd-inhibit",
    "--what=idle:sleep",
    "--who=regreen",
    "--why=an agent is at work",
    "--mode=block",
    "sleep",
    "infinity",
];
/// More of what it says isn't kept.
const MOST_BYTES: usize = 1024;

/// Holds the lock while agents and checks run.
#[derive(Debug, Default)]
pub(crate) struct Inhibitor {
    is_wanted: bool,
    held: Option<Held>,
}

#[derive(Debug)]
struct Held {
    handle: Handle,
    end: Arc<Mutex<Ended>>,
}

/// What is known of the program.
#[derive(Debug, Default)]
struct Ended {
    exit: Option<Exit>,
    said: Vec<u8>,
}

struct Listener(Arc<Mutex<Ended>>);

impl Inhibitor {
    pub(crate) fn new(is_wanted: bool) -> Self {
        Self {
            is_wanted,
            held: None,
        }
    }

    /// Takes the lock before foreign code runs, and releases it before a wait. Returns a notice if that is impossible.
    pub(crate) fn prepare(&mut self, processes: &Processes, command: &Command) -> Option<String> {
        let waits = matches!(
            command,
            Command::Wait { .. } | Command::AskPerson(_) | Command::AwaitAnswers { .. }
        );
        if waits {
            self.held = None;
        }
        if !self.is_wanted || !command.runs_foreign_code() {
            return None;
        }
        let problem = match &self.held {
            Some(held) => held.problem(),
            None => self.take(processes).err(),
        };
        problem.map(|why| {
            // It wouldn't work the next time either.
            *self = Self::default();
            format!("the machine may fall asleep: {why}")
        })
    }

    fn take(&mut self, processes: &Processes) -> Result<(), String> {
        let spec = ProcessSpec {
            argv: ARGV.map(Into::into).to_vec(),
            // Nothing of the workspace is run, whatever PATH says.
            cwd: PathBuf::from("/"),
            env: Vec::new(),
            stdin: Stdin::Empty,
            limits: TimeLimits {
                hard: FOR_EVER,
                idle: None,
                grace: GRACE,
            },
            marker: processes.marker("inhibit"),
            masks: None,
            last_copy: None,
        };
        let running = processes.keepers.spawn(spec);
        let running = running.map_err(|error| error.to_string())?;
        let (handle, end) = (running.handle(), Arc::default());
        let mut listener = Listener(Arc::clone(&end));
        let watch = move || {
            let end = running.wait(&mut listener);
            listener.exited(end.map_or(Exit::Unknown, |end| end.exit));
        };
        thread::Builder::new()
            .name("inhibit".into())
            .spawn(watch)
            .map_err(|error| error.to_string())?;
        self.held = Some(Held { handle, end });
        Ok(())
    }
}

impl Held {
    /// Returns why the lock isn't held, if it isn't.
    fn problem(&self) -> Option<String> {
        let end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let exit = end.exit?;
        if exit.is_not_found() {
            return Some(
                "there is no systemd-inhibit (see `inhibit` in `regreen config`)".to_owned(),
            );
        }
        let said = String::from_utf8_lossy(&end.said);
        let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
        Some(match last {
            Some(line) => format!("systemd-inhibit: {line}"),
            None => format!("systemd-inhibit ended with exit code {}", exit.shell_code()),
        })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.handle.end(EndReason::Cancelled);
    }
}

impl Observer for Listener {
    fn output(&mut self, chunk: Chunk<'_>) {
        let mut end = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MOST_BYTES.saturating_sub(end.said.len());
        let kept = chunk.bytes.get(..room.min(chunk.bytes.len()));
        end.said.extend_from_slice(kept.unwrap_or_default());
    }

    fn exited(&mut self, exit: Exit) {
        let mut end = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        end.exit.get_or_insert(exit);
    }
}
