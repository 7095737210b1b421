//! How often a program asks the disk to keep something, as strace counts it.

use std::io;
use std::process::Command;

use super::{Doing as _, LoopError, finish};

/// Whatever makes data durable.
const CALLS: &str = "fsync,fdatasync,sync_file_range,msync,sync,syncfs";

/// `None` where strace is not installed.
pub(super) fn count(command: &Command) -> Result<Option<usize>, LoopError> {
    let folder = tempfile::tempdir().doing("make a folder")?;
    let trace = folder.path().join("trace");
    let mut traced = Command::new("strace");
    traced
        .args(["--follow-forks", "--quiet=all", "--signal=none"])
        .arg(format!("--trace={CALLS}"))
        .arg("--output")
        .arg(&trace)
        .arg(command.get_program())
        .args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        traced.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => traced.env(name, value),
            None => traced.env_remove(name),
        };
    }
    match finish(&mut traced) {
        Err(LoopError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        finished => {
            finished?;
            let trace = std::fs::read_to_string(trace).doing("read what strace saw")?;
            // A call that another process interrupts has a second line, without the bracket.
            let calls = trace.lines().filter(|line| !line.contains(" resumed>"));
            Ok(Some(calls.count()))
        }
    }
}
