//! `regreen explain`: why something failed, from what it printed.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use regreen_diagnosis::{Explanation, Report, Scanner, evidence_of, signal_number};
use regreen_model::{Ending, Source};
use regreen_workspace::ReadError;

use crate::arguments::{Explain, ExplainSource};
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;

pub fn run(arguments: Explain) -> Result<Exit, Problem> {
    let ending = ending(&arguments)?;
    let input = open(&arguments.file).map_err(|error| unreadable(&arguments.file, error))?;
    let text = if arguments.report {
        report(input, &arguments.file)?
    } else {
        explained(input, arguments, ending)?
    };
    output::print(&text)?;
    Ok(Exit::AllGreen)
}

fn ending(arguments: &Explain) -> Result<Ending, Problem> {
    let signal = match arguments.signal.as_deref() {
        None => None,
        Some(name) => Some(signal_number(name).ok_or_else(|| Problem::NoSuchSignal {
            name: name.to_owned(),
        })?),
    };
    Ok(Ending {
        exit_code: arguments.exit_code,
        signal,
        timed_out: arguments.timed_out,
        ..Ending::default()
    })
}

fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok(Box::new(file))
}

/// The answer for a log of any size: it is read once and not kept.
fn explained(mut input: impl Read, arguments: Explain, ending: Ending) -> Result<String, Problem> {
    let source = match arguments.source {
        ExplainSource::Agent => Source::Agent,
        ExplainSource::Command => Source::Command,
    };
    let mut scanner = Scanner::new(source);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => scanner.feed(buffer.get(..n).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(unreadable(&arguments.file, error)),
        }
    }
    let evidence = evidence_of(scanner.finish(), source, arguments.command, ending);
    let explanation = Explanation::of(&evidence);
    Ok(if arguments.json {
        format!("{:#}\n", explanation.to_json())
    } else {
        output::printable(&explanation.to_text())
    })
}

/// A report's text as the object it stands for.
fn report(mut input: impl Read, path: &Path) -> Result<String, Problem> {
    let mut bytes = Vec::new();
    let read = input.read_to_end(&mut bytes);
    read.map_err(|error| unreadable(path, error))?;
    let text = String::from_utf8_lossy(&bytes);
    let report = Report::parse(&text).map_err(|error| Problem::NoReport {
        why: error.to_string(),
    })?;
    let failure = serde_json::to_value(report.into_failure()).unwrap_or_default();
    Ok(format!("{failure:#}\n"))
}

fn unreadable(path: &Path, source: io::Error) -> Problem {
    let path: PathBuf = path.to_owned();
    Problem::Read(match source.kind() {
        io::ErrorKind::NotFound => ReadError::NotFound { path },
        io::ErrorKind::IsADirectory => ReadError::IsDirectory { path },
        io::ErrorKind::PermissionDenied => ReadError::PermissionDenied { path },
        _ => ReadError::Io { path, source },
    })
}
