//! Failures for people to read.

use std::fmt::Write as _;

use regreen_model::{FailureCategory, visible_line};

use super::entry::{Entry, Place};

const SHOWN_CHARS: usize = 160;

pub(super) fn page(entries: &[Entry]) -> String {
    if entries.is_empty() {
        return "nothing has failed\n".to_owned();
    }
    entries.iter().map(paragraph).collect()
}

fn paragraph(entry: &Entry) -> String {
    let mut text = String::new();
    let time = entry.time.replace('T', " ");
    let time = time.split('.').next().unwrap_or(&time);
    let _ = writeln!(text, "{time}  {}  {}", entry.place, entry.kind);
    let first = blocker(entry).lines().next().unwrap_or_default();
    let _ = writeln!(text, "  {}", visible_line(first, SHOWN_CHARS));
    if let Some(tried) = &entry.tried {
        let helped = match entry.helped {
            Some(true) => "it helped",
            Some(false) => "it did not help",
            None => "nobody knows whether it helped",
        };
        let _ = writeln!(
            text,
            "  tried: {}: {helped}",
            visible_line(tried, SHOWN_CHARS)
        );
    }
    text
}

/// What stood in the way. What was printed last before the time was up is no reason.
fn blocker(entry: &Entry) -> &str {
    let is_timeout = entry.category == FailureCategory::Timeout.name();
    let quoted = entry.blocked_on.as_deref().filter(|_| !is_timeout);
    quoted.unwrap_or(&entry.message)
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Run {
                run, task, attempt, ..
            } => write!(f, "run {run} task {task} attempt {attempt}"),
            Self::Delegation {
                delegation,
                attempt,
                ..
            } => write!(f, "delegation {delegation} attempt {attempt}"),
        }
    }
}
