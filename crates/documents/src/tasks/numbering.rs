//! Which rows are tasks, their ids, and which task they fix.

use std::collections::{BTreeMap, BTreeSet};

use regreen_model::{TaskId, TaskKind, Warning};

use super::row::{Row, RowId};

/// Sets the ids, occurrences, lineage and kinds of all rows.
pub(crate) fn number_rows(rows: &mut [Row], warnings: &mut Vec<Warning>) {
    let is_fix = names_a_task(rows);
    let has_ids = has_ids(rows, &is_fix);
    if !has_ids {
        number(rows, &is_fix);
    }
    let places = lineage(rows, has_ids, &is_fix, warnings);
    for (row, place) in rows.iter_mut().zip(places) {
        row.fix_of = place.fix_of;
        row.depth = place.depth;
        row.occurrence = place.occurrence;
        if row.id.is_none() {
            row.kind = TaskKind::Checklist;
        }
    }
    settle_kinds(rows);
}

/// Returns which rows have a `[FIX …]` marker that names a task in this file, by id or by position.
fn names_a_task(rows: &[Row]) -> Vec<bool> {
    if !has_fixes(rows) {
        return vec![false; rows.len()];
    }
    let ids: BTreeSet<&TaskId> = rows.iter().filter_map(|row| row.id.as_ref()).collect();
    let is_position = |row: &&Row| row.id.is_none() && row.parent.is_none();
    let positions = rows.iter().filter(is_position).count();
    let exists = |target: &TaskId| {
        let position: Option<usize> = target.as_str().parse().ok();
        ids.contains(target) || position.is_some_and(|n| (1..=positions).contains(&n))
    };
    rows.iter()
        .map(|row| row.fix_target().is_some_and(exists))
        .collect()
}

/// Returns whether any row has a `[FIX …]` marker. Most files have none and skip the search.
fn has_fixes(rows: &[Row]) -> bool {
    rows.iter().any(|row| row.fix_target().is_some())
}

/// Numbers the top-level rows of a list without ids.
fn number(rows: &mut [Row], is_fix: &[bool]) {
    let unnamed =
        |(row, is_fix): &(&mut Row, &bool)| row.id.is_none() && row.parent.is_none() && !**is_fix;
    let originals = rows.iter_mut().zip(is_fix).filter(unnamed);
    for (at, (row, _)) in originals.enumerate() {
        row.id = Some(TaskId::from_position(at + 1));
        row.numbered = true;
    }
}

/// The relation of a row to others: the task it fixes, its depth in the chain of fixes, and its
/// occurrence among rows with the same id.
#[derive(Clone, Copy, Default)]
struct Lineage {
    fix_of: Option<RowId>,
    depth: u32,
    occurrence: u32,
}

fn lineage(
    rows: &[Row],
    has_ids: bool,
    is_fix: &[bool],
    warnings: &mut Vec<Warning>,
) -> Vec<Lineage> {
    let originals = first_originals(rows);
    let mut seen = IdUses::default();
    let mut places: Vec<Lineage> = Vec::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        // An id that comes from the position doesn't make the row a fix.
        let own_id = row.id.as_ref().filter(|_| !row.numbered);
        let is_fix = own_id.is_some() && is_fix.get(at).is_some_and(|is_fix| *is_fix);
        let fix_of = row
            .fix_target()
            .filter(|_| is_fix)
            .and_then(|target| find_fixed((at, row), target, has_ids, &seen, &originals));
        warn_of_lost_fix(row, own_id, fix_of, warnings);
        let uses = row
            .id
            .as_ref()
            .map(|id| seen.note(id, at, row.indent, fix_of.is_some()));
        if let (Some(id), Some(uses)) = (&row.id, uses) {
            warn_of_duplicate(rows, (id, row), uses, warnings);
        }
        let fixed = fix_of.map(|fixed| places.get(fixed.0).map_or(0, |fixed| fixed.depth));
        places.push(Lineage {
            fix_of,
            depth: fixed.map_or(0, |depth| depth + 1),
            occurrence: uses.map_or(0, |uses| uses.before),
        });
    }
    places
}

/// The uses of each id so far, in file order.
#[derive(Default)]
struct IdUses<'r> {
    by_id: BTreeMap<&'r TaskId, Uses>,
    /// The nearest originals above, outermost first. Anything further right than a later one is out
    /// of reach.
    originals: Vec<InsertPosition>,
}

/// The rows with one id.
#[derive(Clone, Copy)]
struct Uses {
    first: usize,
    last: usize,
    /// The number of rows before the last.
    before: u32,
}

#[derive(Clone, Copy)]
struct InsertPosition {
    row: usize,
    indent: usize,
}

impl<'r> IdUses<'r> {
    /// Records a use of the id. Returns the uses so far, including this one.
    fn note(&mut self, id: &'r TaskId, row: usize, indent: usize, is_fix: bool) -> Uses {
        if !is_fix {
            self.originals.retain(|above| above.indent < indent);
            self.originals.push(InsertPosition { row, indent });
        }
        let again = |uses: &mut Uses| {
            uses.last = row;
            uses.before = uses.before.saturating_add(1);
        };
        let only = Uses {
            first: row,
            last: row,
            before: 0,
        };
        *self.by_id.entry(id).and_modify(again).or_insert(only)
    }

