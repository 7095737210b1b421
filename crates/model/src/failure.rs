use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::{FailureKind, RepairAction, TaskId, named_enum};

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

/// Below this a diagnosis only knows that something failed.
const TOLD: Confidence = Confidence::percent(40);

/// Why an attempt failed: what events, orders, prompts and rows carry of a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureRecord {
    /// What went wrong, in the agent's words or ours.
    pub error: String,
    pub attempted_fix: String,
    /// The cause that the diagnosis found.
    #[serde(default)]
    pub diagnosis: Option<Box<Failure>>,
}

impl FailureRecord {
    /// A failure of which only the error is known.
    #[must_use]
    pub fn new(error: impl Into<String>) -> Self {
        Self {
            error: error.into(),
            ..Self::default()
        }
    }

    /// What stands in the way, as one would say it: what was said in one line is taken as it
    /// is, of more than that the diagnosis chooses the line.
    #[must_use]
    pub fn cause(&self) -> &str {
        let is_short = !self.error.trim().contains('\n');
        let diagnosis = self.diagnosis.as_ref().filter(|_| !is_short);
        let blocker = diagnosis.and_then(|failure| failure.blocked_on.as_deref());
        // A line without a word is what a command counted: it says nothing by itself.
        blocker
            .filter(|line| line.contains(char::is_alphabetic))
            .unwrap_or(&self.error)
    }

    /// What the diagnosis says, if it is sure enough to be told.
    #[must_use]
    pub fn told(&self) -> Option<&Failure> {
        let found = self.diagnosis.as_deref();
        found.filter(|found| found.confidence >= TOLD)
    }

    /// Its kind in words, if that can be told.
    #[must_use]
    pub fn kind(&self) -> Option<&'static str> {
        Some(self.told()?.kind.words())
    }
}

/// What an agent said about a task it could not finish. Its keys are public: other tools
/// read and write this object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskFailure {
    pub task_id: TaskId,
    pub failed: bool,
    pub error: String,
    pub attempted_fix: String,
    pub status: String,
    /// Everything the agent said, for context.
    pub raw_output: String,
}

impl TaskFailure {
    /// Said where the agent's block has no `Error:` line.
    pub const NO_ERROR: &str = "Task execution failed";
    /// Said where the agent does not say what it tried.
    pub const NO_ATTEMPTED_FIX: &str = "No fix attempted";
    pub const NO_STATUS: &str = "Unknown status";
    /// Said where there is no block at all.
    pub const NO_BLOCK: &str = "Task did not complete";
}

named_enum! {
    /// What sort of failure it was, seen from the one who gave the task.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum FailureCategory {
        /// A time limit ended it.
        Timeout = "timeout",
        /// Something only the requester knows was not said.
        MissingContext = "missing_context",
        /// A tool, the environment or the code stood in the way.
        ToolError = "tool_error",
        /// Nobody could do it as it was asked, or the agent will not.
        InvalidTask = "invalid_task",
        /// Part of the work is done, then something blocked the rest.
        Partial = "partial",
    }
}

named_enum! {
    /// What must happen before the same task can succeed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum RetryMode {
        /// Nothing: it was passing trouble.
        AsIs = "as_is",
        /// A mechanical repair of the environment.
        AfterRepair = "after_repair",
        /// A change of the code, which an agent can make.
        AfterFix = "after_fix",
        /// A decision, a right, a secret or information from a person.
        AfterHuman = "after_human",
        /// It cannot ever work.
        Never = "never",
    }
}

impl RetryMode {
    /// Whether the task can be tried again without a person.
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
    /// More than 100 counts as 100.
    #[must_use]
    pub const fn percent(percent: u8) -> Self {
        Self(if percent > 100 { 100 } else { percent })
    }

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

/// Reads a fraction, also where it comes as the map in which JSON of any precision hands over a
/// number that it has kept for later, as it does inside of tagged enums.
struct Fraction;

impl<'de> Visitor<'de> for Fraction {
    type Value = Confidence;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a fraction")
    }

    fn visit_f64<E: Error>(self, fraction: f64) -> Result<Confidence, E> {
        Ok(Confidence::from(fraction))
    }

    /// Nothing else is whole.
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
        write!(f, "{} %", self.0)
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
    fn it_survives_inside_of_a_tagged_enum() {
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

    #[test]
    fn fractions_out_of_range_are_drawn_to_its_ends() {
        assert_eq!(Confidence::from(7.0).as_percent(), 100);
        assert_eq!(Confidence::from(-7.0).as_percent(), 0);
        assert_eq!(Confidence::from(f64::NAN).as_percent(), 0);
    }
}
