use std::collections::BTreeMap;

use regreen_model::{Failure, FailureCategory, FailureKind};
use serde::{Deserialize, Serialize};

use crate::text::one_line;

/// Said where a limit ended the work and no line can be quoted.
const TIME_PHRASE: &str = "Time limit insufficient";

/// A failed delegation, as the one who delegated is told about it. Its fields are public:
/// other tools read and write this object.
///
/// All texts are single lines without control characters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChildFailure {
    pub category: FailureCategory,
    pub message: String,
    pub session_id: String,
    /// Seconds, in tenths.
    pub duration: f64,
    pub completed_steps: Vec<String>,
    pub files_modified: Vec<String>,
    pub blocked_on: Option<String>,
    pub suggested_retry: bool,
    pub suggested_actions: Vec<String>,
    pub tool_usage: BTreeMap<String, u32>,
    pub last_successful_tool: Option<String>,
}

impl ChildFailure {
    #[must_use]
    pub fn of(failure: &Failure, session_id: &str, duration_ms: u64) -> Self {
        let phrase = phrase(failure.kind).map(str::to_owned);
        let blocked_on = failure
            .blocked_on
            .clone()
            .filter(|_| !is_timeout(failure.kind));
        Self {
            category: failure.category,
            message: failure.message.clone(),
            session_id: session_id.to_owned(),
            duration: tenths(duration_ms),
            completed_steps: failure.completed_steps.clone(),
            files_modified: failure.files_modified.clone(),
            blocked_on: blocked_on.or(phrase),
            suggested_retry: failure.retryable,
            suggested_actions: failure.suggested_actions.clone(),
            tool_usage: failure.tool_usage.clone(),
            last_successful_tool: failure.last_successful_tool.clone(),
        }
        .flattened()
    }

    /// With every text on one line, and without texts that say nothing.
    #[must_use]
    pub(crate) fn flattened(self) -> Self {
        let lines = |texts: Vec<String>| -> Vec<String> {
            let lines = texts.iter().map(|text| one_line(text));
            lines.filter(|line| !line.is_empty()).collect()
        };
        Self {
            message: one_line(&self.message),
            session_id: one_line(&self.session_id),
            completed_steps: lines(self.completed_steps),
            files_modified: lines(self.files_modified),
            blocked_on: self
                .blocked_on
                .map(|text| one_line(&text))
                .filter(|text| !text.is_empty()),
            suggested_actions: lines(self.suggested_actions),
            last_successful_tool: self.last_successful_tool.map(|tool| one_line(&tool)),
            ..self
        }
    }
}

fn is_timeout(kind: FailureKind) -> bool {
    kind.category() == FailureCategory::Timeout
}

/// What is said to block where the kind says more than any line: what a program printed last
/// before its time was up is no reason.
fn phrase(kind: FailureKind) -> Option<&'static str> {
    is_timeout(kind).then_some(TIME_PHRASE)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "durations are far below 2^52 tenths"
)]
fn tenths(ms: u64) -> f64 {
    (ms.saturating_add(50) / 100) as f64 / 10.0
}
