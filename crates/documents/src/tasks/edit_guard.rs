//! The last check of an edit before it is written: if it does anything else than intended, it is
//! refused.

use std::ops::Range;

use regreen_model::NewTask;
use thiserror::Error;

use super::edit::Splice;
use super::row::{Row, RowBox, RowId};
use super::task_file::TaskFile;

/// The intended effect of an insertion: one more row at this index, outside every block except
/// those that `beside` is nested in. If it is a fix, it fixes `near`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Insertion<'t> {
    pub(crate) at: usize,
    pub(crate) beside: RowId,
    pub(crate) near: RowId,
    pub(crate) task: &'t NewTask,
}

/// An unintended effect of an edit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GuardError {
    /// It would change other bytes.
    #[error("bytes outside the edit would change")]
    BytesOutside,
    /// It would replace something other than a box.
    #[error("the replaced text is not a box")]
    NoBox,
    /// The number of rows would be wrong.
    #[error("the file would have {actual} rows, not {expected}")]
    RowCount {
        /// How many rows there should be.
        expected: usize,
        /// How many rows there would be.
        actual: usize,
    },
    /// Another row would change.
    #[error("the row on line {line} would be read differently")]
    OtherRow {
        /// The line of that row, 1-based.
        line: usize,
    },
    /// The new row would not be read back as written.
    #[error("the new row would be read differently from what was written")]
    NewRow,
}

pub(crate) fn check_insertion(
    before: &TaskFile,
    after: &TaskFile,
    splice: &Splice,
    insertion: Insertion<'_>,
) -> Result<(), GuardError> {
    check_bytes(before.text(), after.text(), splice)?;
    let Insertion {
        at,
        beside,
        near,
        task,
    } = insertion;
    let expected = Expected::Row { at, beside };
    check_rows(before, after, splice, expected)?;
    let near = RowId(expected.moved(near.0));
    check_new_row(after, splice, RowId(at), task, near)
}

/// Checks that the mark in a box changed and nothing else, by parsing only the row's own line.
pub(crate) fn check_box(
    before: &TaskFile,
    after: &TaskFile,
    splice: &Splice,
    row: RowId,
) -> Result<(), GuardError> {
    check_bytes(before.text(), after.text(), splice)?;
    let old = before.row(row).ok_or(GuardError::NoBox)?;
    let new = after.row(row).ok_or(GuardError::NoBox)?;
    let is_mark = splice.at == (old.box_at + 1..old.box_at + 2) && splice.with.len() == 1;
    let (Some(was), Some(is)) = (box_of(before, old), box_of(after, new)) else {
        return Err(GuardError::NoBox);
    };
    let meant = RowBox {
        done: new.done,
        ..was
    };
    (is_mark && is == meant)
        .then_some(())
        .ok_or(GuardError::NoBox)
}

/// Checks the same by parsing the whole file again.
pub(crate) fn check_reading(
    before: &TaskFile,
    after: &TaskFile,
    splice: &Splice,
    row: RowId,
    done: bool,
) -> Result<(), GuardError> {
    check_rows(before, after, splice, Expected::Box { row, done })
}

fn box_of(file: &TaskFile, row: &Row) -> Option<RowBox> {
    let end = file.lines.get(row.line)?.end;
    RowBox::parse(file.text().get(row.box_at..end)?)
}

fn check_bytes(before: &str, after: &str, splice: &Splice) -> Result<(), GuardError> {
    let kept_end = before.len() - splice.at.end;
    let same_start = before.get(..splice.at.start) == after.get(..splice.at.start);
    let same_end = before.get(splice.at.end..) == after.get(after.len() - kept_end..);
    let same_length = after.len() == splice.at.start + splice.with.len() + kept_end;
    (same_start && same_end && same_length)
        .then_some(())
        .ok_or(GuardError::BytesOutside)
}

