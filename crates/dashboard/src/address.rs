//! The addresses of pages.

use std::fmt::Write as _;

use regreen_model::TaskKey;
use regreen_overview::{AttemptRef, AttemptText, RunKey};

/// Returns the page of a run.
pub(crate) fn run(key: &RunKey) -> String {
    format!("/runs/{}/{}", segment(&key.place), segment(&key.run))
}

/// Returns the page of a task in a run.
pub(crate) fn task(key: &RunKey, task: &TaskKey) -> String {
    let id = segment(task.id.as_str());
    format!("{}/tasks/{id}/{}", run(key), task.occurrence)
}

/// Returns the page of a text of an attempt.
pub(crate) fn text(attempt: &AttemptRef, text: AttemptText) -> String {
    let of = task(&attempt.run, &attempt.task);
    format!("{of}/attempts/{}/{}", attempt.number, text_name(text))
}

/// Returns where forms about a run are sent.
pub(crate) fn actions(key: &RunKey) -> String {
    format!("{}/act", run(key))
}

pub(crate) fn text_name(text: AttemptText) -> &'static str {
    match text {
        AttemptText::Log => "log",
        AttemptText::Verify => "verify",
        AttemptText::Prompt => "prompt",
        AttemptText::Diff => "diff",
    }
}

pub(crate) fn text_named(name: &str) -> Option<AttemptText> {
    let all = [
        AttemptText::Log,
        AttemptText::Verify,
        AttemptText::Prompt,
        AttemptText::Diff,
    ];
    all.into_iter().find(|text| text_name(*text) == name)
}

/// Encodes a part of a path, so that it is one whatever it contains.
fn segment(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_leave_its_part_of_the_path() {
        assert_eq!(segment("1.3"), "1%2E3");
        assert_eq!(
            segment("../?a=b#c//evil"),
            "%2E%2E%2F%3Fa%3Db%23c%2F%2Fevil"
        );
    }
}
