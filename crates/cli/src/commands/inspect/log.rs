//! `regreen log`: what an attempt printed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use regreen_redaction::Masks;
use regreen_workspace::{ReadError, open_file};

use crate::arguments::Log;
use crate::exit::Exit;
use crate::history::TaskHistory;
use crate::output;
use crate::printing::Printing;
use crate::problem::Problem;

pub fn run(arguments: &Log) -> Result<Exit, Problem> {
    let history = TaskHistory::open(&arguments.attempt.which)?;
    let key = &history.attempt(&arguments.attempt)?.key;
    let places = &history.context.places;
    let log = places.log(key.run.as_str(), &key.task, key.number);
    let logs = match arguments.verify {
        false => vec![log],
        true => verify_logs(&log),
    };
    if logs.is_empty() {
        let number = key.number;
        output::note(&format!("nothing was verified after attempt {number}"));
    }
    for log in logs {
        show(&log, key.number)?;
    }
    Ok(Exit::Success)
}

/// What checks of an attempt printed: `2.verify.log`, `2.verify-2.log` for the second look.
fn verify_logs(log: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(stem)) = (log.parent(), log.file_stem()) else {
        return Vec::new();
    };
    let beginning = format!("{}.verify", stem.to_string_lossy());
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_one = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(&beginning)
    };
    let mut logs: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_one).collect();
    // `2.verify.log` comes before `2.verify-2.log`.
    logs.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    logs
}

/// It was masked before it was stored.
fn show(path: &Path, number: u32) -> Result<(), Problem> {
    let cannot = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => Problem::NoLog {
            number,
            path: path.to_owned(),
        },
        io::ErrorKind::PermissionDenied => Problem::Read(ReadError::PermissionDenied {
            path: path.to_owned(),
        }),
        _ => Problem::Read(ReadError::Io {
            path: path.to_owned(),
            source,
        }),
    };
    let mut file = open_file(path).map_err(cannot)?;
    let mut printing = Printing::new(&Masks::built_in());
    printing.take_all(&mut file).map_err(cannot)?;
    printing.finish()
}
