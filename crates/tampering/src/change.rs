//! A file before and after an attempt, and the lines in which it differs.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::sign::{Sign, TamperSign};

/// A file that an attempt changed.
#[derive(Clone, Copy, Debug)]
pub struct FileChange<'a> {
    /// Its path, relative to the workspace.
    pub path: &'a str,
    /// Its text before the attempt; `None` if it did not exist or is no text.
    pub before: Option<&'a str>,
    /// Its text after the attempt; `None` if it does not exist or is no text.
    pub after: Option<&'a str>,
}

/// A line with its number, counted from 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) number: u32,
    pub(crate) text: &'a str,
}

/// Lines that were replaced by others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hunk<'a> {
    pub(crate) removed: Vec<Line<'a>>,
    pub(crate) added: Vec<Line<'a>>,
}

/// A changed file, compared line by line.
#[derive(Clone, Debug)]
pub(crate) struct Edited<'a> {
    pub(crate) path: &'a str,
    pub(crate) before: &'a str,
    pub(crate) after: &'a str,
    pub(crate) is_new: bool,
    pub(crate) is_gone: bool,
    pub(crate) hunks: Vec<Hunk<'a>>,
}

/// Files with more lines are not compared: nobody writes checks of this size by hand.
const MAX_LINES: usize = 20_000;

impl<'a> Edited<'a> {
    pub(crate) fn new(change: &FileChange<'a>) -> Option<Self> {
        if change.before.is_none() && change.after.is_none() {
            return None;
        }
        let before = change.before.unwrap_or_default();
        let after = change.after.unwrap_or_default();
        let (old, new): (Vec<&str>, Vec<&str>) =
            (before.lines().collect(), after.lines().collect());
        if old.len().max(new.len()) > MAX_LINES {
            return None;
        }
        Some(Self {
            path: change.path,
            before,
            after,
            is_new: change.before.is_none(),
            is_gone: change.after.is_none(),
            hunks: hunks(&old, &new),
        })
    }

    /// Returns the lines that only the file after the attempt has.
    pub(crate) fn added(&self) -> impl Iterator<Item = Line<'a>> + '_ {
        self.hunks
            .iter()
            .flat_map(|hunk| hunk.added.iter().copied())
    }

    /// Returns the lines that only the file before the attempt has.
    pub(crate) fn removed(&self) -> impl Iterator<Item = Line<'a>> + '_ {
        self.hunks
            .iter()
            .flat_map(|hunk| hunk.removed.iter().copied())
    }

    /// Returns the extension of the file's name, or an empty text.
    pub(crate) fn extension(&self) -> &'a str {
        let name = self.file_name();
        name.rsplit_once('.').map_or("", |(_, extension)| extension)
    }

    pub(crate) fn file_name(&self) -> &'a str {
        self.path
            .rsplit_once('/')
            .map_or(self.path, |(_, name)| name)
    }

    pub(crate) fn sign_at(&self, sign: Sign, line: Line<'_>) -> TamperSign {
        TamperSign {
            path: self.path.to_owned(),
            line: Some(line.number),
            sign,
            text: line.text.trim().to_owned(),
        }
    }

    pub(crate) fn sign_of_loss(&self, sign: Sign, text: &str) -> TamperSign {
        TamperSign {
            path: self.path.to_owned(),
            line: None,
            sign,
            text: text.trim().to_owned(),
        }
    }
}

fn hunks<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Hunk<'a>> {
    let mut hunks = Vec::new();
    let mut is_open = false;
    for op in capture_diff_slices(Algorithm::Patience, old, new) {
        if let DiffOp::Equal { .. } = op {
            is_open = false;
            continue;
        }
        if !is_open {
            hunks.push(Hunk::default());
            is_open = true;
        }
        if let Some(hunk) = hunks.last_mut() {
            hunk.removed.extend(numbered(old, op.old_range()));
            hunk.added.extend(numbered(new, op.new_range()));
        }
    }
    hunks
}

fn numbered<'a>(
    lines: &[&'a str],
    range: std::ops::Range<usize>,
) -> impl Iterator<Item = Line<'a>> {
    let first = u32::try_from(range.start).unwrap_or(u32::MAX);
    let lines = lines.get(range).unwrap_or_default().to_vec();
    lines.into_iter().zip(1..).map(move |(text, at)| Line {
        number: first.saturating_add(at),
        text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_differ_are_numbered_on_both_sides() {
        let change = FileChange {
            path: "a.py",
            before: Some("one\ntwo\nthree\n"),
            after: Some("one\n2\nthree\nfour\n"),
        };
        let edited = Edited::new(&change).unwrap();
        let told = |line: Line<'_>| format!("{} {}", line.number, line.text);
        assert_eq!(edited.removed().map(told).collect::<Vec<_>>(), ["2 two"]);
        assert_eq!(
            edited.added().map(told).collect::<Vec<_>>(),
            ["2 2", "4 four"]
        );
        assert_eq!(edited.extension(), "py");
    }
}
