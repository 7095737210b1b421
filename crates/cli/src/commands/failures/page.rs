//! Failures as lines.

use regreen_model::{FailureCategory, FailureKind, visible_line};
use regreen_reporters::{Status, StatusLine};

use super::entry::{Entry, Place};

const LINE_CHARS: usize = 300;

pub(super) fn lines(entries: &[Entry]) -> Vec<StatusLine> {
    if entries.is_empty() {
        return vec![StatusLine::new(Status::Pass, "nothing has failed")];
    }
    entries.iter().map(line).collect()
}

fn line(entry: &Entry) -> StatusLine {
    let time = entry.time.replace('T', " ");
    let time = time.split('.').next().unwrap_or(&time);
    let kind = FailureKind::from_name(&entry.kind);
    let kind = kind.map_or(entry.kind.as_str(), |kind| kind.words());
    let cause = cause(entry).lines().next().unwrap_or_default();
    let line = StatusLine::new(Status::Fail, format!("{time} {}", entry.place))
        .detail(visible_line(kind, LINE_CHARS))
        .detail(visible_line(cause, LINE_CHARS));
    let Some(tried) = &entry.tried else {
        return line;
    };
    let helped = match entry.helped {
        Some(true) => "helped",
        Some(false) => "did not help",
        None => "result unknown",
    };
    line.detail(format!(
        "then {}: {helped}",
        visible_line(tried, LINE_CHARS)
    ))
}

/// Returns the cause. The last line before a time limit is not one.
fn cause(entry: &Entry) -> &str {
    let is_timeout = entry.category == FailureCategory::Timeout.name();
    let quoted = entry.blocked_on.as_deref().filter(|_| !is_timeout);
    quoted.unwrap_or(&entry.message)
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Run {
                run, task, attempt, ..
            } => write!(f, "task {task} attempt {attempt} · run {run}"),
            Self::Delegation {
                delegation,
                attempt,
                ..
            } => write!(f, "delegation {delegation} attempt {attempt}"),
        }
    }
}
