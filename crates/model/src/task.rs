use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{TaskId, named_enum};

/// One row of a task file with its block, as far as regreen understands it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// `None` for checklist items, which have no id.
    pub id: Option<TaskId>,
    /// 0 for the first row with this id.
    pub occurrence: u32,
    /// The 1-based line number of the row.
    pub line: usize,
    /// Its title.
    pub title: String,
    /// Whether its box is ticked.
    pub done: bool,
    /// The kind of row.
    pub kind: TaskKind,
    /// Whether it runs only on request; rows of an optional group are optional too.
    pub optional: bool,
    /// Its markers.
    pub markers: Vec<Marker>,
    /// The task it fixes, if it is a fix.
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

    /// Returns whether it fixes another task.
    #[must_use]
    pub fn is_fix(&self) -> bool {
        self.fix_of.is_some()
    }

    /// Returns whether it has a `[VERIFY]` marker.
    #[must_use]
    pub fn is_verify(&self) -> bool {
        self.markers.iter().any(|m| matches!(m, Marker::Verify(_)))
    }

    /// Returns whether it has a `[RED]` marker.
    #[must_use]
    pub fn is_red(&self) -> bool {
        self.markers.contains(&Marker::Red)
    }
}

/// Identifies a task across changes to the file, which a position could not.
///
/// An id may occur twice, so a key also has the occurrence and the title.
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
    /// The kind of a row, which decides how regreen handles it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum TaskKind {
        /// Run it.
        Task = "task",
        /// Tick it when the tasks below it are done; never run it.
        Group = "group",
        /// Run it only on request.
        Optional = "optional",
        /// Show it; never run or tick it.
        Checklist = "checklist",
    }
}

/// The fields of a task's block as written: inline text first, then the lines below it without
/// their common indent. Any field may be missing.
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
    /// The Service field: a program that runs for the tasks that follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// The Ready field: a check that passes once the service is ready.
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
    /// `[P]`: may run in parallel with its neighbours.
    Parallel,
    /// `[VERIFY]`, optionally with a subject: `[VERIFY:API]`.
    Verify(Option<String>),
    /// `[RED]`: a test that fails first.
    Red,
    /// `[GREEN]`: makes that test pass.
    Green,
    /// `[YELLOW]`: cleans up.
    Yellow,
    /// `[FIX 1.3]`. A bare `[FIX]` names no task, so its row isn't a fix.
    Fix(Option<TaskId>),
    /// `[US1]`, `[US3+US4]`, `[US-A1]`: the user story it belongs to.
    Story(String),
}

impl Marker {
    /// Parses the text between the brackets; `None` if it is ordinary text.
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

/// Returns whether this is `US` and a number, optionally with a dash and letters before the number,
/// optionally several of these joined by `+`, `,` or `-`.
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
    /// The tool whose style a task file follows. It is detected, never configured, and affects only
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

/// Something in a file that regreen understood only in part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// The line number, 1-based.
    pub line: usize,
    /// One sentence for people.
    pub message: String,
}

impl Warning {
    /// Creates a warning about a line.
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
