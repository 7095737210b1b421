//! Matches the rows of two texts, and extracts what a row says itself.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use regreen_model::TaskId;

use crate::TaskFile;
use crate::tasks::Row;

/// Pairs of tasks in two texts. Every task has at most one partner.
pub(super) struct Matching {
    to_after: Vec<Option<usize>>,
    to_before: Vec<Option<usize>>,
}

impl Matching {
    /// Pairs equal tasks first, then less and less similar ones. An id written in the file
    /// identifies a task; where ids come from positions, the title comes first.
    pub(super) fn of(before: &TaskFile, after: &TaskFile) -> Self {
        let mut matching = Self {
            to_after: vec![None; before.rows.len()],
            to_before: vec![None; after.rows.len()],
        };
        let files = (before, after);
        matching.pair(files, |file, at| {
            Some((given_id(file, at), own_text(file, at).to_owned()))
        });
        matching.pair(files, |file, at| {
            Some((given_id(file, at), words(file, at)))
        });
        matching.pair(files, |file, at| {
            Some((given_id(file, at), title(file, at)))
        });
        matching.pair(files, given_id);
        // A new id doesn't make it another task, nor does the first id in a list that had none.
        matching.pair(files, |file, at| {
            Some(title(file, at)).filter(|title| !title.is_empty())
        });
        matching.pair(files, position);
        matching
    }

    pub(super) fn after(&self, before: usize) -> Option<usize> {
        self.to_after.get(before).copied().flatten()
    }

    pub(super) fn before(&self, after: usize) -> Option<usize> {
        self.to_before.get(after).copied().flatten()
    }

    /// Pairs rows that have no partner yet and the same name; among several, first with first.
    fn pair<'t, N: Ord>(
        &mut self,
        (before, after): (&'t TaskFile, &'t TaskFile),
        name: impl Fn(&'t TaskFile, usize) -> Option<N>,
    ) {
        let mut free: BTreeMap<N, VecDeque<usize>> = BTreeMap::new();
        for at in tasks_of(after).filter(|at| self.before(*at).is_none()) {
            if let Some(name) = name(after, at) {
                free.entry(name).or_default().push_back(at);
            }
        }
        if free.is_empty() {
            return;
        }
        for at in tasks_of(before) {
            if self.after(at).is_some() {
                continue;
            }
            let partner = name(before, at).and_then(|name| free.get_mut(&name)?.pop_front());
            if let Some(partner) = partner {
                self.join(at, partner);
            }
        }
    }

    fn join(&mut self, before: usize, after: usize) {
        if let (Some(to_after), Some(to_before)) =
            (self.to_after.get_mut(before), self.to_before.get_mut(after))
        {
            *to_after = Some(after);
            *to_before = Some(before);
        }
    }
}

/// Returns the id written in the file.
fn given_id(file: &TaskFile, at: usize) -> Option<&TaskId> {
    let row = file.rows.get(at)?;
    row.id.as_ref().filter(|_| !row.numbered)
}

/// Returns the id that comes only from the position.
fn position(file: &TaskFile, at: usize) -> Option<&TaskId> {
    let row = file.rows.get(at)?;
    row.id.as_ref().filter(|_| row.numbered)
}

fn title(file: &TaskFile, at: usize) -> String {
    file.rows
        .get(at)
        .map(|row| row.title.clone())
        .unwrap_or_default()
}

/// Returns whether the row has an id.
pub(super) fn is_task(file: &TaskFile, at: usize) -> bool {
    file.rows.get(at).is_some_and(Row::is_task)
}

/// Returns the indexes of all rows that have an id.
pub(super) fn tasks_of(file: &TaskFile) -> impl Iterator<Item = usize> {
    (0..file.rows.len()).filter(|at| is_task(file, *at))
}

/// Returns the next row that has an id, nested or not.
pub(super) fn next_task(file: &TaskFile, at: usize) -> Option<usize> {
    (at + 1..file.rows.len()).find(|next| is_task(file, *next))
}

/// Returns whether no task is nested below the row.
pub(super) fn is_leaf(file: &TaskFile, at: usize) -> bool {
    first_nested(file, at).is_none()
}

/// Returns the line of the first task nested below the row.
fn first_nested(file: &TaskFile, at: usize) -> Option<usize> {
    let end = file.rows.get(at)?.block.end;
    let below = file.rows.get(at + 1..)?.iter();
    below
        .take_while(|row| row.line < end)
        .find(|row| row.is_task())
        .map(|row| row.line)
}

/// Returns the lines from the row to the first task below it or to the end of its block.
pub(super) fn own_lines(file: &TaskFile, at: usize) -> Range<usize> {
    let Some(row) = file.rows.get(at) else {
        return 0..0;
    };
    let end = first_nested(file, at).unwrap_or(row.block.end);
    let is_text = |line: &usize| file.lines.get(*line).is_some_and(|line| !line.is_blank());
    let last = (row.line..end).rev().find(is_text).unwrap_or(row.line);
    row.line..last + 1
}

pub(super) fn block_lines(file: &TaskFile, at: usize) -> Range<usize> {
    file.rows.get(at).map_or(0..0, |row| row.block.clone())
}

/// Returns the bytes of some lines, without the last line's ending.
pub(super) fn bytes_of(file: &TaskFile, lines: &Range<usize>) -> Range<usize> {
    let start = file.lines.get(lines.start).map_or(0, |line| line.start);
    let last = lines
        .end
        .checked_sub(1)
        .and_then(|last| file.lines.get(last));
    start..last.map_or(start, |line| line.end).max(start)
}

pub(super) fn own_text(file: &TaskFile, at: usize) -> &str {
    let bytes = bytes_of(file, &own_lines(file, at));
    file.text().get(bytes).unwrap_or_default()
}

/// Returns the text of a row regardless of its tick and its line endings.
pub(super) fn words(file: &TaskFile, at: usize) -> String {
    let bytes = bytes_of(file, &own_lines(file, at));
    let mark = file.rows.get(at).map_or(bytes.start, |row| row.box_at + 1);
    let text = file.text();
    let (head, tail) = (text.get(bytes.start..mark), text.get(mark + 1..bytes.end));
    let words = format!("{} {}", head.unwrap_or_default(), tail.unwrap_or_default());
    words.replace("\r\n", "\n").replace('\r', "\n")
}

/// Returns how many blank lines are directly above a line.
pub(super) fn blank_above(file: &TaskFile, line: usize) -> usize {
    let above = file.lines.get(..line).unwrap_or_default();
    above
        .iter()
        .rev()
        .take_while(|line| line.is_blank())
        .count()
}

/// Returns how many blank lines start at a line.
pub(super) fn blank_from(file: &TaskFile, line: usize) -> usize {
    let below = file.lines.get(line..).unwrap_or_default();
    below.iter().take_while(|line| line.is_blank()).count()
}