#[derive(Clone, Copy)]
enum Expected {
    Box { row: RowId, done: bool },
    Row { at: usize, beside: RowId },
}

impl Expected {
    /// Returns the index after the edit of the row now at `index`.
    fn moved(self, index: usize) -> usize {
        match self {
            Self::Row { at, .. } if index >= at => index + 1,
            _ => index,
        }
    }

    fn done(self, index: usize, row: &Row) -> bool {
        match self {
            Self::Box {
                row: RowId(changed),
                done,
            } if changed == index => done,
            _ => row.done,
        }
    }

    fn more_rows(self) -> usize {
        match self {
            Self::Row { .. } => 1,
            Self::Box { .. } => 0,
        }
    }
}

/// Checks that every old row reads as before, apart from the intended change.
fn check_rows(
    before: &TaskFile,
    after: &TaskFile,
    splice: &Splice,
    expected: Expected,
) -> Result<(), GuardError> {
    let count = before.rows.len() + expected.more_rows();
    if after.rows.len() != count {
        return Err(GuardError::RowCount {
            expected: count,
            actual: after.rows.len(),
        });
    }
    let enclosing = enclosing(before, expected);
    for (index, row) in before.rows.iter().enumerate() {
        let other = GuardError::OtherRow { line: row.line + 1 };
        let new = after.rows.get(expected.moved(index)).ok_or(other.clone())?;
        let may_grow = enclosing.contains(&RowId(index));
        let same = same_words(row, new, expected, index)
            && same_place((before, row), (after, new), splice, may_grow);
        if !same {
            return Err(other);
        }
    }
    Ok(())
}

/// Returns the rows whose blocks may grow.
fn enclosing(before: &TaskFile, expected: Expected) -> Vec<RowId> {
    let Expected::Row { beside, .. } = expected else {
        return Vec::new();
    };
    std::iter::successors(before.parent(beside), |row| before.parent(*row)).collect()
}

fn same_words(old: &Row, new: &Row, expected: Expected, index: usize) -> bool {
    let moved = |row: Option<RowId>| row.map(|row| RowId(expected.moved(row.0)));
    new.id == old.id
        && new.title == old.title
        && new.done == expected.done(index, old)
        && new.optional == old.optional
        && new.kind == old.kind
        && new.markers == old.markers
        && new.indent == old.indent
        && new.parent == moved(old.parent)
        && new.fix_of == moved(old.fix_of)
        && new.depth == old.depth
}

/// Returns whether the block has the same bytes, possibly moved.
fn same_place(
    (before, old): (&TaskFile, &Row),
    (after, new): (&TaskFile, &Row),
    splice: &Splice,
    may_grow: bool,
) -> bool {
    let (Some(old), Some(new)) = (byte_range(before, old), byte_range(after, new)) else {
        return false;
    };
    let growth = splice.with.len() - splice.at.len();
    let shift = if old.start >= splice.at.end {
        growth
    } else {
        0
    };
    new.start == old.start + shift && (may_grow || new.end == old.end + shift)
}

fn byte_range(file: &TaskFile, row: &Row) -> Option<Range<usize>> {
    let last = file.lines.get(row.block.end.checked_sub(1)?)?;
    Some(file.lines.get(row.block.start)?.start..last.end)
}

/// Checks that the new row is the intended task, and that its block is exactly what was written.
fn check_new_row(
    after: &TaskFile,
    splice: &Splice,
    row: RowId,
    task: &NewTask,
    near: RowId,
) -> Result<(), GuardError> {
    let found = after.row(row).ok_or(GuardError::NewRow)?;
    let written = splice.with.trim_matches(['\n', '\r']);
    let is_meant = found.id.as_ref() == Some(&task.id)
        && found.title == task.title.as_str()
        && found.markers == task.markers
        && !found.done
        && after.block(row) == Some(written)
        && found.fix_of == found.fix_target().map(|_| near);
    is_meant.then_some(()).ok_or(GuardError::NewRow)
}
