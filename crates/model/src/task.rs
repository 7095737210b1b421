use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{TaskId, named_enum};

/// One row of a task file with its block, as far as it was understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// `None` for checklist items, which have no name.
    pub id: Option<TaskId>,
    /// 0 for the first row with this id.
    pub occurrence: u32,
    /// 1-based, of the row itself.
    pub line: usize,
    /// Its title.
    pub title: String,
    /// Whether its box is ticked.
    pub done: bool,
    /// What regreen does with it.
    pub kind: TaskKind,
    /// Runs only when asked for; rows of an optional group are optional.
    pub optional: bool,
    /// Its markers.
    pub markers: Vec<Marker>,
    /// The task this one repairs, if it is a fix.
    pub fix_of: Option<TaskKey>,
    /// 0 for an original, 1 for its fix, 2 for the fix of a fix.
    pub depth: u32,
    /// The fields of its block.
    pub fields: Fields,
}

impl Task {
    /// Returns its key; `None` for checklist items.
    #[must_use]
    pub fn key(&self) -> Option<TaskKey> {
        Some(TaskKey {
            id: self.id.clone()?,
            occurrence: self.occurrence,
            title: self.title.clone(),
        })
    }

    /// Returns whether it repairs another task.
    #[must_use]
    pub fn is_fix(&self) -> bool {
        self.fix_of.is_some()
    }

    /// Returns whether it has a `[VERIFY]` marker.
    #[must_use]
    pub fn is_verify(&self) -> bool {
        self.markers.iter().any(|m| matches!(m, Marker::Verify(_)))
    }

    /// Returns whether it has the marker `[RED]`.
    #[must_use]
    pub fn is_red(&self) -> bool {
        self.markers.contains(&Marker::Red)
    }
}

/// The identity of a task, which survives changes of the file: never a position.
///
/// Ids may occur twice, so a key also has the occurrence and the title.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TaskKey {
    /// Its id.
    pub id: TaskId,
    /// 0 for the first row with this id.
    pub occurrence: u32,
    /// Its title.
    pub title: String,
}

impl fmt::Display for TaskKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.id)
    }
}

named_enum! {
    /// What regreen does with a row.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum TaskKind {
        /// Runs.
        Task = "task",
        /// Has tasks below it: ticked when they are done, never run itself.
        Group = "group",
        /// Runs only when asked for.
        Optional = "optional",
        /// Shown, never run, never ticked.
        Checklist = "checklist",
    }
}

/// The fields of a task's block as written: inline text first, then the lines below it
/// without their common indent. Any of them may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fields {
    /// The Do field.
    #[serde(rename = "do")]
    pub action: Option<String>,
    /// The Files field.
    pub files: Option<String>,
    /// The Done when field.
    pub done_when: Option<String>,
    /// The Verify field.
    pub verify: Option<String>,
    /// Further Verify fields of the same block: their commands must pass as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_verify: Vec<String>,
    /// The Commit field.
    pub commit: Option<String>,
    /// The Service field: what runs for the tasks that follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// The Ready field: what passes once the service is ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<String>,
}

impl Fields {
    /// Returns all Verify fields, in order.
    pub fn verify_fields(&self) -> impl Iterator<Item = &str> {
        let more = self.more_verify.iter();
        self.verify.iter().chain(more).map(String::as_str)
    }
}

/// A bracketed word before or after a row's id, without its brackets.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Marker {
    /// `[P]`: may run beside its neighbours.
    Parallel,
    /// `[VERIFY]`, also with what is verified: `[VERIFY:API]`.
    Verify(Option<String>),
    /// `[RED]`: a test that fails first.
    Red,
    /// `[GREEN]`: makes the test pass.
    Green,
    /// `[YELLOW]`: cleans up.
    Yellow,
    /// `[FIX 1.3]`; a bare `[FIX]` names nothing and makes no fix.
    Fix(Option<TaskId>),
    /// `[US1]`, `[US3+US4]`, `[US-A1]`: the user story it belongs to.
    Story(String),
}

