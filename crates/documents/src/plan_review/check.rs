//! The last look at a merged plan: it has what it must have, or it is not used.

use super::own_text::{block_lines, bytes_of, is_leaf, own_text, tasks_of};
use super::{Matching, Plan};
use crate::{RowId, TaskFile};

pub(super) fn holds(
    plan: &Plan<'_>,
    merged: &TaskFile,
    matching: &Matching,
    skipped: &[usize],
) -> bool {
    let is_whole = |row: usize| match matching.after(row) {
        Some(now) => !plan.protected.contains(&row) || same(plan, row, merged, now, matching),
        None => skipped.contains(&row),
    };
    tasks_of(plan.before).all(is_whole) && running_are_found(plan, merged, matching)
}

/// A protected row means what it meant, with the same bytes.
fn same(plan: &Plan<'_>, row: usize, merged: &TaskFile, now: usize, matching: &Matching) -> bool {
    let (Some(old), Some(new)) = (plan.before.rows.get(row), merged.rows.get(now)) else {
        return false;
    };
    let fixes = old.fix_of.and_then(|fixed| matching.after(fixed.0));
    old.done == new.done
        && old.kind == new.kind
        && old.numbered == new.numbered
        && (old.numbered || old.id == new.id)
        && old.title == new.title
        && fixes.map(RowId) == new.fix_of
        && own_text(plan.before, row) == own_text(merged, now)
        && (!is_leaf(plan.before, row) || block(plan.before, row) == block(merged, now))
}

fn block(file: &TaskFile, at: usize) -> Option<&str> {
    file.text().get(bytes_of(file, &block_lines(file, at)))
}

/// The names of the tasks that are being worked on still lead to them.
fn running_are_found(plan: &Plan<'_>, merged: &TaskFile, matching: &Matching) -> bool {
    plan.running.iter().all(|key| {
        let now = plan
            .before
            .resolve(key)
            .and_then(|row| matching.after(row.0));
        now.is_none() || merged.resolve(key) == now.map(RowId)
    })
}
