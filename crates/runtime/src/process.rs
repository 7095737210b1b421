//! Runs programs under keepers, with all their output masked.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use regreen_model::Ending;
use regreen_redaction::{Masks, env_secrets};
use regreen_supervisor::{
    Chunk, EndReason, Exit, Handle, Keepers, LastCopy, Marker, Observer, ProcessEnd, ProcessSpec,
    SpawnError, Stdin, Stream, TimeLimits,
};
use regreen_workspace::{HashLimits, HashSnapshot, read_text_file};

use crate::asleep::SleepLedger;
use crate::clock::millis;
use crate::stop::Stop;

/// The time between the request to end and the kill. Short, because nothing may outlive regreen for
/// long, and agents save their session as they go.
pub(crate) const GRACE: Duration = Duration::from_secs(1);

/// Runs programs in the workspace under keepers, with all their output masked.
#[derive(Clone, Debug)]
pub(crate) struct Processes {
    pub(crate) keepers: Keepers,
    pub(crate) root: PathBuf,
    pub(crate) masks: Masks,
    pub(crate) stop: Stop,
    pub(crate) asleep: SleepLedger,
    /// The prefix of all markers of this run.
    pub(crate) run: String,
    /// What shows who changed the plan, if regreen is killed.
    pub(crate) last_copy: Option<LastCopy>,
}

/// A program to run.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) argv: Vec<OsString>,
    pub(crate) env: Vec<(OsString, Option<OsString>)>,
    pub(crate) stdin: Stdin,
    pub(crate) timeout: Duration,
    pub(crate) idle: Option<Duration>,
    /// Identifies the program in its marker: `1.3:2`.
    pub(crate) purpose: String,
}

/// Returns variables to set in a program's environment.
pub(crate) fn set(environment: &[(String, String)]) -> Vec<(OsString, Option<OsString>)> {
    let set = environment.iter();
    set.map(|(name, value)| (name.into(), Some(value.into())))
        .collect()
}

/// Describes how a program ended, as evidence for the diagnosis.
pub(crate) fn ending_of(ended: &ProcessEnd, limit: Duration) -> Ending {
    let timed_out = matches!(ended.reason, EndReason::HardLimit | EndReason::IdleLimit);
    Ending {
        exit_code: match ended.exit {
            Exit::Exited(code) => Some(code),
            Exit::NotStarted { .. } => Some(ended.exit.shell_code()),
            Exit::Signalled(_) | Exit::Unknown => None,
        },
        signal: match ended.exit {
            Exit::Signalled(signal) => Some(signal),
            _ => None,
        },
        timed_out,
        limit_ms: timed_out.then(|| millis(limit)),
        duration_ms: millis(ended.duration),
    }
}

/// Receives the output of a program.
pub(crate) trait Sink {
    fn started(&mut self, _handle: &Handle) {}

    /// Reads output before it is masked. Must neither store nor show any of it.
    fn read_unmasked(&mut self, _stream: Stream, _bytes: &[u8]) {}

    /// Takes masked output. Returns whether it can take more; if not, the program is ended.
    fn take(&mut self, stream: Stream, bytes: &[u8]) -> bool;
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ProcessError {
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    #[error("cannot supervise a program")]
    Watch(#[from] io::Error),
}

impl Processes {
    /// Returns the marker that identifies a program in its environment.
    pub(crate) fn marker(&self, purpose: &str) -> Marker {
        Marker::new(&format!("{}:{purpose}", self.run))
    }

    /// Runs a program to its end. Nothing that it started is left running.
    pub(crate) fn run(&self, job: Job, sink: &mut dyn Sink) -> Result<ProcessEnd, ProcessError> {
        let spec = ProcessSpec {
            argv: job.argv,
            cwd: self.root.clone(),
            env: job.env,
            stdin: job.stdin,
            limits: TimeLimits {
                hard: job.timeout,
                idle: job.idle,
                grace: GRACE,
            },
            marker: self.marker(&job.purpose),
            masks: Some(self.masks.clone()),
            last_copy: self.last_copy.clone(),
        };
        let running = self.keepers.spawn(spec)?;
        let handle = running.handle();
        sink.started(&handle);
        let _attached = self.stop.attach(handle.clone());
        let mut watch = Watch {
            sink,
            handle,
            root: &self.root,
            files: job.idle.map(|_| stamps(&self.root, None)),
        };
        let ended = running.wait(&mut watch)?;
        self.asleep.note(ended.asleep);
        Ok(ended)
    }
}

struct Watch<'a> {
    sink: &'a mut dyn Sink,
    handle: Handle,
    root: &'a Path,
    files: Option<HashSnapshot>,
}

impl Observer for Watch<'_> {
    fn output(&mut self, chunk: Chunk<'_>) {
        if !self.sink.take(chunk.stream, chunk.bytes) {
            self.handle.end(EndReason::Cancelled);
        }
    }

    fn unmasked(&mut self, chunk: Chunk<'_>) {
        self.sink.read_unmasked(chunk.stream, chunk.bytes);
    }

    fn files_changed(&mut self) -> bool {
        let Some(before) = &self.files else {
            return false;
        };
        let now = stamps(self.root, Some(before));
        let changed = !before.changed_files(&now).is_empty();
        self.files = Some(now);
        changed
    }
}

/// Records the metadata of all files, without reading them.
fn stamps(root: &Path, previous: Option<&HashSnapshot>) -> HashSnapshot {
    let limits = HashLimits {
        max_file: 0,
        ..HashLimits::default()
    };
    HashSnapshot::take(root, previous, limits, SystemTime::now())
}

/// How much of each file is read.
const MAX_ENV: u64 = 1024 * 1024;
/// Files whose secrets are masked, and example files that show what is not a secret.
const ENV_FILES: [&str; 6] = [
    ".env",
    ".env.local",
    ".env.development",
    ".env.production",
    ".env.test",
    ".envrc",
];
const EXAMPLES: [&str; 5] = [
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
    "example.env",
];

/// Collects the secrets of a workspace and of regreen's environment, which must never be stored or
/// shown.
#[must_use]
pub fn workspace_masks(root: &Path, environment: &BTreeSet<String>) -> Masks {
    let read = |name: &&str| read_text_file(&root.join(name), MAX_ENV).ok();
    let example = EXAMPLES
        .iter()
        .filter_map(read)
        .collect::<Vec<_>>()
        .join("\n");
    let secrets: BTreeSet<String> = ENV_FILES
        .iter()
        .filter_map(read)
        .flat_map(|env| env_secrets(&env, &example))
        .collect();
    Masks::new(secrets.union(environment))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_secrets_of_the_workspace_are_masked_and_its_examples_are_not() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(root.path().join(name), text).unwrap();
        write(".env", "API_KEY=supersecret-9\nDB_PASSWORD=changeme123\n");
        write(".env.example", "DB_PASSWORD=changeme123\n");
        let environment = BTreeSet::from(["inherited-7".to_owned()]);
        let masks = workspace_masks(root.path(), &environment);
        let masked = masks.mask("supersecret-9 changeme123 inherited-7");
        assert!(!masked.contains("supersecret"), "{masked}");
        assert!(!masked.contains("inherited"), "{masked}");
        assert!(masked.contains("changeme123"), "{masked}");
    }
}
