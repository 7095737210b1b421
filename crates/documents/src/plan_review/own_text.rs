//! What a row says itself, without the tasks nested below it.

use std::ops::Range;

use crate::TaskFile;
use crate::tasks::Row;

/// Whether the row has a name.
pub(super) fn is_task(file: &TaskFile, at: usize) -> bool {
    file.rows.get(at).is_some_and(Row::is_task)
}

/// The places of all rows that have a name.
pub(super) fn tasks_of(file: &TaskFile) -> impl Iterator<Item = usize> {
    (0..file.rows.len()).filter(|at| is_task(file, *at))
}

/// The next row that has a name, nested or not.
pub(super) fn next_task(file: &TaskFile, at: usize) -> Option<usize> {
    (at + 1..file.rows.len()).find(|next| is_task(file, *next))
}

/// Whether no other task is nested below the row.
pub(super) fn is_leaf(file: &TaskFile, at: usize) -> bool {
    first_nested(file, at).is_none()
}

/// The line of the first task nested below the row.
fn first_nested(file: &TaskFile, at: usize) -> Option<usize> {
    let end = file.rows.get(at)?.block.end;
    let below = file.rows.get(at + 1..)?.iter();
    below
        .take_while(|row| row.line < end)
        .find(|row| row.is_task())
        .map(|row| row.line)
}

/// The lines from the row to the first task below it or to the end of its block.
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

/// The bytes of some lines, without the last line's ending.
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

/// What a row says, whether it is ticked or not and whatever ends its lines.
pub(super) fn words(file: &TaskFile, at: usize) -> String {
    let bytes = bytes_of(file, &own_lines(file, at));
    let mark = file.rows.get(at).map_or(bytes.start, |row| row.box_at + 1);
    let text = file.text();
    let (head, tail) = (text.get(bytes.start..mark), text.get(mark + 1..bytes.end));
    let words = format!("{} {}", head.unwrap_or_default(), tail.unwrap_or_default());
    words.replace("\r\n", "\n").replace('\r', "\n")
}

/// How many blank lines stand directly above a line.
pub(super) fn blank_above(file: &TaskFile, line: usize) -> usize {
    let above = file.lines.get(..line).unwrap_or_default();
    above
        .iter()
        .rev()
        .take_while(|line| line.is_blank())
        .count()
}

/// How many blank lines start at a line.
pub(super) fn blank_from(file: &TaskFile, line: usize) -> usize {
    let below = file.lines.get(line..).unwrap_or_default();
    below.iter().take_while(|line| line.is_blank()).count()
}
