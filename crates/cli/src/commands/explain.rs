//! `regreen explain`: says why something failed, from what it printed.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read};
use std::path::Path;

use regreen_diagnosis::{Explanation, Report, Scanner, evidence_of, signal_number};
use regreen_engine::recovery::{FailureClass, RecoveryRule, TABLE, table_text};
use regreen_model::{Ending, Failure, Finding, RetryMode, Source, visible_line};
use regreen_redaction::Masks;
use regreen_reporters::{Status, StatusLine, place_of};
use regreen_workspace::{MAX_FILE, ReadError, open_file};
use serde_json::{Value, json};

use crate::arguments::{Explain, ExplainSource};
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;

const LINE_CHARS: usize = 500;

pub fn run(arguments: Explain) -> Result<Exit, Problem> {
    let ending = ending(&arguments)?;
    if arguments.plan && arguments.file.is_none() && io::stdin().is_terminal() {
        output::print(&whole_table(arguments.json))?;
        return Ok(Exit::Success);
    }
    let file = arguments.file.clone().unwrap_or_else(|| "-".into());
    let input = open(&file).map_err(|error| unreadable(&file, error))?;
    // The output may contain secrets.
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
    // A shell's `<(command)` is a pipe with a writer, by this name.
    if path.starts_with("/dev/fd") || path == Path::new("/dev/stdin") {
        return Ok(Box::new(File::open(path)?));
    }
    Ok(Box::new(open_file(path)?))
}

/// Returns the answer for a log of any size, which is read once and not kept.
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
    let plan = plan.map(|failure| rules_for(failure, source));
    Ok(if arguments.json {
        let mut answer = explanation.to_json();
        if arguments.plan {
            answer["plan"] = plan.map_or(Value::Null, |rules| rules_json(&rules));
        }
        format!("{:#}\n", masked(answer, masks))
    } else if arguments.report_text {
        output::printable(&masks.mask(&explanation.report_text()))
    } else {
        let lines = answer_lines(&explanation, plan.as_deref());
        let style = output::line_style();
        let text: String = lines.iter().map(|line| line.render(style)).collect();
        masks.mask(&text)
    })
}

/// Returns the answer first, then what to do, then the evidence.
fn answer_lines(explanation: &Explanation, plan: Option<&[RecoveryRule]>) -> Vec<StatusLine> {
    let Some(failure) = &explanation.failure else {
        return vec![StatusLine::new(Status::Pass, "It did not fail.")];
    };
    let mut lines = vec![failure_line(failure, explanation.quoted())];
    lines.extend(labelled_list("Next", &failure.advice()));
    let retry = match failure.retry_mode {
        RetryMode::AsIs => "may succeed as it is",
        RetryMode::AfterRepair => "after a repair of the environment",
        RetryMode::AfterFix => "after a change to the code",
        RetryMode::AfterHuman => "after a decision or information from you",
        RetryMode::Never => "cannot succeed",
    };
    lines.push(StatusLine::labelled("Retry", retry));
    let repair = failure.repair.as_ref().map(ToString::to_string);
    lines.extend(repair.map(|repair| StatusLine::labelled("Repair", shown(&repair))));
    for rule in plan.unwrap_or_default() {
        let text = rule.text();
        let mut rows = text.lines().map(|row| shown(row.trim()));
        let line = StatusLine::labelled("Plan", rows.next().unwrap_or_default());
        lines.push(rows.fold(line, StatusLine::wrapped_detail));
    }
    lines.extend(explanation.quoted().map(context));
    let Failure {
        rule,
        kind,
        confidence,
        ..
    } = failure;
    let evidence = format!("{rule} · {kind} · {confidence} sure");
    lines.push(StatusLine::labelled("Rule", evidence));
    lines
}

fn failure_line(failure: &Failure, quoted: Option<&Finding>) -> StatusLine {
    let around = quoted.map(|finding| {
        let lines = finding
            .before
            .iter()
            .chain([&finding.text])
            .chain(&finding.after);
        lines.cloned().collect::<Vec<_>>().join("\n")
    });
    let line = failure.blocked_on.as_deref().unwrap_or_default();
    let place = place_of(&around.unwrap_or_default(), line);
    let kind = failure.kind.words().to_owned();
    let kind = place.map_or(kind.clone(), |place| format!("{kind} · {place}"));
    let line = match failure.blocked_on {
        Some(_) => line,
        None => &failure.message,
    };
    StatusLine::new(Status::Fail, shown(&kind)).wrapped_detail(shown(line))
}

fn labelled_list(label: &'static str, items: &[&str]) -> Vec<StatusLine> {
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    let lines = labels.zip(items);
    lines
        .map(|(label, item)| StatusLine::labelled(label, shown(item)).wrapped())
        .collect()
}

/// Returns the lines around the quoted one.
fn context(finding: &Finding) -> StatusLine {
    let line = StatusLine::labelled("Where", format!("line {} of the log", finding.line));
    let before = finding.before.iter().map(|text| ("  ", text));
    let after = finding.after.iter().map(|text| ("  ", text));
    let lines = before.chain([("> ", &finding.text)]).chain(after);
    lines.fold(line, |line, (mark, text)| {
        line.detail(format!("{mark}{}", shown(text)))
    })
}

fn shown(text: &str) -> String {
    visible_line(text, LINE_CHARS)
}

/// Masks every text of a JSON value by itself, so that it stays JSON.
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

/// Returns what a run would do: two rules where only an inspection of the workspace can tell
/// whether a repair is allowed.
fn rules_for(failure: &Failure, source: Source) -> Vec<RecoveryRule> {
    let classes = match FailureClass::of_kind(failure.kind) {
        FailureClass::PassingTrouble if source == Source::Agent => vec![FailureClass::Transient],
        FailureClass::Other if failure.repair.is_some() => {
            vec![FailureClass::Repairable, FailureClass::Other]
        }
        class => vec![class],
    };
    classes.into_iter().map(RecoveryRule::of).collect()
}

fn rules_json(rules: &[RecoveryRule]) -> Value {
    Value::from_iter(rules.iter().map(rule_json))
}

fn rule_json(rule: &RecoveryRule) -> Value {
    json!({
        "class": rule.class,
        "charged_to": rule.charge.words(),
        "does": rule.words(),
    })
}

fn whole_table(as_json: bool) -> String {
    if as_json {
        format!("{:#}\n", Value::from_iter(TABLE.iter().map(rule_json)))
    } else {
        table_text()
    }
}

/// Converts the text of a report to JSON.
fn report(mut input: impl Read, path: &Path, masks: &Masks) -> Result<String, Problem> {
    let mut bytes = Vec::new();
    let read = input.by_ref().take(MAX_FILE).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(path, error))?;
    let text = String::from_utf8_lossy(&bytes);
    let report = Report::parse(&text).map_err(|error| Problem::NoReport {
        why: error.to_string(),
    })?;
    let failure = serde_json::to_value(report.into_failure()).unwrap_or_default();
    Ok(format!("{:#}\n", masked(failure, masks)))
}

fn unreadable(path: &Path, source: io::Error) -> Problem {
    Problem::Read(ReadError::new(path, source))
}
