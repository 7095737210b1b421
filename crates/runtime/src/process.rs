//! Programs under keepers, with all of their output masked.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use regreen_model::Ending;
use regreen_redaction::{Masks, env_secrets};
use regreen_supervisor::{
    Chunk, EndReason, Exit, Handle, Keepers, Marker, Observer, ProcessEnd, ProcessSpec, SpawnError,
    Stdin, Stream, TimeLimits,
};
use regreen_workspace::{HashLimits, HashSnapshot, read_text_file};

use crate::clock::millis;
use crate::stop::Stop;

/// Between being asked to end and being killed. Short, because nothing may outlive regreen for
/// long, and an agent has saved before what it must not lose.
const GRACE: Duration = Duration::from_secs(1);

/// Runs programs under keepers in the workspace, with all of their output masked.
#[derive(Clone, Debug)]
pub(crate) struct Processes {
    pub(crate) keepers: Keepers,
    pub(crate) root: PathBuf,
    pub(crate) masks: Masks,
    pub(crate) stop: Stop,
    /// The beginning of all markers of this run.
    pub(crate) run: String,
}

/// A program to run.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) argv: Vec<OsString>,
    pub(crate) env: Vec<(OsString, Option<OsString>)>,
    pub(crate) stdin: Stdin,
    pub(crate) timeout: Duration,
    pub(crate) idle: Option<Duration>,
    /// Names it in the marker: `1.3:2`.
    pub(crate) purpose: String,
}

/// Variables to set in a program's environment.
pub(crate) fn set(environment: &[(String, String)]) -> Vec<(OsString, Option<OsString>)> {
    let set = environment.iter();
    set.map(|(name, value)| (name.into(), Some(value.into())))
        .collect()
}

/// Says how a program ended, in the words of the diagnosis.
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

/// Takes what a program prints.
pub(crate) trait Sink {
    fn started(&mut self, _handle: &Handle) {}

    /// Reads what is printed before it is masked. Nothing of it may be stored or shown.
    fn read_unmasked(&mut self, _stream: Stream, _bytes: &[u8]) {}

    /// Returns whether more can be taken; if not, the program is ended.
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
    /// Names a program in its environment.
    pub(crate) fn marker(&self, purpose: &str) -> Marker {
        Marker::new(&format!("{}:{purpose}", self.run))
    }

    /// Runs a program to its end. Nothing that it started is left then.
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
        Ok(running.wait(&mut watch)?)
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

/// Takes the metadata of all files, without reading any.
fn stamps(root: &Path, previous: Option<&HashSnapshot>) -> HashSnapshot {
    let limits = HashLimits {
        max_file: 0,
        ..HashLimits::default()
    };
    HashSnapshot::take(root, previous, limits, SystemTime::now())
}

/// The most that is read of one of them.
const MAX_ENV: u64 = 1024 * 1024;
/// Files whose secrets are masked, and files that show what they look like.
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

/// Collects the secrets of a workspace and of regreen's environment, which must be neither stored
/// nor shown.
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
