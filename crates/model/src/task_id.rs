use std::fmt;

use serde::{Deserialize, Serialize};

/// Longer tokens are ordinary words, whatever they look like.
const MAX_LEN: usize = 64;

/// The id of a task: `1`, `1.3`, `6.0b`, `T012`, `V4`, `VF`, `US-001`, `G-09.1`.
///
/// An id is one token, not a path: `1.1` is not a prefix of `1.10`, and a fix refers to its task by
/// its `[FIX …]` marker, never by its id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct TaskId(String);

/// The common part of the ids in one numbering scheme: the letters before the first digit. For
/// dotted numbers of any depth it is empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IdShape(String);

impl IdShape {
    /// Returns whether rows are numbered `1`, `1.1`, … rather than `T001`, ….
    #[must_use]
    pub fn is_numeric(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the letters before the first digit.
    #[must_use]
    pub fn letters(&self) -> &str {
        &self.0
    }
}

impl TaskId {
    /// Parses one token; `None` if it is an ordinary word.
    #[must_use]
    pub fn parse(token: &str) -> Option<Self> {
        (token.len() <= MAX_LEN && is_id(token)).then(|| Self(token.to_owned()))
    }

    /// Returns the id of the `n`th row in a list without ids.
    #[must_use]
    pub fn from_position(n: usize) -> Self {
        Self(n.to_string())
    }

    /// Returns the id of this task's `n`th child, which is a fix or a part.
    #[must_use]
    pub fn child(&self, n: u32) -> Self {
        Self(format!("{}.{n}", self.0))
    }

    /// Returns the number of a child: for `1.3`, `Some(2)` if the child is `1.3.2`.
    #[must_use]
    pub fn child_number(&self, child: &Self) -> Option<u32> {
        let number = child.0.strip_prefix(&self.0)?.strip_prefix('.')?;
        number
            .bytes()
            .all(|b| b.is_ascii_digit())
            .then(|| number.parse().ok())?
    }

    /// Returns the shape of its numbering scheme.
    #[must_use]
    pub fn shape(&self) -> IdShape {
        let letters = self.0.split(|c: char| c.is_ascii_digit()).next();
        IdShape(letters.unwrap_or_default().to_owned())
    }

    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_id(token: &str) -> bool {
    let mut parts = token.split('.');
    let Some(head) = parts.next() else {
        return false;
    };
    let dotted = token.len() > head.len();
    is_head(head, dotted) && parts.all(is_part)
}

/// Returns whether this can be the part of an id before the first dot.
fn is_head(head: &str, dotted: bool) -> bool {
    if head.bytes().next().is_some_and(|b| b.is_ascii_digit()) {
        let (_, letters) = split_digits(head);
        // `3x` and `2d` are words; `1a.2` is an id.
        return letters.is_empty() || (dotted && is_suffix(letters));
    }
    head == "VF" || is_lettered(head)
}

/// Returns whether this is `T012`, `VE2`, `US-001`, `P1-2` or `C1-FIX`: segments of capitals and
/// digits joined by dashes, with at least one digit.
fn is_lettered(head: &str) -> bool {
    head.bytes().any(|b| b.is_ascii_digit()) && head.split('-').all(is_segment)
}

fn is_segment(segment: &str) -> bool {
    let rest = segment.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let (digits, suffix) = split_digits(rest);
    match (segment.is_empty(), suffix.is_empty()) {
        (true, _) => false,
        (false, true) => true,
        // `T012A` is an id; `E2E`, `A11Y` and `K8s` are words.
        (false, false) => {
            is_suffix(suffix)
                || (digits.len() >= 3
                    && suffix.len() == 1
                    && suffix.bytes().all(|b| b.is_ascii_uppercase()))
        }
    }
}

/// Returns whether this can be the part of an id after a dot: `3`, `0b`, `X`, `V1`, `VE2`.
fn is_part(part: &str) -> bool {
    let rest = part.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let capitals = part.len() - rest.len();
    let (digits, suffix) = split_digits(rest);
    let has_content = capitals + digits.len() > 0;
    has_content && capitals <= 2 && (suffix.is_empty() || (!digits.is_empty() && is_suffix(suffix)))
}

fn is_suffix(letters: &str) -> bool {
    letters.len() == 1 && letters.bytes().all(|b| matches!(b, b'a'..=b'h'))
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text.split_at(end)
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl From<TaskId> for String {
    fn from(id: TaskId) -> Self {
        id.0
    }
}

impl TryFrom<String> for TaskId {
    type Error = String;

    fn try_from(token: String) -> Result<Self, Self::Error> {
        Self::parse(&token).ok_or_else(|| format!("`{token}` is not a task id"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id(token: &str) -> TaskId {
        TaskId::parse(token).unwrap_or_else(|| panic!("{token} is an id"))
    }

    #[test]
    fn the_ids_of_all_dialects_are_ids() {
        for token in [
            "1", "12", "1.3", "1.3.1", "1.3.1.1", "6.0b", "1a.2", "1.X", "T012", "T012a", "T012A",
            "V4", "V4b", "VE2", "VF", "VF.1", "US-001", "US-001.2", "G-09.1", "AC-1", "P1-2",
            "C1-FIX", "V-P1", "BUG-001",
        ] {
            assert_eq!(id(token).as_str(), token);
        }
    }

    #[test]
    fn words_are_not_ids() {
        for token in [
            "",
            "Add",
            "CI",
            "All",
            "3x",
            "2d",
            "100%",
            "E2E",
            "A11Y",
            "K8s",
            "TXXX",
            "1.",
            ".1",
            "1..2",
            "T-",
            "-1",
            "2024-01-15",
            "v1.2",
            "src/a.rs",
            "1.3:",
            "e.g",
            "OAuth2",
            "３",
        ] {
            assert_eq!(TaskId::parse(token), None, "{token}");
        }
        assert_eq!(TaskId::parse(&"1".repeat(MAX_LEN + 1)), None);
    }

    #[test]
    fn one_numbering_has_one_shape() {
        assert_eq!(id("1.3").shape(), id("6.0b").shape());
        assert_eq!(id("T001").shape(), id("T012a").shape());
        assert_ne!(id("T001").shape(), id("V1").shape());
        assert!(id("2").shape().is_numeric());
    }

    #[test]
    fn a_longer_number_is_not_a_child() {
        assert_eq!(id("1.3").child_number(&id("1.3.2")), Some(2));
        assert_eq!(id("1.1").child_number(&id("1.10")), None);
        assert_eq!(id("1.3").child_number(&id("1.3.2.1")), None);
        assert_eq!(id("T1").child_number(&id("T12")), None);
    }

    proptest! {
        #[test]
        fn a_child_is_an_id_of_its_parent_and_of_no_other(
            a in "[1-9][0-9]{0,2}(\\.[1-9][0-9]{0,2}){0,3}",
            b in "[1-9][0-9]{0,2}(\\.[1-9][0-9]{0,2}){0,3}",
            n in 1_u32..1000,
        ) {
            let child = id(&a).child(n);
            prop_assert_eq!(id(&a).child_number(&child), Some(n));
            prop_assert!(TaskId::parse(child.as_str()).is_some());
            prop_assert_eq!(id(&b).child_number(&child).is_some(), a == b);
        }

        #[test]
        fn any_text_is_read_without_panic(token in "\\PC*") {
            let _ = TaskId::parse(&token);
        }
    }
}
