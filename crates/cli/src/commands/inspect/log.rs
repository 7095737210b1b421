//! `regreen log`: what an attempt printed.

use std::fs::{self, File};
use std::io::{self, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use super::task_id;
use crate::arguments::Log;
use crate::exit::Exit;
use crate::history::History;
use crate::output;
use crate::problem::Problem;
use crate::workplace::Workplace;

pub fn run(arguments: &Log) -> Result<Exit, Problem> {
    let workplace = Workplace::find(arguments.which.spec.as_deref())?;
    let places = &workplace.places;
    let task = task_id(&arguments.which.task)?;
    let attempt = History::open(places)?.attempt(&task, arguments.which.attempt)?;
    let log = places.log(
        attempt.key.run.as_str(),
        &attempt.key.task,
        attempt.key.number,
    );
    let logs = match arguments.verify {
        false => vec![log],
        true => verify_logs(&log),
    };
    if logs.is_empty() {
        output::note(&format!(
            "nothing was verified after attempt {}",
            attempt.key.number
        ));
    }
    for log in logs {
        show(&log)?;
    }
    Ok(Exit::AllGreen)
}

/// What checks of an attempt printed: `2.verify.log`, `2.verify-2.log` for the second look.
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

/// As it was printed; on a terminal without what would command it.
fn show(path: &Path) -> Result<(), Problem> {
    let cannot = |source| {
        Problem::Read(regreen_workspace::ReadError::Io {
            path: path.to_owned(),
            source,
        })
    };
    let mut file = File::open(path).map_err(cannot)?;
    if !io::stdout().is_terminal() {
        return output::copy(&mut file);
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(cannot)?;
    output::print(&output::printable(&String::from_utf8_lossy(&bytes)))
}