    /// Returns the nearest original above that isn't further right.
    fn original_above(&self, indent: usize) -> Option<usize> {
        let reachable = self
            .originals
            .iter()
            .rev()
            .find(|above| above.indent <= indent);
        reachable.or(self.originals.first()).map(|above| above.row)
    }

    fn nearest(&self, id: &TaskId) -> Option<usize> {
        self.by_id.get(id).map(|uses| uses.last)
    }
}

/// Returns whether the file numbers its tasks: two originals have ids of one shape. Words like `S3`
/// look like ids too, so ids with a single digit must also differ.
fn has_ids(rows: &[Row], is_fix: &[bool]) -> bool {
    let mut first_of_shape: BTreeMap<&str, &TaskId> = BTreeMap::new();
    let originals = rows.iter().zip(is_fix).filter(|(_, is_fix)| !**is_fix);
    originals.filter_map(|(row, _)| row.id.as_ref()).any(|id| {
        let shape = letters(id);
        let first = first_of_shape.insert(shape, id);
        let is_word = !shape.is_empty() && id.as_str().len() == shape.len() + 1;
        first.is_some_and(|first| !is_word || first != id)
    })
}

/// Returns the first original with each id, for fixes that come before the task they fix.
fn first_originals(rows: &[Row]) -> BTreeMap<&TaskId, usize> {
    let mut first = BTreeMap::new();
    if !has_fixes(rows) {
        return first;
    }
    for (at, row) in rows.iter().enumerate() {
        if let Some(id) = row.id.as_ref().filter(|_| row.fix_target().is_none()) {
            first.entry(id).or_insert(at);
        }
    }
    first
}

/// Returns the common letters of ids with one shape; see [`IdShape`](regreen_model::IdShape).
pub(crate) fn letters(id: &TaskId) -> &str {
    let text = id.as_str();
    let digit = text.bytes().position(|b| b.is_ascii_digit());
    &text[..digit.unwrap_or(text.len())]
}

/// Returns the row that the row at `at` fixes.
///
/// Searches upwards, nearest first, so that no chain of fixes can be circular; only an original may
/// also come after its fix.
fn find_fixed(
    (at, row): (usize, &Row),
    target: &TaskId,
    has_ids: bool,
    seen: &IdUses<'_>,
    originals: &BTreeMap<&TaskId, usize>,
) -> Option<RowId> {
    if has_ids {
        let below = originals.get(target).copied().filter(|row| *row > at);
        return seen.nearest(target).or(below).map(RowId);
    }
    // Positions shift when people add rows above: the fix belongs to the nearest original, or to a
    // fix of it.
    let original = seen.original_above(row.indent)?;
    let fix = seen.nearest(target).filter(|fix| *fix > original);
    Some(RowId(fix.unwrap_or(original)))
}

fn warn_of_lost_fix(
    row: &Row,
    own_id: Option<&TaskId>,
    fix_of: Option<RowId>,
    warnings: &mut Vec<Warning>,
) {
    if let (Some(target), None) = (row.fix_target(), fix_of) {
        let problem = match own_id {
            Some(_) => format!("no task {target} in this file; read as an ordinary task"),
            None => "the row has no id of its own; read as a checklist item".to_owned(),
        };
        let message = format!("[FIX {target}] {problem}");
        warnings.push(Warning::new(row.line + 1, message));
    }
}

fn warn_of_duplicate(
    rows: &[Row],
    (id, row): (&TaskId, &Row),
    uses: Uses,
    warnings: &mut Vec<Warning>,
) {
    if uses.before > 0 {
        let first = rows.get(uses.first).map_or(0, |first| first.line + 1);
        let message = format!("the id {id} is also used on line {first}");
        warnings.push(Warning::new(row.line + 1, message));
    }
}

/// A row with tasks nested below it is a group; everything below an optional row is optional; a fix
/// is optional if the task it fixes is.
fn settle_kinds(rows: &mut [Row]) {
    for at in 0..rows.len() {
        let Some(row) = rows.get(at) else { continue };
        let above = [row.parent, row.fix_of];
        let inherited = above
            .iter()
            .flatten()
            .any(|above| rows.get(above.0).is_some_and(|r| r.optional));
        let makes_group = row.is_task() && row.fix_of.is_none();
        let parent = row.parent;
        if let Some(row) = rows.get_mut(at) {
            row.optional |= inherited;
        }
        if makes_group {
            mark_groups(rows, parent);
        }
    }
    for row in rows.iter_mut() {
        if row.optional && row.kind == TaskKind::Task {
            row.kind = TaskKind::Optional;
        }
    }
}

/// Marks the nearest task above as a group, along with everything it is nested in.
fn mark_groups(rows: &mut [Row], mut above: Option<RowId>) {
    while let Some(row) = above.and_then(|above| rows.get_mut(above.0)) {
        if row.kind == TaskKind::Group {
            return;
        }
        if row.is_task() {
            row.kind = TaskKind::Group;
        }
        above = row.parent;
    }
}
