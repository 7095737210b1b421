use std::path::Path;
use std::time::Duration;

use regreen_model::PlainLine;
use regreen_redaction::Masks;
use regreen_supervisor::{Chunk, Keepers, Marker, ProcessSpec, Stdin, Stream, TimeLimits};

use super::base;
use crate::problem::Problem;

const LONGEST: Duration = Duration::from_secs(30);
const GRACE: Duration = Duration::from_secs(1);
const MOST_BYTES: usize = 1024;
const SHOWN_CHARS: usize = 60;

/// What a program says of its version. It runs under a keeper as in a run, so nothing of it is
/// left behind.
pub(super) fn of(program: &Path, root: &Path) -> Result<String, Problem> {
    let keeper = std::env::current_exe().map_err(Problem::OwnProgram)?;
    let spec = ProcessSpec {
        argv: vec![program.into(), "--version".into()],
        cwd: root.to_owned(),
        env: Vec::new(),
        stdin: Stdin::Empty,
        limits: TimeLimits {
            hard: LONGEST,
            idle: None,
            grace: GRACE,
        },
        marker: Marker::new("version"),
        masks: Some(Masks::built_in()),
    };
    let mut printed = Vec::new();
    let mut keep = |chunk: Chunk<'_>| {
        if chunk.stream == Stream::Stdout && printed.len() < MOST_BYTES {
            printed.extend_from_slice(chunk.bytes);
        }
    };
    let ended = match Keepers::new(keeper).spawn(spec) {
        Ok(running) => running.wait(&mut keep).ok(),
        Err(_) => None,
    };
    let text = String::from_utf8_lossy(&printed);
    let version = PlainLine::first_of(&text, SHOWN_CHARS);
    let answered = ended.is_some_and(|ended| ended.exit.success()) && !version.is_empty();
    Ok(match answered {
        true => version.to_string(),
        false => format!("does not tell its version ({:?} --version)", base(program)),
    })
}
