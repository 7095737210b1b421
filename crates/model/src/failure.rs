use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::{FailureKind, RepairAction, TaskId, named_enum};

/// Why an attempt failed, and what can be done about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The category, from the requester's point of view.
    pub category: FailureCategory,
    /// The root cause.
    pub kind: FailureKind,
    /// The failure in one sentence, for people.
    pub message: String,
    /// The one line that a person would quote; `None` if there isn't one.
    pub blocked_on: Option<String>,
    /// The number of that line in the output, 1-based.
    pub line: Option<usize>,
    /// Whether the task can be tried again without a person.
    pub retryable: bool,
    /// The condition for a successful retry.
    pub retry_mode: RetryMode,
    /// The steps that the agent reported as done.
    pub completed_steps: Vec<String>,
    /// The files that the attempt changed.
    pub files_modified: Vec<String>,
    /// How often each tool of the agent was used.
    pub tool_usage: BTreeMap<String, u32>,
    /// The last tool of the agent that succeeded.
    pub last_successful_tool: Option<String>,
    /// Suggestions for a person or an agent.
    pub suggested_actions: Vec<String>,
    /// A candidate for a repair; an inspection of the workspace decides about it.
    pub repair: Option<RepairAction>,
    /// The rule, or the step of the ranking, that found the cause.
    pub rule: String,
    /// How sure the diagnosis is.
    pub confidence: Confidence,
    /// Identifies the blocker: paths, numbers and times in its text make no difference.
    pub fingerprint: String,
}

impl Failure {
    /// Returns the suggestions worth showing: not those that repeat the blocker or only say to
    /// continue, unless there are no others.
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

    /// Returns whether the diagnosis knows more than that something failed.
    #[must_use]
    pub fn is_confident(&self) -> bool {
        self.confidence >= Confidence::percent(40)
    }
}

/// Why an attempt failed, in the form that events, orders, prompts and rows carry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureRecord {
    /// The error, in the agent's words or regreen's.
    pub error: String,
    /// The fix that the agent says it tried.
    pub attempted_fix: String,
    /// The end of the agent's output, kept as evidence because it may explain any cause.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub last_words: String,
    /// The cause that the diagnosis found.
    #[serde(default)]
    pub diagnosis: Option<Box<Failure>>,
}

impl FailureRecord {
    /// Creates a record of which only the error is known.
    #[must_use]
    pub fn new(error: impl Into<String>) -> Self {
        Self {
            error: error.into(),
            ..Self::default()
        }
    }

    /// Returns the cause in brief: a one-line error itself, or the line that the diagnosis picks
    /// from a longer one.
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
        found.filter(|found| found.is_confident())
    }

    /// Returns the agent's last words, unless the error already quotes them in full.
    #[must_use]
    pub fn unquoted_words(&self) -> Option<&str> {
        let words = self.last_words.trim();
        (!words.is_empty() && !self.error.contains(words)).then_some(words)
    }

    /// Returns the kind in words, if the diagnosis is sure enough.
    #[must_use]
    pub fn kind(&self) -> Option<&'static str> {
        Some(self.confident_diagnosis()?.kind.words())
    }
}

/// Picks the line that represents a failure: a one-line error itself, or the line that a diagnosis
/// quotes from a longer one. `None` if there is no such line.
pub fn headline<'t, L: From<&'t str> + AsRef<str>>(
    error: &'t str,
    quoted: impl FnOnce() -> Option<L>,
) -> Option<L> {
    let mut lines = error.lines().filter(|line| !line.trim().is_empty());
    if lines.nth(1).is_none() {
        return Some(error.into());
    }
    // A line without letters is just a number that a command printed.
    quoted().filter(|line| line.as_ref().contains(char::is_alphabetic))
}

/// An agent's report about a task that it could not finish. The keys are public: other tools read
/// and write this object.
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
    /// The agent's whole message, for context.
    pub raw_output: String,
}

impl TaskFailure {
    /// Used where the agent's block has no `Error:` line.
    pub const NO_ERROR: &str = "Task execution failed";
    /// Used where the agent does not say what it tried.
    pub const NO_ATTEMPTED_FIX: &str = "No fix attempted";
    /// Used where the agent names no status.
    pub const NO_STATUS: &str = "Unknown status";
    /// Used where the agent wrote no failure block.
    pub const NO_BLOCK: &str = "Task did not complete";
}

named_enum! {
    /// Who is asked for the cause of a failure that the rules are not sure of.
    #[derive(
        Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
    )]
    #[serde(rename_all = "snake_case")]
    pub enum DiagnosisAsk {
        /// No one.
        #[default]
        Off = "off",
        /// The agent that works on the tasks.
        Agent = "agent",
    }
}

named_enum! {
    /// The category of a failure, from the requester's point of view.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum FailureCategory {
        /// It hit a time limit.
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
    /// The condition for a successful retry of the same task.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum RetryMode {
        /// Nothing: the failure was transient.
        AsIs = "as_is",
        /// A mechanical repair of the environment.
        AfterRepair = "after_repair",
        /// A code change, which an agent can make.
        AfterFix = "after_fix",
        /// A decision, permission, secret or piece of information from a person.
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

/// How sure a diagnosis is, in hundredths; serialized as a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(into = "f64")]
pub struct Confidence(u8);

impl Confidence {
    /// Creates a confidence from hundredths, capped at 100.
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
            // `to_bits` gives floats a total order, and NaN comes out as 0.
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

/// Deserializes a fraction, including one wrapped in a map: serde_json with arbitrary precision
/// represents numbers inside tagged enums that way.
struct Fraction;

impl<'de> Visitor<'de> for Fraction {
    type Value = Confidence;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a fraction")
    }

    fn visit_f64<E: Error>(self, fraction: f64) -> Result<Confidence, E> {
        Ok(Confidence::from(fraction))
    }

    /// The only fractions that are whole numbers are 0 and 1.
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

    /// Journal events are tagged enums.
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
