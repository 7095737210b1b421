//! Which rows are tasks, what they are called, and whose fixes they are.

use std::collections::{BTreeMap, BTreeSet};

use regreen_model::{IdShape, TaskId, TaskKind, Warning};

use super::row::{Row, RowId};

/// Settles ids, occurrences, lineage and kinds of all rows.
pub(crate) fn settle(rows: &mut [Row], warnings: &mut Vec<Warning>) {
    let has_ids = has_ids(rows);
    let mut seen = Seen::default();
    let mut position = 0;
    for at in 0..rows.len() {
        let fix_of = find_fixed(rows, at, has_ids, &seen);
        let Some(row) = rows.get_mut(at) else {
            continue;
        };
        row.fix_of = fix_of.filter(|_| row.id.is_some());
        warn_of_lost_fix(row, warnings);
        if row.id.is_none() && !has_ids && row.parent.is_none() {
            position += 1;
            row.id = Some(TaskId::from_position(position));
            row.numbered = true;
        }
        match row.id.clone() {
            Some(id) => row.occurrence = seen.note(id, at, row.indent, row.fix_of.is_some()),
            None => row.kind = TaskKind::Checklist,
        }
        settle_depth(rows, at);
    }
    warn_of_duplicates(rows, &seen, warnings);
    settle_kinds(rows);
}

/// Where each id has been seen so far, from the top.
#[derive(Default)]
struct Seen {
    by_id: BTreeMap<TaskId, Vec<usize>>,
    /// The nearest originals above, outermost first: what is further right than a later
    /// one is out of reach.
    originals: Vec<Place>,
}

#[derive(Clone, Copy)]
struct Place {
    row: usize,
    indent: usize,
}

impl Seen {
    /// Gives how often the id was seen before.
    fn note(&mut self, id: TaskId, row: usize, indent: usize, is_fix: bool) -> u32 {
        if !is_fix {
            self.originals.retain(|above| above.indent < indent);
            self.originals.push(Place { row, indent });
        }
        let places = self.by_id.entry(id).or_default();
        places.push(row);
        u32::try_from(places.len() - 1).unwrap_or(u32::MAX)
    }

    /// The nearest original above that is not further right.
    fn original_above(&self, indent: usize) -> Option<usize> {
        let reachable = self
            .originals
            .iter()
            .rev()
            .find(|above| above.indent <= indent);
        reachable.or(self.originals.first()).map(|above| above.row)
    }

    fn nearest(&self, id: &TaskId) -> Option<usize> {
        self.by_id.get(id)?.last().copied()
    }
}

/// Whether the file numbers its tasks: two originals with ids of one shape. Words like `S3`
/// look like ids too, so lettered ones must also differ from each other.
fn has_ids(rows: &[Row]) -> bool {
    let mut by_shape: BTreeMap<IdShape, (usize, BTreeSet<&TaskId>)> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.fix_target().is_none()) {
        if let Some(id) = &row.id {
            let (count, ids) = by_shape.entry(id.shape()).or_default();
            *count += 1;
            ids.insert(id);
        }
    }
    by_shape
        .iter()
        .any(|(shape, (count, ids))| *count >= 2 && (shape.is_numeric() || ids.len() >= 2))
}

/// The row that the row at `at` fixes.
///
/// Looked for upwards, nearest first, so that no chain of fixes can go round in circles;
/// only an original may also stand below its fix.
fn find_fixed(rows: &[Row], at: usize, has_ids: bool, seen: &Seen) -> Option<RowId> {
    let row = rows.get(at)?;
    let target = row.fix_target()?;
    if has_ids {
        let found = seen.nearest(target).or_else(|| {
            let is_target =
                |row: &Row| row.id.as_ref() == Some(target) && row.fix_target().is_none();
            let below = rows.iter().skip(at + 1).position(is_target)?;
            Some(at + 1 + below)
        });
        return found.map(RowId);
    }
    // Positions shift when people add rows above: the nearest original is the one meant,
    // or a fix of it.
    let original = seen.original_above(row.indent)?;
    let fix = seen.nearest(target).filter(|fix| *fix > original);
    Some(RowId(fix.unwrap_or(original)))
}

fn warn_of_lost_fix(row: &Row, warnings: &mut Vec<Warning>) {
    if let (Some(target), None) = (row.fix_target(), row.fix_of) {
        let problem = match row.id {
            Some(_) => format!("no task {target} in this file: read as an ordinary task"),
            None => "the row has no id of its own: read as a checklist item".to_owned(),
        };
        warnings.push(Warning::new(
            row.line + 1,
            format!("[FIX {target}] {problem}"),
        ));
    }
}

fn settle_depth(rows: &mut [Row], at: usize) {
    let parent = rows.get(at).and_then(|row| row.fix_of);
    let depth = parent
        .and_then(|parent| rows.get(parent.0))
        .map(|parent| parent.depth + 1);
    if let (Some(row), Some(depth)) = (rows.get_mut(at), depth) {
        row.depth = depth;
    }
}

fn warn_of_duplicates(rows: &[Row], seen: &Seen, warnings: &mut Vec<Warning>) {
    for (id, places) in seen.by_id.iter().filter(|(_, places)| places.len() > 1) {
        let mut lines = places
            .iter()
            .filter_map(|at| rows.get(*at))
            .map(|row| row.line + 1);
        let first = lines.next().unwrap_or_default();
        for line in lines {
            warnings.push(Warning::new(
                line,
                format!("the id {id} is also used on line {first}"),
            ));
        }
    }
}

/// A row with tasks nested below it is a group; what is below an optional row is optional;
/// a fix is as optional as what it fixes.
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

/// Makes the nearest task above a group, and with it whatever it is nested in.
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
