//! `regreen explain`: explains a failure from its output.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use regreen_diagnosis::{
    Baseline, Explanation, OwnRules, Report, Scanner, evidence_of, parse_failure, signal_number,
};
use regreen_engine::recovery::{FailureClass, RecoveryRule, TABLE, table_text};
use regreen_model::{Ending, Failure, Output, RetryMode, Source, visible_line};
use regreen_redaction::Masks;
use regreen_reporters::{LineStyle, Status, StatusLine};
use regreen_workspace::{MAX_FILE, ReadError, RealDisk, open_file, workspace_root};
use serde_json::{Value, json};

use crate::arguments::{Explain, ExplainSource};
use crate::config::{RecoveryTemplates, RuleFiles, WrittenTemplate, usual_user_file};
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use crate::spec_context::current_dir;

const LINE_CHARS: usize = 500;

pub fn run(arguments: Explain) -> Result<Exit, Problem> {
    let ending = ending(&arguments)?;
    if arguments.plan && arguments.file.is_none() && io::stdin().is_terminal() {
        output::print(&whole_table(arguments.json, &templates()?))?;
        return Ok(Exit::Success);
    }
    let file = arguments.file.clone().unwrap_or_else(|| "-".into());
    // The output may contain secrets.
    let masks = Masks::built_in();
    let text = if arguments.report {
        let input = open(&file).map_err(|error| unreadable(&file, error))?;
        report(input, &file, &masks)?
    } else if let Some(task) = arguments.task.as_ref() {
        let input = open(&file).map_err(|error| unreadable(&file, error))?;
        let failure = parse_failure(&whole(input, &file)?, task);
        let failure = serde_json::to_value(failure).unwrap_or_default();
        format!("{:#}\n", masked(failure, &masks))
    } else {
        explained(&file, arguments, ending, &masks)?
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
    // `<(command)` in a shell is a pipe with a writer, under this name.
    if path.starts_with("/dev/fd") || path == Path::new("/dev/stdin") {
        return Ok(Box::new(File::open(path)?));
    }
    Ok(Box::new(open_file(path)?))
}

/// What every line of a log is matched against.
pub(super) struct Checks {
    pub(super) own_rules: Arc<OwnRules>,
    pub(super) baseline: Option<Arc<Baseline>>,
}

/// Scans a log of any size, in one pass and without keeping it.
pub(super) fn scan_log(file: &Path, source: Source, checks: Checks) -> Result<Output, Problem> {
    let mut scanner = Scanner::new(source).with_own_rules(checks.own_rules);
    if let Some(baseline) = checks.baseline {
        scanner = scanner.with_baseline(baseline);
    }
    read_log(file, |bytes| scanner.feed(bytes))?;
    Ok(scanner.finish())
}

fn read_log(file: &Path, mut take: impl FnMut(&[u8])) -> Result<(), Problem> {
    let mut input = open(file).map_err(|error| unreadable(file, error))?;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match input.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n) => take(buffer.get(..n).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(unreadable(file, error)),
        }
    }
}

/// Reads the logs of green runs.
fn baseline(files: &[PathBuf]) -> Result<Option<Arc<Baseline>>, Problem> {
    if files.is_empty() {
        return Ok(None);
    }
    let mut baseline = Baseline::default();
    for file in files {
        read_log(file, |bytes| baseline.feed(bytes))?;
        baseline.end_log();
    }
    Ok(Some(Arc::new(baseline)))
}

/// Reads the recovery templates that a run here would follow.
fn templates() -> Result<RecoveryTemplates, Problem> {
    let here = current_dir()?;
    let root = workspace_root(&RealDisk, &here);
    RecoveryTemplates::load(usual_user_file().as_deref(), &root, &here)
}

/// Reads the user's own rules; reports files that cannot be used.
fn own_rules() -> Result<Arc<OwnRules>, Problem> {
    let here = current_dir()?;
    let root = workspace_root(&RealDisk, &here);
    let files = RuleFiles::load(usual_user_file().as_deref(), &root);
    files.note_broken(&here);
    Ok(Arc::new(files.rules))
}

/// Returns the explanation of a log.
fn explained(
    file: &Path,
    arguments: Explain,
    ending: Ending,
    masks: &Masks,
) -> Result<String, Problem> {
    let source = match arguments.source {
        ExplainSource::Agent => Source::Agent,
        ExplainSource::Command => Source::Command,
    };
    let own = own_rules()?;
    let checks = Checks {
        own_rules: own.clone(),
        baseline: baseline(&arguments.baseline)?,
    };
    let output = scan_log(file, source, checks)?;
    let evidence = evidence_of(output, source, arguments.command, ending);
    let explanation = Explanation::with_own_rules(&evidence, &own);
    let failure = explanation.failure.as_ref();
    let templates = arguments.plan.then(templates).transpose()?;
    let plan = failure
        .zip(templates.as_ref())
        .map(|(failure, templates)| RecoveryPlan::of(failure, source, templates));
    Ok(if arguments.json {
        let mut answer = explanation.to_json();
        if arguments.plan {
            answer["plan"] = plan.map_or(Value::Null, |plan| plan.to_json());
        }
        format!("{:#}\n", masked(answer, masks))
    } else if arguments.report_text {
        output::printable(&masks.mask(&explanation.report_text()))
    } else {
        let lines = answer_lines(&explanation, plan.as_ref());
        masks.mask(&rendered(&lines, output::line_style()))
    })
}

/// Returns the explanation as `regreen explain` prints it.
pub(super) fn answer_text(explanation: &Explanation, style: LineStyle) -> String {
    rendered(&answer_lines(explanation, None), style)
}

fn rendered(lines: &[StatusLine], style: LineStyle) -> String {
    lines.iter().map(|line| line.render(style)).collect()
}

