use std::collections::BTreeMap;

use regreen_model::{Failure, FailureCategory};
use serde::{Deserialize, Serialize};

use crate::text::one_line;

/// The blocker of work that a limit ended.
pub(crate) const TIME_PHRASE: &str = "Time limit insufficient";

/// A failed delegation, as reported to its caller. Its fields are public: other tools read and
/// write this object.
///
/// All texts are single lines without control characters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChildFailure {
    /// The category of the failure.
    pub category: FailureCategory,
    /// The failure in one sentence.
    pub message: String,
    /// The session of the delegation.
    pub session_id: String,
    /// The duration in seconds, rounded to tenths.
    pub duration: f64,
    /// Steps that were done before the failure.
    pub completed_steps: Vec<String>,
    /// Files that were modified.
    pub files_modified: Vec<String>,
    /// The blocker.
    pub blocked_on: Option<String>,
    /// Whether a retry may help.
    pub suggested_retry: bool,
    /// Suggestions that may help.
    pub suggested_actions: Vec<String>,
    /// How often each tool was used.
    pub tool_usage: BTreeMap<String, u32>,
    /// The last tool that succeeded.
    pub last_successful_tool: Option<String>,
}

impl ChildFailure {
    /// Creates it from a diagnosis.
    #[must_use]
    pub fn of(failure: &Failure, session_id: &str, duration_ms: u64) -> Self {
        Self {
            category: failure.category,
            message: failure.message.clone(),
            session_id: session_id.to_owned(),
            duration: tenths(duration_ms),
            completed_steps: failure.completed_steps.clone(),
            files_modified: failure.files_modified.clone(),
            blocked_on: reported_blocker(failure),
            suggested_retry: failure.retryable,
            suggested_actions: failure.suggested_actions.clone(),
            tool_usage: failure.tool_usage.clone(),
            last_successful_tool: failure.last_successful_tool.clone(),
        }
        .flattened()
    }

    /// Puts every text on one line and drops empty ones.
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

/// Returns the blocker for reports and lists of failures. A program's last output before its time
/// was up isn't a reason.
#[must_use]
pub fn reported_blocker(failure: &Failure) -> Option<String> {
    match failure.kind.category() {
        FailureCategory::Timeout => Some(TIME_PHRASE.to_owned()),
        _ => failure.blocked_on.clone(),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "durations are far below 2^52 tenths"
)]
fn tenths(ms: u64) -> f64 {
    (ms.saturating_add(50) / 100) as f64 / 10.0
}
