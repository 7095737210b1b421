//! `regreen log`: prints the output of an attempt.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use regreen_overview::{Change, ChangeFeed};
use regreen_redaction::Masks;
use regreen_runtime::{JournalError, SpecPaths, TreeLock, open_store_read_only};
use regreen_store::AttemptKey;
use regreen_workspace::{ReadError, open_file};

use crate::arguments::{Log, OneAttempt};
use crate::exit::Exit;
use crate::history::TaskHistory;
use crate::output;
use crate::printing::Printing;
use crate::problem::Problem;

pub fn run(arguments: &Log) -> Result<Exit, Problem> {
    let asked = OneAttempt {
        which: arguments.which.or_current()?,
        attempt: arguments.attempt,
        run: arguments.run.clone(),
    };
    let history = TaskHistory::open(&asked.which)?;
    let key = &history.attempt(&asked)?.key;
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
        let follow = arguments.follow.then_some(Following { places, key });
        show(&log, key.number, follow)?;
    }
    Ok(Exit::Success)
}

/// Returns the logs of an attempt's checks: `2.verify.log`, and `2.verify-2.log` for the second
/// run.
pub fn verify_logs(log: &Path) -> Vec<PathBuf> {
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

/// Prints a log, which was masked when it was written.
fn show(path: &Path, number: u32, follow: Option<Following<'_>>) -> Result<(), Problem> {
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
    if let Some(following) = follow {
        following.follow(path, &mut file, &mut printing)?;
    }
    printing.finish()
}

/// Follows the output of an attempt until it has ended.
struct Following<'a> {
    places: &'a SpecPaths,
    key: &'a AttemptKey,
}

impl Following<'_> {
    fn follow(&self, path: &Path, file: &mut File, printing: &mut Printing) -> Result<(), Problem> {
        let mut feed = ChangeFeed::new(&self.places.own()).map_err(Problem::Watch)?;
        if let Some(folder) = path.parent() {
            feed.watch_folder(folder).map_err(Problem::Watch)?;
        }
        let holder = TreeLock::holder(&self.places.root);
        let pid = holder
            .filter(|holder| holder.runs(self.places))
            .and_then(|holder| holder.pid);
        let mut is_active = pid.is_some_and(|pid| feed.watch_process(pid));
        loop {
            let has_ended = !is_active || self.has_ended()?;
            printing.take_all(file).map_err(Problem::Watch)?;
            if has_ended {
                return Ok(());
            }
            is_active = feed.wait(None, &[]).map_err(Problem::Watch)? != Change::ProcessEnded;
        }
    }

    fn has_ended(&self) -> Result<bool, Problem> {
        let Some(store) = open_store_read_only(&self.places.root)? else {
            return Ok(true);
        };
        let attempts = store
            .attempts_in_run(&self.key.run)
            .map_err(JournalError::from);
        let attempts = attempts.map_err(Problem::from_journal)?;
        let ours = attempts.iter().find(|attempt| attempt.key == *self.key);
        Ok(ours.is_none_or(|attempt| attempt.ended_ms.is_some()))
    }
}
