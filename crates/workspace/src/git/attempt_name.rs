use std::fmt::Write as _;

use regreen_model::{TaskId, TaskKey};

/// The prefix of all references that regreen owns.
const PREFIX: &str = "refs/regreen/";

/// The name of an attempt: its run, task and number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptName {
    /// The id of the run.
    pub run: String,
    /// The id of the task.
    pub task: TaskId,
    /// 0 for the first row with this id.
    pub occurrence: u32,
    /// The number of the attempt, counted from 1.
    pub attempt: u32,
}

/// Whether a snapshot was taken before or after the attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SnapshotSide {
    /// Before the attempt.
    Before,
    /// After the attempt.
    After,
}

impl SnapshotSide {
    fn word(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }
}

impl AttemptName {
    /// Names an attempt at `task`.
    #[must_use]
    pub fn new(run: &str, task: &TaskKey, attempt: u32) -> Self {
        Self {
            run: run.to_owned(),
            task: task.id.clone(),
            occurrence: task.occurrence,
            attempt,
        }
    }

    /// Returns whether it is an attempt at `task`.
    #[must_use]
    pub fn is_of(&self, task: &TaskKey) -> bool {
        self.task == task.id && self.occurrence == task.occurrence
    }

    /// Returns the reference that keeps this attempt's snapshot.
    #[must_use]
    pub fn reference(&self, side: SnapshotSide) -> String {
        let mut name = run_prefix(&self.run);
        push_part(&mut name, self.task.as_str());
        if self.occurrence > 0 {
            let _infallible = write!(name, "+{}", self.occurrence);
        }
        let _infallible = write!(name, "/{}/{}", self.attempt, side.word());
        name
    }

    /// Parses a reference; `None` if it isn't one of regreen's.
    #[must_use]
    pub fn parse(reference: &str) -> Option<(Self, SnapshotSide)> {
        let mut parts = reference.strip_prefix(PREFIX)?.split('/');
        let run = decoded(parts.next()?)?;
        let task = parts.next()?;
        let (task, occurrence) = match task.split_once('+') {
            Some((task, occurrence)) => (task, occurrence.parse().ok()?),
            None => (task, 0),
        };
        let name = Self {
            run,
            task: TaskId::parse(&decoded(task)?)?,
            occurrence,
            attempt: parts.next()?.parse().ok()?,
        };
        let side = match parts.next()? {
            "before" => SnapshotSide::Before,
            "after" => SnapshotSide::After,
            _ => return None,
        };
        parts.next().is_none().then_some((name, side))
    }
}

/// Returns the prefix of all references of a run, or of all runs.
pub(super) fn reference_prefix(run: Option<&str>) -> String {
    run.map_or_else(|| PREFIX.to_owned(), run_prefix)
}

fn run_prefix(run: &str) -> String {
    let mut name = PREFIX.to_owned();
    push_part(&mut name, run);
    name.push('/');
    name
}

/// Appends a text as one component of a reference name. Git restricts characters and the position
/// of dots, so all but the harmless ones are percent-encoded.
fn push_part(name: &mut String, text: &str) {
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let next_is_plain = bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        match byte {
            b'-' if at > 0 => name.push('-'),
            b'.' if at > 0 && next_is_plain => name.push('.'),
            byte if byte.is_ascii_alphanumeric() || *byte == b'_' => name.push(char::from(*byte)),
            byte => {
                let _infallible = write!(name, "%{byte:02x}");
            }
        }
    }
}

fn decoded(part: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut pieces = part.split('%');
    bytes.extend_from_slice(pieces.next()?.as_bytes());
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name(run: &str, task: &str, occurrence: u32) -> AttemptName {
        AttemptName {
            run: run.to_owned(),
            task: TaskId::parse(task).unwrap(),
            occurrence,
            attempt: 2,
        }
    }

    #[test]
    fn plain_names_stay_readable_in_references() {
        assert_eq!(
            name("20261116-1", "1.3.1", 0).reference(SnapshotSide::Before),
            "refs/regreen/20261116-1/1.3.1/2/before"
        );
        assert_eq!(
            name("a b/../x", "US-001", 1).reference(SnapshotSide::After),
            "refs/regreen/a%20b%2f%2e%2e%2fx/US-001+1/2/after"
        );
    }

    #[test]
    fn other_references_are_not_ours() {
        for other in [
            "refs/heads/main",
            "refs/regreen/x",
            "refs/regreen/r/1.3/1/later",
            "refs/regreen/r/1.3/1/after/more",
            "refs/regreen/r/hello/1/after",
        ] {
            assert_eq!(AttemptName::parse(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn references_round_trip_and_are_valid_in_git(
            run in "\\PC{1,20}", task in "(T0?|US-|)[1-9](\\.[0-9]{1,2}){0,3}", occurrence in 0_u32..3
        ) {
            let name = name(&run, &task, occurrence);
            let reference = name.reference(SnapshotSide::After);
            prop_assert_eq!(AttemptName::parse(&reference), Some((name, SnapshotSide::After)));
            let forbidden = |c: char| c.is_control() || " ~^:?*[\\@{".contains(c);
            prop_assert!(!reference.contains(forbidden) && !reference.contains(".."));
            prop_assert!(!reference.contains("/.") && !reference.contains("./") && !reference.contains(".lock"));
        }
    }
}