impl Marker {
    /// Parses the text between the brackets; `None` for words that are just text.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "P" => Some(Self::Parallel),
            "VERIFY" => Some(Self::Verify(None)),
            "RED" => Some(Self::Red),
            "GREEN" => Some(Self::Green),
            "YELLOW" => Some(Self::Yellow),
            "FIX" => Some(Self::Fix(None)),
            _ => Self::parse_with_argument(word),
        }
    }

    /// Returns the task that a row with this marker fixes.
    #[must_use]
    pub fn fixes(&self) -> Option<&TaskId> {
        match self {
            Self::Fix(id) => id.as_ref(),
            _ => None,
        }
    }

    fn parse_with_argument(word: &str) -> Option<Self> {
        if let Some(id) = word.strip_prefix("FIX ") {
            return TaskId::parse(id.trim()).map(|id| Self::Fix(Some(id)));
        }
        if let Some(what) = word.strip_prefix("VERIFY:") {
            let is_word = !what.is_empty() && what.bytes().all(|b| b.is_ascii_alphanumeric());
            return is_word.then(|| Self::Verify(Some(what.to_owned())));
        }
        is_story(word).then(|| Self::Story(word.to_owned()))
    }
}

/// `US` and a number, perhaps a dash and letters before it, perhaps several joined by `+`,
/// `,` or `-`.
fn is_story(word: &str) -> bool {
    let one = |part: &str| {
        part.strip_prefix("US").is_some_and(|rest| {
            rest.bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'.')
                && rest.bytes().any(|b| b.is_ascii_digit())
        })
    };
    word.starts_with("US") && word.split(['+', ',', '/']).map(str::trim).all(one)
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parallel => f.write_str("P"),
            Self::Verify(None) => f.write_str("VERIFY"),
            Self::Verify(Some(what)) => write!(f, "VERIFY:{what}"),
            Self::Red => f.write_str("RED"),
            Self::Green => f.write_str("GREEN"),
            Self::Yellow => f.write_str("YELLOW"),
            Self::Fix(None) => f.write_str("FIX"),
            Self::Fix(Some(id)) => write!(f, "FIX {id}"),
            Self::Story(story) => f.write_str(story),
        }
    }
}

impl From<Marker> for String {
    fn from(marker: Marker) -> Self {
        marker.to_string()
    }
}

impl TryFrom<String> for Marker {
    type Error = String;

    fn try_from(word: String) -> Result<Self, Self::Error> {
        Self::parse(&word).ok_or_else(|| format!("`[{word}]` is not a marker"))
    }
}

named_enum! {
    /// The tool whose style a task file has. It is recognised, never configured: it changes
    /// messages, not how rows are read.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Dialect {
        /// smart-ralph.
        SmartRalph = "smart-ralph",
        /// GitHub's spec-kit.
        SpecKit = "spec-kit",
        /// OpenSpec.
        #[serde(rename = "openspec")]
        OpenSpec = "openspec",
        /// Kiro.
        Kiro = "kiro",
        /// Any other list of checkboxes.
        Plain = "plain",
    }
}

/// Something in a file that was understood only in part, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// 1-based.
    pub line: usize,
    /// One sentence for people.
    pub message: String,
}

impl Warning {
    /// Makes a warning about a line.
    #[must_use]
    pub fn new(line: usize, message: impl Into<String>) -> Self {
        Self {
            line,
            message: message.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_marker_reads_back_as_it_is_written() {
        for word in [
            "P",
            "VERIFY",
            "VERIFY:API",
            "RED",
            "GREEN",
            "YELLOW",
            "FIX",
            "FIX 1.3",
            "FIX T012.1",
            "US1",
            "US-A1",
            "US3+US4",
        ] {
            let marker = Marker::parse(word).unwrap_or_else(|| panic!("{word} is a marker"));
            assert_eq!(marker.to_string(), word);
        }
    }

    #[test]
    fn words_that_are_not_markers_stay_text() {
        for word in [
            "",
            "x",
            "p",
            "POC",
            "GITO",
            "FIX the bug",
            "VERIFY:",
            "USER",
            "US",
            "1.3",
        ] {
            assert_eq!(Marker::parse(word), None, "{word}");
        }
    }
}
