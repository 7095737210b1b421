use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::{FailureKind, RepairAction, TaskId, named_enum};

/// Why an attempt failed, and what could be done about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Its category, from the point of view of the requester.
    pub category: FailureCategory,
    /// Its root cause.
    pub kind: FailureKind,
    /// One sentence for people.
    pub message: String,
    /// The one line a person would quote; `None` where there is none.
    pub blocked_on: Option<String>,
    /// The number of that line in the output, 1-based.
    pub line: Option<usize>,
    /// Whether the task can be tried again without a person.
    pub retryable: bool,
    /// What must happen before the task can succeed.
    pub retry_mode: RetryMode,
    /// What the agent reported as done.
    pub completed_steps: Vec<String>,
    /// The files that the attempt changed.
    pub files_modified: Vec<String>,
    /// How often each tool of the agent was used.
    pub tool_usage: BTreeMap<String, u32>,
    /// The last tool of the agent that succeeded.
    pub last_successful_tool: Option<String>,
    /// What a person or an agent could do.
    pub suggested_actions: Vec<String>,
    /// A candidate: inspection of the workspace decides.
    pub repair: Option<RepairAction>,
    /// Which rule, or which step of the ranking, found the cause.
    pub rule: String,
    /// How sure the diagnosis is.
    pub confidence: Confidence,
    /// The same for the same blocker, whatever paths, numbers and times it names.
    pub fingerprint: String,
}

impl Failure {
    /// Returns the suggestions that tell a person something new, without those that repeat the
    /// blocker or only say to go on; all of them if there are no others.
    #[must_use]
    pub fn advice(&self) -> Vec<&str> {
        const GENERAL: [&str; 3] = [
            "Complete remaining work",
            "Fix blocker:",
            "Adjust approach:",
        ];
        let all = || self.suggested_actions.iter().map(String::as_str);
        let is_general = |action: &&str| GENERAL.iter().any(|word| action.starts_with(word));
        let advice: Vec<&str> = all().filter(|action| !is_general(action)).collect();
        if advice.is_empty() {
            all().collect()
        } else {
            advice
        }
    }
}

/// Below this a diagnosis only knows that something failed.
const MIN_CONFIDENCE: Confidence = Confidence::percent(40);

/// Why an attempt failed: what events, orders, prompts and rows carry of a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureRecord {
    /// What went wrong, in the agent's words or ours.
    pub error: String,
    /// What the agent says it tried.
    pub attempted_fix: String,
    /// The end of what the agent said, as evidence: whatever the cause is, it may explain it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub last_words: String,
    /// The cause that the diagnosis found.
    #[serde(default)]
    pub diagnosis: Option<Box<Failure>>,
}

impl FailureRecord {
    /// Makes a record of which only the error is known.
    #[must_use]
    pub fn new(error: impl Into<String>) -> Self {
        Self {
            error: error.into(),
            ..Self::default()
        }
    }

    /// Returns the cause in few words: an error of one line as it is, of a longer one the line
    /// that the diagnosis chooses.
    #[must_use]
    pub fn cause(&self) -> &str {
        let found = self.diagnosis.as_ref();
        let blocker = found.and_then(|failure| failure.blocked_on.as_deref());
        headline(&self.error, || blocker).unwrap_or(&self.error)
    }

    /// Returns the diagnosis, if it is sure enough to be shown.
    #[must_use]
    pub fn confident_diagnosis(&self) -> Option<&Failure> {
        let found = self.diagnosis.as_deref();
        found.filter(|found| found.confidence >= MIN_CONFIDENCE)
    }

    /// Returns the agent's last words, unless the error quotes all of them already.
    #[must_use]
    pub fn unquoted_words(&self) -> Option<&str> {
        let words = self.last_words.trim();
        (!words.is_empty() && !self.error.contains(words)).then_some(words)
    }

    /// Returns its kind in words, if the diagnosis is sure enough.
    #[must_use]
    pub fn kind(&self) -> Option<&'static str> {
        Some(self.confident_diagnosis()?.kind.words())
    }
}

/// Chooses the line that tells a failure: an error of at most one line as it is, of a longer one
/// the line that a diagnosis quotes. `None` if there is no such line.
pub fn headline<'t, L: From<&'t str> + AsRef<str>>(
    error: &'t str,
    quoted: impl FnOnce() -> Option<L>,
) -> Option<L> {
    let mut lines = error.lines().filter(|line| !line.trim().is_empty());
    if lines.nth(1).is_none() {
        return Some(error.into());
    }
    // A line without a word is a number that a command printed: it says nothing by itself.
    quoted().filter(|line| line.as_ref().contains(char::is_alphabetic))
}

/// What an agent reports about a task that it could not finish. Its keys are public: other
/// tools read and write this object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskFailure {
    /// The task.
    pub task_id: TaskId,
    /// Always true.
    pub failed: bool,
    /// The agent's `Error:` line.
    pub error: String,
    /// The agent's `Attempted fix:` line.
    pub attempted_fix: String,
    /// The agent's `Status:` line.
    pub status: String,
    /// Everything the agent said, for context.
    pub raw_output: String,
}

impl TaskFailure {
    /// Used where the agent's block has no `Error:` line.
    pub const NO_ERROR: &str = "Task execution failed";
    /// Used where the agent does not say what it tried.
    pub const NO_ATTEMPTED_FIX: &str = "No fix attempted";
    /// Used where the agent names no status.
    pub const NO_STATUS: &str = "Unknown status";
    /// Used where there is no block at all.
    pub const NO_BLOCK: &str = "Task did not complete";
}

