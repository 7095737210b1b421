//! `regreen explain`: why something failed, from what it printed.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read};
use std::path::{Path, PathBuf};

use regreen_diagnosis::{Explanation, Report, Scanner, evidence_of, signal_number};
use regreen_engine::recovery::{FailureClass, RecoveryRule, TABLE, table_text};
use regreen_model::{Ending, Failure, Source};
use regreen_redaction::Masks;
use regreen_workspace::ReadError;
use serde_json::{Value, json};

use crate::arguments::{Explain, ExplainSource};
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;

pub fn run(arguments: Explain) -> Result<Exit, Problem> {
    let ending = ending(&arguments)?;
    if arguments.plan && arguments.file.is_none() && io::stdin().is_terminal() {
        output::print(&whole_table(arguments.json))?;
        return Ok(Exit::Success);
    }
    let file = arguments.file.clone().unwrap_or_else(|| "-".into());
    let input = open(&file).map_err(|error| unreadable(&file, error))?;
    // What failed may have printed secrets; only what is shown of it is looked at.
    let masks = Masks::built_in();
    let text = if arguments.report {
        report(input, &file, &masks)?
    } else {
        explained(input, &file, arguments, ending, &masks)?
    };
    output::print(&text)?;
    Ok(Exit::Success)
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
fn explained(
    mut input: impl Read,
    file: &Path,
    arguments: Explain,
    ending: Ending,
    masks: &Masks,
) -> Result<String, Problem> {
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
            Err(error) => return Err(unreadable(file, error)),
        }
    }
    let evidence = evidence_of(scanner.finish(), source, arguments.command, ending);
    let explanation = Explanation::of(&evidence);
    let failure = explanation.failure.as_ref();
    let plan = failure.filter(|_| arguments.plan);
    let plan = plan.map(|failure| rows_for(failure, source));
    Ok(if arguments.json {
        let mut answer = explanation.to_json();
        if arguments.plan {
            answer["plan"] = plan.map_or(Value::Null, |rows| rows_json(&rows));
        }
        format!("{:#}\n", masked(answer, masks))
    } else {
        let plan = plan.map(|rows| rows_text(&rows));
        let text = explanation.to_text() + &plan.unwrap_or_default();
        output::printable(&masks.mask(&text))
    })
}

/// JSON in which every text is masked by itself, so that it stays JSON.
fn masked(value: Value, masks: &Masks) -> Value {
    match value {
        Value::String(text) => Value::String(masks.mask(&text)),
        Value::Array(values) => values
            .into_iter()
            .map(|value| masked(value, masks))
            .collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| (masks.mask(&name), masked(value, masks)))
            .collect(),
        value => value,
    }
}

/// What a run would do. Whether a repair is allowed only a look at its workspace can tell: then
/// there are two rows.
fn rows_for(failure: &Failure, source: Source) -> Vec<RecoveryRule> {
    let classes = match FailureClass::of_kind(failure.kind) {
        FailureClass::PassingTrouble if source == Source::Agent => vec![FailureClass::Transient],
        FailureClass::Other if failure.repair.is_some() => {
            vec![FailureClass::Repairable, FailureClass::Other]
        }
        class => vec![class],
    };
    classes.into_iter().map(RecoveryRule::of).collect()
}

fn rows_text(rows: &[RecoveryRule]) -> String {
    let rows: Vec<String> = rows.iter().map(RecoveryRule::text).collect();
    format!("\nPlan: {}", rows.join("if it may not be repaired: "))
}

fn rows_json(rows: &[RecoveryRule]) -> Value {
    Value::from_iter(rows.iter().map(row_json))
}

fn row_json(row: &RecoveryRule) -> Value {
    json!({
        "class": row.class,
        "charged_to": row.charge.words(),
        "does": row.words(),
    })
}

fn whole_table(as_json: bool) -> String {
    match as_json {
        true => format!("{:#}\n", Value::from_iter(TABLE.iter().map(row_json))),
        false => table_text(),
    }
}

/// A report's text as the object it stands for.
fn report(mut input: impl Read, path: &Path, masks: &Masks) -> Result<String, Problem> {
    let mut bytes = Vec::new();
    let read = input.read_to_end(&mut bytes);
    read.map_err(|error| unreadable(path, error))?;
    let text = String::from_utf8_lossy(&bytes);
    let report = Report::parse(&text).map_err(|error| Problem::NoReport {
        why: error.to_string(),
    })?;
    let failure = serde_json::to_value(report.into_failure()).unwrap_or_default();
    Ok(format!("{:#}\n", masked(failure, masks)))
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
