//! `regreen history`: forgets, exports and imports what was learnt from failures.

use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use regreen_history::{ExportError, Fed, ForgetScope, ImportError};
use regreen_workspace::{RealDisk, read_text, workspace_root};

use crate::arguments::{ExportHistory, ForgetHistory, HistoryCommand, ImportHistory};
use crate::commands::lint::counted;
use crate::config::{Configuration, SettingFlags, StoredLimits, usual_user_file};
use crate::exit::Exit;
use crate::learned::{now_ms, open_history, open_history_to_change, retention, workspace};
use crate::output;
use crate::problem::Problem;
use crate::spec_context::current_dir;

pub fn run(command: &HistoryCommand) -> Result<Exit, Problem> {
    match command {
        HistoryCommand::Forget(arguments) => forget(arguments),
        HistoryCommand::Export(arguments) => export(arguments),
        HistoryCommand::Import(arguments) => import(arguments),
    }
}

fn forget(arguments: &ForgetHistory) -> Result<Exit, Problem> {
    let root = workspace_root(&RealDisk, &current_dir()?);
    let scope = if arguments.all {
        ForgetScope::All
    } else {
        ForgetScope::Workspace(workspace(&root))
    };
    let forgotten = open_history_to_change()?.forget(&scope, now_ms())?;
    let of = if arguments.all {
        "all workspaces".to_owned()
    } else {
        output::path_from_home(&root)
    };
    output::print_text(&format!("forgot {} of {of}\n", runs(forgotten)))?;
    Ok(Exit::Success)
}

fn export(arguments: &ExportHistory) -> Result<Exit, Problem> {
    let count = match &arguments.file {
        Some(file) => write_to_file(file)?,
        None => write_to(&mut BufWriter::new(io::stdout().lock()), Path::new("-"))?,
    };
    output::note(&format!("exported {}", runs(count)));
    Ok(Exit::Success)
}

fn write_to_file(path: &Path) -> Result<usize, Problem> {
    let mut options = OpenOptions::new();
    let opened = options.write(true).create_new(true).mode(0o600).open(path);
    let file = opened.map_err(|source| Problem::Export {
        path: path.to_owned(),
        source,
    })?;
    write_to(&mut BufWriter::new(file), path)
}

fn write_to(out: &mut impl Write, path: &Path) -> Result<usize, Problem> {
    let Some(history) = open_history()? else {
        return Ok(0);
    };
    let failed = |source| Problem::Export {
        path: path.to_owned(),
        source,
    };
    let count = history.export(out).map_err(|error| match error {
        ExportError::Write(source) => failed(source),
        ExportError::History(error) => error.into(),
    })?;
    out.flush().map_err(failed)?;
    Ok(count)
}

fn import(arguments: &ImportHistory) -> Result<Exit, Problem> {
    let fed = if arguments.file == Path::new("-") {
        read_from(io::stdin().lock(), &arguments.file)?
    } else {
        let text = read_text(&RealDisk, &arguments.file)?.text;
        read_from(BufReader::new(text.as_bytes()), &arguments.file)?
    };
    output::print_text(&format!(
        "imported {} with {}\n",
        runs(fed.runs),
        counted(fed.failures, "failure")
    ))?;
    Ok(Exit::Success)
}

fn read_from(from: impl BufRead, file: &Path) -> Result<Fed, Problem> {
    let here = current_dir()?;
    let root = workspace_root(&RealDisk, &here);
    let configuration = Configuration::load(usual_user_file(), &root, &here)?;
    let settings = configuration.resolve(&SettingFlags::default(), &StoredLimits::default());
    let imported = open_history_to_change()?.import(from, &retention(&settings), now_ms());
    imported.map_err(|source: ImportError| Problem::Import {
        file: file.to_owned(),
        source,
    })
}

fn runs(count: usize) -> String {
    counted(count, "run")
}
