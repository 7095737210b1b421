//! Names what an answer lacks that does not signal completion.

use regreen_model::{
    AttemptClass, AttemptReport, ERROR_CHARS, Failure, PlainLine, TaskFailure, Transcript,
};

use super::words::is_convincing;

/// The line with which an agent signals completion.
const SIGNAL: &str = "TASK_COMPLETE";

/// Returns whether all that is wrong with an attempt is that the agent didn't signal completion.
pub(super) fn lacks_only_signal(report: &AttemptReport, found: Option<&Failure>) -> bool {
    let is_told = report.signalled
        || report.reports_failure
        || report.unfinished
        || report.ending.timed_out
        || report.ending.signal.is_some()
        || report.modification.is_some()
        || !report.plan.warnings.is_empty()
        || report.contradiction.is_some();
    report.class == AttemptClass::Ordinary && !is_told && !found.is_some_and(is_convincing)
}

/// Says what a completed answer lacks, and how it ends instead.
pub(super) fn unsignalled_error(report: &AttemptReport, transcript: &Transcript) -> String {
    let said = &transcript.final_message;
    let mut lines = said.lines().map(str::trim);
    let ends_with = lines.rfind(|line| !line.is_empty() && !line.starts_with("```"));
    let how = match (ends_with, report.ending.exit_code) {
        (Some(line), _) => {
            let lacks = if line.contains(SIGNAL) {
                format!("{SIGNAL} is not on a line of its own, outside of quotations and code")
            } else {
                format!("its answer has no line {SIGNAL}")
            };
            let line = PlainLine::flatten(line, ERROR_CHARS);
            format!("{lacks} (it ends with: {line})")
        }
        (None, Some(code)) if code != 0 => {
            format!("the agent exited with {code} and printed nothing")
        }
        (None, _) => "the agent printed nothing".to_owned(),
    };
    format!("{}: {how}", TaskFailure::NO_BLOCK)
}
