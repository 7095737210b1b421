use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Confidence, FailureCategory, FailureKind, RepairAction, RetryMode};

/// Why an attempt failed, and what could be done about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub category: FailureCategory,
    pub kind: FailureKind,
    /// One sentence for people.
    pub message: String,
    /// The one line a person would quote; `None` where there is none.
    pub blocked_on: Option<String>,
    /// Where that line stands in the output, 1-based.
    pub line: Option<usize>,
    pub retryable: bool,
    pub retry_mode: RetryMode,
    pub completed_steps: Vec<String>,
    pub files_modified: Vec<String>,
    /// How often each tool of the agent was used.
    pub tool_usage: BTreeMap<String, u32>,
    pub last_successful_tool: Option<String>,
    pub suggested_actions: Vec<String>,
    /// A candidate: inspection of the workspace decides.
    pub repair: Option<RepairAction>,
    /// Which rule, or which step of the ranking, found the cause.
    pub rule: String,
    pub confidence: Confidence,
    /// The same for the same blocker, whatever paths, numbers and times it names.
    pub fingerprint: String,
}