/// Returns the answer first, then what to do, then the evidence.
fn answer_lines(explanation: &Explanation, plan: Option<&RecoveryPlan>) -> Vec<StatusLine> {
    let Some(failure) = &explanation.failure else {
        return vec![StatusLine::new(Status::Pass, "no failure found")];
    };
    let mut lines = vec![failure_line(failure, explanation)];
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
    for text in plan.map(RecoveryPlan::texts).unwrap_or_default() {
        let mut rows = text.lines().map(|row| shown(row.trim()));
        let line = StatusLine::labelled("Plan", rows.next().unwrap_or_default());
        lines.push(rows.fold(line, StatusLine::wrapped_detail));
    }
    lines.extend(others(explanation));
    let step = explanation.step();
    lines.extend(step.map(|step| StatusLine::labelled("Step", shown(step))));
    let command = explanation.command();
    lines.extend(command.map(|command| StatusLine::labelled("Command", shown(command))));
    lines.extend(context(explanation));
    let rule = explanation.named_by().unwrap_or(&failure.rule);
    let Failure {
        kind, confidence, ..
    } = failure;
    let evidence = format!("{rule} · {kind} · {confidence} sure");
    lines.push(StatusLine::labelled("Rule", evidence));
    lines
}

fn failure_line(failure: &Failure, explanation: &Explanation) -> StatusLine {
    let kind = failure.kind.words().to_owned();
    let kind = match explanation.place() {
        Some(place) => format!("{kind} · {place}"),
        None => kind,
    };
    let quoted = failure.blocked_on.as_deref().unwrap_or(&failure.message);
    let line = StatusLine::new(Status::Fail, shown(&kind)).wrapped_detail(shown(quoted));
    // One of the user's own rules explains the line.
    if explanation.named_by().is_some() && failure.message != quoted {
        return line.wrapped_detail(shown(&failure.message));
    }
    line
}

fn others(explanation: &Explanation) -> Option<StatusLine> {
    let text = match explanation.others() {
        0 => return None,
        1 => "1 other line of this sort".to_owned(),
        Explanation::MAX_OTHERS => format!(
            "{} or more other lines of this sort",
            Explanation::MAX_OTHERS
        ),
        count => format!("{count} other lines of this sort"),
    };
    Some(StatusLine::labelled("More", text))
}

fn labelled_list(label: &'static str, items: &[&str]) -> Vec<StatusLine> {
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    let lines = labels.zip(items);
    lines
        .map(|(label, item)| StatusLine::labelled(label, shown(item)).wrapped())
        .collect()
}

/// Returns the lines around the cause that belong to it.
fn context(explanation: &Explanation) -> Option<StatusLine> {
    let excerpt = explanation.excerpt()?;
    let quoted = explanation.quoted()?.line;
    let line = StatusLine::labelled("Where", format!("line {quoted} of the log"));
    let numbered = (excerpt.first_line..).zip(&excerpt.lines);
    let line = numbered.fold(line, |line, (number, text)| {
        let mark = if number == quoted { "> " } else { "  " };
        line.detail(format!("{mark}{}", shown(text)))
    });
    Some(line)
}

fn shown(text: &str) -> String {
    visible_line(text, LINE_CHARS)
}

/// Masks every string of a JSON value on its own, so that the result is still JSON.
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

/// What a run would do about a failure.
struct RecoveryPlan {
    /// The template that it would follow first.
    template: Option<WrittenTemplate>,
    rules: Vec<RecoveryRule>,
}

impl RecoveryPlan {
    fn of(failure: &Failure, source: Source, templates: &RecoveryTemplates) -> Self {
        Self {
            template: templates.of(failure).cloned(),
            rules: rules_for(failure, source),
        }
    }

    fn texts(&self) -> Vec<String> {
        let template = self.template.iter().map(WrittenTemplate::text);
        template
            .chain(self.rules.iter().map(RecoveryRule::text))
            .collect()
    }

    fn to_json(&self) -> Value {
        let template = self.template.iter().map(WrittenTemplate::to_json);
        Value::from_iter(template.chain(self.rules.iter().map(rule_json)))
    }
}

/// Returns the rules of the table: two rules if only an inspection of the workspace can show whether a
/// repair is allowed.
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

fn rule_json(rule: &RecoveryRule) -> Value {
    json!({
        "class": rule.class,
        "charged_to": rule.charge.words(),
        "does": rule.words(),
    })
}

/// Returns the templates, which come first, and the table.
fn whole_table(as_json: bool, templates: &RecoveryTemplates) -> String {
    if as_json {
        let templates = templates.iter().map(WrittenTemplate::to_json);
        let all = templates.chain(TABLE.iter().map(rule_json));
        return format!("{:#}\n", Value::from_iter(all));
    }
    let mut text: String = templates
        .iter()
        .map(|template| format!("{}\n", template.text()))
        .collect();
    text = output::printable(&text);
    text + &table_text()
}

/// Converts a report from text to JSON.
fn report(input: impl Read, path: &Path, masks: &Masks) -> Result<String, Problem> {
    let text = whole(input, path)?;
    let report = Report::parse(&text).map_err(|error| Problem::NoReport {
        why: error.to_string(),
    })?;
    let failure = serde_json::to_value(report.into_failure()).unwrap_or_default();
    Ok(format!("{:#}\n", masked(failure, masks)))
}

/// Reads all input, up to the size limit of files.
fn whole(mut input: impl Read, path: &Path) -> Result<String, Problem> {
    let mut bytes = Vec::new();
    let read = input.by_ref().take(MAX_FILE).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(path, error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn unreadable(path: &Path, source: io::Error) -> Problem {
    Problem::Read(ReadError::new(path, source))
}
