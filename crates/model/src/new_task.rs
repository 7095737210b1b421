use serde::{Deserialize, Serialize};

use crate::{ERROR_CHARS, Marker, PlainLine, SUMMARY_CHARS, Task, TaskFailure, TaskId};

/// Where a fix says to look when its original names no files.
const SAME_FILES: &str = "Same directory as original";
/// A Verify that nobody can run: the original is the judge.
const VERIFY_BY_HAND: &str = "echo 'Verify manually'";
const DEFAULT_SCOPE: &str = "recovery";
const DEFAULT_ERROR_TYPE: &str = "error";

/// A task that is to be written into a task file.
///
/// Text from outside is in [`PlainLine`]s. `files` and `verify` are copied from a task of
/// the same file and may have several lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewTask {
    pub id: TaskId,
    pub markers: Vec<Marker>,
    pub title: PlainLine,
    pub action: Option<PlainLine>,
    /// Numbered below `action`.
    pub steps: Vec<PlainLine>,
    pub files: Option<String>,
    pub done_when: Option<PlainLine>,
    pub verify: Option<String>,
    pub commit: Option<PlainLine>,
}

/// What a fix task is made of, besides the task it repairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FixOrigin<'a> {
    pub error: &'a str,
    pub attempted_fix: &'a str,
    /// The spec's name; empty outside one.
    pub scope: &'a str,
    /// The failure's kind in words (`missing file`); empty without a diagnosis.
    pub error_type: &'a str,
    /// A fourth step, for a repeated blocker or for what regreen repaired itself.
    pub extra_step: &'a str,
}

impl NewTask {
    /// The task that repairs `parent`, which is called `parent_id` and failed as `origin` says.
    #[must_use]
    pub fn fix(id: TaskId, parent_id: &TaskId, parent: &Task, origin: FixOrigin<'_>) -> Self {
        let summary = PlainLine::first_of(origin.error, SUMMARY_CHARS)
            .or(&format!("task {parent_id} failure"));
        let error = PlainLine::flatten(origin.error, ERROR_CHARS).or(TaskFailure::NO_ERROR);
        let attempted =
            PlainLine::flatten(origin.attempted_fix, ERROR_CHARS).or(TaskFailure::NO_ATTEMPTED_FIX);
        let scope = PlainLine::first_of(origin.scope, SUMMARY_CHARS).or(DEFAULT_SCOPE);
        let error_type =
            PlainLine::first_of(origin.error_type, SUMMARY_CHARS).or(DEFAULT_ERROR_TYPE);
        Self {
            id,
            markers: vec![Marker::Fix(Some(parent_id.clone()))],
            title: joined("Fix: ", &summary, ""),
            action: Some(joined("Address the error: ", &error, "")),
            steps: fix_steps(&error, &attempted, origin.extra_step),
            files: Some(or_text(parent.fields.files.as_deref(), SAME_FILES)),
            done_when: Some(joined("Error \"", &error, "\" no longer occurs")),
            verify: Some(or_text(parent.fields.verify.as_deref(), VERIFY_BY_HAND)),
            commit: Some(joined(
                &format!("fix({scope}): address "),
                &error_type,
                &format!(" from task {parent_id}"),
            )),
        }
    }
}

fn fix_steps(error: &PlainLine, attempted: &PlainLine, extra: &str) -> Vec<PlainLine> {
    let mut steps = vec![
        joined("Analyze the failure: ", attempted, ""),
        PlainLine::flatten("Review related code in Files list", ERROR_CHARS),
        joined("Implement fix for: ", error, ""),
    ];
    let extra = PlainLine::flatten(extra, ERROR_CHARS);
    if !extra.is_empty() {
        steps.push(extra);
    }
    steps
}

/// Our words around a harmless line; the line's limit is for the line, not for our words.
fn joined(before: &str, line: &PlainLine, after: &str) -> PlainLine {
    PlainLine::flatten(&format!("{before}{line}{after}"), usize::MAX)
}

fn or_text(text: Option<&str>, fallback: &str) -> String {
    match text.map(str::trim) {
        Some(text) if !text.is_empty() => text.to_owned(),
        _ => fallback.to_owned(),
    }
}