named_enum! {
    /// The category of a failure, from the point of view of the requester.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum FailureCategory {
        /// A time limit ended it.
        Timeout = "timeout",
        /// The task leaves out something that only its author knows.
        MissingContext = "missing_context",
        /// A tool, the environment or the code caused the failure.
        ToolError = "tool_error",
        /// The task cannot be done as written, or the agent refuses it.
        InvalidTask = "invalid_task",
        /// Part of the work is done, but something blocked the rest.
        Partial = "partial",
    }
}

named_enum! {
    /// What must happen before the same task can succeed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum RetryMode {
        /// Nothing: the failure was transient.
        AsIs = "as_is",
        /// A mechanical repair of the environment.
        AfterRepair = "after_repair",
        /// A change of the code, which an agent can make.
        AfterFix = "after_fix",
        /// A decision, a right, a secret or information from a person.
        AfterHuman = "after_human",
        /// It can never work.
        Never = "never",
    }
}

impl RetryMode {
    /// Returns whether the task can be tried again without a person.
    #[must_use]
    pub fn is_retryable(self) -> bool {
        match self {
            Self::AsIs | Self::AfterRepair | Self::AfterFix => true,
            Self::AfterHuman | Self::Never => false,
        }
    }
}

/// How sure a diagnosis is, in hundredths; written as a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(into = "f64")]
pub struct Confidence(u8);

impl Confidence {
    /// Makes a confidence in hundredths; more than 100 counts as 100.
    #[must_use]
    pub const fn percent(percent: u8) -> Self {
        Self(if percent > 100 { 100 } else { percent })
    }

    /// Returns the confidence in hundredths.
    #[must_use]
    pub fn as_percent(self) -> u8 {
        self.0
    }
}

impl From<Confidence> for f64 {
    fn from(confidence: Confidence) -> Self {
        Self::from(confidence.0) / 100.0
    }
}

impl From<f64> for Confidence {
    fn from(fraction: f64) -> Self {
        let nearest = (0..=100).min_by_key(|p| {
            let distance = (fraction * 100.0 - f64::from(*p)).abs();
            // Total order for all floats; NaN ends up as 0.
            distance.to_bits()
        });
        Self(nearest.unwrap_or(0))
    }
}

impl<'de> Deserialize<'de> for Confidence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Fraction)
    }
}

/// Reads a fraction, including one in a map, which is how serde_json's arbitrary precision
/// represents numbers inside tagged enums.
struct Fraction;

impl<'de> Visitor<'de> for Fraction {
    type Value = Confidence;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a fraction")
    }

    fn visit_f64<E: Error>(self, fraction: f64) -> Result<Confidence, E> {
        Ok(Confidence::from(fraction))
    }

    /// Returns the only whole fractions are 0 and 1.
    fn visit_u64<E: Error>(self, whole: u64) -> Result<Confidence, E> {
        Ok(Confidence::percent(if whole == 0 { 0 } else { 100 }))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Confidence, A::Error> {
        let number = map.next_entry::<String, String>()?;
        let fraction = number.and_then(|(_, digits)| digits.parse::<f64>().ok());
        let fraction = fraction.ok_or_else(|| A::Error::custom("expected a fraction"))?;
        Ok(Confidence::from(fraction))
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_percentage_survives_being_a_fraction() {
        for percent in 0..=100 {
            let confidence = Confidence::percent(percent);
            assert_eq!(Confidence::from(f64::from(confidence)), confidence);
        }
    }

    /// As in the journal, whose events are tagged.
    #[test]
    fn a_confidence_survives_inside_a_tagged_enum() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        enum Tagged {
            Found { confidence: Confidence },
        }
        for percent in [0, 20, 95, 100] {
            let found = Tagged::Found {
                confidence: Confidence::percent(percent),
            };
            let text = serde_json::to_string(&found).unwrap();
            assert_eq!(serde_json::from_str::<Tagged>(&text).unwrap(), found);
        }
    }

    #[track_caller]
    fn check_headline(error: &str, quoted: Option<&str>, expected: Option<&str>) {
        assert_eq!(headline(error, || quoted), expected);
    }

    #[test]
    fn the_headline_is_the_only_line_or_the_quoted_one() {
        check_headline("boom", Some("other"), Some("boom"));
        check_headline("a\nb", Some("b"), Some("b"));
        check_headline("a\n3", Some("3"), None);
        check_headline("a\nb", None, None);
    }

    #[test]
    fn advice_repeats_neither_the_blocker_nor_that_work_is_left() {
        let advice = |actions: &[&str]| {
            let failure: Failure = serde_json::from_value(serde_json::json!({
                "category": "partial", "kind": "test_failure", "message": "", "blocked_on": null,
                "line": null, "retryable": false, "retry_mode": "after_fix",
                "completed_steps": [], "files_modified": [], "tool_usage": {},
                "last_successful_tool": null, "suggested_actions": actions, "repair": null,
                "rule": "", "confidence": 0.9, "fingerprint": "",
            }))
            .unwrap();
            failure.advice().join("|")
        };
        let rest = ["Complete remaining work", "Fix blocker: boom"];
        assert_eq!(
            advice(&[&["Run the test alone"], &rest[..]].concat()),
            "Run the test alone"
        );
        assert_eq!(advice(&rest), rest.join("|"));
    }

    #[test]
    fn fractions_out_of_range_are_clamped() {
        assert_eq!(Confidence::from(7.0).as_percent(), 100);
        assert_eq!(Confidence::from(-7.0).as_percent(), 0);
        assert_eq!(Confidence::from(f64::NAN).as_percent(), 0);
    }
}
