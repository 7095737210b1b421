//! Diagnoses time limits: regreen's own, or one that a runner reports.

use regreen_model::{Evidence, FailureCategory, FailureKind, Source};

use super::diagnosis::Diagnosis;
use super::signs::Signs;
use crate::cause_origin::TIME_LIMIT;

/// The exit code of `timeout(1)`.
const TIMEOUT_EXIT: i32 = 124;
/// Printed by shells about a child that TERM ended.
const TERMINATED: &str = "Terminated";
const PHRASE: &str = "Time limit insufficient";

pub(crate) fn by_limit(evidence: &Evidence) -> Option<Diagnosis> {
    let ending = evidence.ending;
    let by_program = ending.exit_code == Some(TIMEOUT_EXIT) && evidence.source == Source::Command;
    if !(ending.timed_out || by_program || is_escalation(evidence)) {
        return None;
    }
    let was_seen = evidence.progressed.filter(|_| ending.timed_out);
    let kind = kind(was_seen.unwrap_or_else(|| has_progress(evidence)));
    let quoting = Diagnosis::quoting_last_line(kind, TIME_LIMIT, evidence);
    let says_only_that = quoting.blocker.as_deref() == Some(TERMINATED);
    Some(Diagnosis {
        blocker: quoting.blocker.filter(|_| !says_only_that),
        line: quoting.line.filter(|_| !says_only_that),
        confidence: 95,
        message: Some(message(evidence)),
        phrase: Some(PHRASE.to_owned()),
        suggest: suggestions(evidence, kind),
        ..Diagnosis::new(kind, TIME_LIMIT)
    })
}

/// Whether a runner enforced its limit with KILL because TERM was ignored.
fn is_escalation(evidence: &Evidence) -> bool {
    let last = last_line(evidence);
    evidence.source == Source::Command
        && last == Some(TERMINATED)
        && super::exit::signal(evidence) == Some(super::exit::SIGKILL)
}

fn last_line(evidence: &Evidence) -> Option<&str> {
    evidence
        .output
        .end()
        .lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty())
}

/// Decides by progress which kind of timeout a tool's report is.
pub(crate) fn by_words(diagnosis: Diagnosis, evidence: &Evidence, signs: &Signs) -> Diagnosis {
    if diagnosis.kind.category() != FailureCategory::Timeout {
        return diagnosis;
    }
    let quoted = u64::from(diagnosis.line.is_some());
    let says_more = evidence.output.lines > quoted || signs.steps > 0;
    let is_idle = diagnosis.kind == FailureKind::TimeoutNoProgress;
    let progress = says_more && !is_idle || has_other_progress(evidence);
    let kind = kind(progress && !signs.nothing_done);
    Diagnosis {
        kind,
        retry_mode: None,
        suggest: suggestions(evidence, kind),
        ..diagnosis
    }
}

pub(crate) fn kind(progress: bool) -> FailureKind {
    if progress {
        FailureKind::TimeoutWithProgress
    } else {
        FailureKind::TimeoutNoProgress
    }
}

/// Returns whether there is any sign of progress.
fn has_progress(evidence: &Evidence) -> bool {
    let has_output = |text: &str| !matches!(text.trim(), "" | TERMINATED);
    has_output(&evidence.output.head)
        || has_output(&evidence.output.tail)
        || has_other_progress(evidence)
}

fn has_other_progress(evidence: &Evidence) -> bool {
    evidence.tools.counts.values().any(|count| *count > 0) || !evidence.files_changed.is_empty()
}

fn message(evidence: &Evidence) -> String {
    match evidence.ending.limit_ms {
        Some(limit) => format!("Child timed out after {}s", seconds(limit)),
        None => "Child timed out".to_owned(),
    }
}

pub(crate) fn suggestions(evidence: &Evidence, kind: FailureKind) -> Vec<String> {
    let longer = match evidence.ending.limit_ms {
        Some(limit) => format!("Retry with timeout={}s", seconds(limit.saturating_mul(2))),
        None => "Retry with a longer timeout".to_owned(),
    };
    let smaller = "Break task into smaller subtasks".to_owned();
    match kind {
        FailureKind::TimeoutNoProgress => vec![
            smaller,
            "Check that the task can make progress at all".to_owned(),
        ],
        _ => vec![longer, smaller],
    }
}

/// Formats seconds, without a fraction if they are whole.
fn seconds(ms: u64) -> String {
    match (ms / 1000, ms % 1000) {
        (whole, 0) => whole.to_string(),
        (whole, rest) => format!("{whole}.{rest:03}")
            .trim_end_matches('0')
            .to_owned(),
    }
}
