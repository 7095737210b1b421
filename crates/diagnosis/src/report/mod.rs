//! The failure report as text: rendering and parsing.
//!
//! Untrusted values are escaped as in XML, and so are commas in file names and report labels inside
//! a value. So nothing that a program prints can become a line, a list item or a tag of the report,
//! either for our parser or for simpler ones.

pub(crate) mod child_failure;
pub(crate) mod completion;

use std::fmt::Write as _;

use regreen_model::FailureCategory;

use crate::report::child_failure::ChildFailure;
use crate::text::one_line;

pub(crate) const HEAD: &str = "Child agent failed:";
const CATEGORY: &str = "Category:";
const DURATION: &str = "Duration:";
const RETRYABLE: &str = "Retryable:";
const STEPS: &str = "Work completed before failure:";
const FILES: &str = "Files modified:";
const BLOCKED: &str = "Blocked on:";
const ACTIONS: &str = "Suggested recovery actions:";
const LABELS: [&str; 8] = [
    HEAD, CATEGORY, DURATION, RETRYABLE, STEPS, FILES, BLOCKED, ACTIONS,
];
pub(crate) const METADATA: &str = "<task_metadata>";
pub(crate) const METADATA_END: &str = "</task_metadata>";
/// The names of all metadata tags.
pub(crate) const TAGS: [&str; 5] = [
    "task_metadata",
    "session_id",
    "status",
    "failure_category",
    "retryable",
];
const STEP_MARK: &str = "✓";
const ACTION_MARK: &str = "•";
const NONE: &str = "None";
const NO_FILES: &str = "none";

/// A failure report: the text form of a [`ChildFailure`].
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    failure: ChildFailure,
}

/// Why a text isn't a failure report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReportError {
    /// The first line of a report is missing.
    #[error("no line begins with `{HEAD}`")]
    NoHead,
    /// A line with this label is missing.
    #[error("no line begins with `{0}`")]
    Missing(&'static str),
    /// A label has an invalid value.
    #[error("`{label}` cannot be `{value}`")]
    Invalid {
        /// The label.
        label: &'static str,
        /// Its value.
        value: String,
    },
}

impl Report {
    /// Creates the report of a failure.
    #[must_use]
    pub fn new(failure: ChildFailure) -> Self {
        Self {
            failure: failure.flattened(),
        }
    }

    /// Returns the failure.
    #[must_use]
    pub fn failure(&self) -> &ChildFailure {
        &self.failure
    }

    /// Converts the report into its failure.
    #[must_use]
    pub fn into_failure(self) -> ChildFailure {
        self.failure
    }

    /// Returns the category.
    #[must_use]
    pub fn category(&self) -> FailureCategory {
        self.failure.category
    }

    /// Returns whether a retry may help.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.failure.suggested_retry
    }

    /// Returns the steps that were done before the failure.
    #[must_use]
    pub fn completed_steps(&self) -> &[String] {
        &self.failure.completed_steps
    }

    /// Returns the files that were modified.
    #[must_use]
    pub fn files_modified(&self) -> &[String] {
        &self.failure.files_modified
    }

    /// Returns what blocked the work.
    #[must_use]
    pub fn blocker(&self) -> Option<&str> {
        self.failure.blocked_on.as_deref()
    }

    /// Returns suggestions that may help.
    #[must_use]
    pub fn suggested_actions(&self) -> &[String] {
        &self.failure.suggested_actions
    }

    /// Returns the report as text, followed by its metadata.
    #[must_use]
    pub fn render(&self) -> String {
        let ChildFailure {
            category,
            message,
            session_id,
            duration,
            completed_steps,
            files_modified,
            blocked_on,
            suggested_retry,
            suggested_actions,
            ..
        } = &self.failure;
        let mut text = String::new();
        let answer = if *suggested_retry { "Yes" } else { "No" };
        let _ = writeln!(text, "{HEAD} {}\n", escaped(message));
        let _ = writeln!(
            text,
            "{CATEGORY} {category}\n{DURATION} {duration:.1}s\n{RETRYABLE} {answer}\n"
        );
        let _ = writeln!(text, "{STEPS}\n{}", list(completed_steps, STEP_MARK));
        let _ = writeln!(text, "{FILES} {}\n", files(files_modified));
        if let Some(blocker) = blocked_on {
            let _ = writeln!(text, "{BLOCKED} {}\n", escaped(blocker));
        }
        let _ = writeln!(text, "{ACTIONS}\n{}", list(suggested_actions, ACTION_MARK));
        let session = escaped(session_id);
        let _ = writeln!(
            text,
            "{METADATA}\n  <session_id>{session}</session_id>\n  <status>failed</status>"
        );
        let _ = writeln!(text, "  <failure_category>{category}</failure_category>");
        let _ = writeln!(
            text,
            "  <retryable>{suggested_retry}</retryable>\n{METADATA_END}"
        );
        text
    }

    /// Parses a report, with any text before and after it. The text doesn't include tool usage.
    ///
    /// # Errors
    /// Returns an error if the text has no report, or one without category or retry advice.
    pub fn parse(text: &str) -> Result<Self, ReportError> {
        let lines: Vec<&str> = text.lines().collect();
        let begins = |start: &str| {
            lines
                .iter()
                .rposition(|line| line.trim().starts_with(start))
        };
        let head = begins(HEAD)
            .or_else(|| begins(METADATA))
            .ok_or(ReportError::NoHead)?;
        let end = lines[head..]
            .iter()
            .position(|line| line.trim() == METADATA_END);
        let lines = &lines[head..end.map_or(lines.len(), |end| head + end)];
        let failure = ChildFailure {
            category: category(lines)?,
            message: unescaped(value(lines, HEAD).unwrap_or_default()),
            session_id: unescaped(tag(lines, "session_id").unwrap_or_default()),
            duration: value(lines, DURATION).and_then(seconds).unwrap_or(0.0),
            completed_steps: items(lines, STEPS, STEP_MARK),
            files_modified: value(lines, FILES).map(split_files).unwrap_or_default(),
            blocked_on: value(lines, BLOCKED).map(unescaped),
            suggested_retry: retryable(lines)?,
            suggested_actions: items(lines, ACTIONS, ACTION_MARK),
            tool_usage: std::collections::BTreeMap::new(),
            last_successful_tool: None,
        };
        Ok(Self::new(failure))
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.render())
    }
}

impl std::str::FromStr for Report {
    type Err = ReportError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

fn list(texts: &[String], mark: &str) -> String {
    if texts.is_empty() {
        return format!("  {NONE}\n");
    }
    texts
        .iter()
        .map(|text| format!("  {mark} {}\n", escaped(text)))
        .collect()
}

pub(crate) fn files(paths: &[String]) -> String {
    if paths.is_empty() {
        return NO_FILES.to_owned();
    }
    let escaped = |path: &String| {
        let path = escaped(path).replace(',', "&#44;");
        // A file may be named `none`.
        path.strip_prefix(NO_FILES)
            .map_or(path.clone(), |rest| format!("&#110;one{rest}"))
    };
    paths.iter().map(escaped).collect::<Vec<_>>().join(", ")
}

fn split_files(list: &str) -> Vec<String> {
    if list == NO_FILES {
        return Vec::new();
    }
    let paths = list.split(',').map(|path| unescaped(path.trim()));
    paths.filter(|path| !path.is_empty()).collect()
}

/// Returns the text after a label at the start of a line.
fn value<'a>(lines: &[&'a str], label: &str) -> Option<&'a str> {
    lines
        .iter()
        .find_map(|line| line.strip_prefix(label))
        .map(str::trim)
}

fn items(lines: &[&str], label: &str, mark: &str) -> Vec<String> {
    let after = lines
        .iter()
        .skip_while(|line| line.trim_end() != label)
        .skip(1);
    let marked = after.map_while(|line| item(line.trim_start(), mark));
    marked.map(|item| unescaped(item.trim())).collect()
}

/// Returns the text of a list item: behind our mark, behind the mark of an ordinary list, or behind
/// both.
fn item<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    let listed = ["- ", "* ", "+ "]
        .iter()
        .find_map(|bullet| line.strip_prefix(bullet));
    let marked = listed.unwrap_or(line).trim_start().strip_prefix(mark);
    marked.or(listed.filter(|text| text.trim() != NONE))
}

fn tag<'a>(lines: &[&'a str], name: &str) -> Option<&'a str> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    lines
        .iter()
        .find_map(|line| line.trim().strip_prefix(&open)?.strip_suffix(&close))
}

/// Reads the category. The metadata is for programs and takes precedence over the line for people.
fn category(lines: &[&str]) -> Result<FailureCategory, ReportError> {
    let tagged = tag(lines, "failure_category").and_then(FailureCategory::from_name);
    if let Some(category) = tagged {
        return Ok(category);
    }
    let name = value(lines, CATEGORY).ok_or(ReportError::Missing(CATEGORY))?;
    FailureCategory::from_name(name).ok_or_else(|| invalid(CATEGORY, name))
}

fn retryable(lines: &[&str]) -> Result<bool, ReportError> {
    match tag(lines, "retryable") {
        Some("true") => Ok(true),
        Some("false") => Ok(false),
        _ => yes_or_no(value(lines, RETRYABLE).ok_or(ReportError::Missing(RETRYABLE))?),
    }
}

/// From here on, tenths of seconds aren't written.
const LONG_AGES: f64 = 1e12;

fn seconds(text: &str) -> Option<f64> {
    let seconds: f64 = text.strip_suffix('s')?.parse().ok()?;
    // Larger values are written without tenths.
    let is_long = seconds.abs() >= LONG_AGES;
    let as_written = if is_long {
        seconds
    } else {
        (seconds * 10.0).round() / 10.0
    };
    seconds.is_finite().then_some(as_written + 0.0)
}

fn yes_or_no(text: &str) -> Result<bool, ReportError> {
    match text {
        "Yes" => Ok(true),
        "No" => Ok(false),
        _ => Err(invalid(RETRYABLE, text)),
    }
}

fn invalid(label: &'static str, value: &str) -> ReportError {
    ReportError::Invalid {
        label,
        value: one_line(value),
    }
}

pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    for label in LABELS {
        if let Some(words) = label.strip_suffix(':') {
            escaped = escaped.replace(label, &format!("{words}&#58;"));
        }
    }
    escaped
}

fn unescaped(text: &str) -> String {
    let plain = text
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&#44;", ",");
    plain
        .replace("&#58;", ":")
        .replace("&#110;", "n")
        .replace("&amp;", "&")
}
