//! Restores rows that must not change, and boxes that the agent ticked.

use std::collections::BTreeSet;
use std::ops::Range;

use regreen_model::TaskId;

use super::frozen::changed_aspect;
use super::matching::{
    blank_from, block_lines, bytes_of, is_leaf, own_lines, own_text, tasks_of, words,
};
use super::{Matching, OriginalPlan, RevertedEdit, RowChange};
use crate::TaskFile;
use crate::markdown::eol_of;

/// Returns the agent's text with its protected rows restored and copies of them removed.
///
/// A line that directly follows a row might be read as part of it, so a gap may be added.
pub(super) fn protected_rows(
    plan: &OriginalPlan<'_>,
    after: &TaskFile,
    min_gap: usize,
) -> (TaskFile, Vec<RevertedEdit>) {
    let matching = Matching::of(plan.before, after);
    let mut splices = Splices::default();
    let mut reverted = Vec::new();
    for row in tasks_of(plan.before) {
        let Some(now) = matching.after(row) else {
            continue;
        };
        let lines = if is_leaf(plan.before, row) {
            block_lines(after, now)
        } else {
            own_lines(after, now)
        };
        let (is, was) = (bytes_of(after, &lines), own_text(plan.before, row));
        if after.text().get(is.clone()) == Some(was) {
            continue;
        }
        let what = if plan.protected.contains(&row) {
            Some(row_change(plan, row, after, now))
        } else {
            changed_aspect((plan.before, row), (after, now), &matching).map(RowChange::Redefined)
        };
        if let Some(what) = what {
            reverted.extend(plan.key(row).map(|key| RevertedEdit { key, what }));
            let gap = missing_gap(plan, after, lines.end, min_gap);
            splices.push(is, format!("{was}{gap}"));
        }
    }
    for copy in copies(plan, after, &matching) {
        splices.push(with_gap(after, copy), String::new());
        let key = after.key(crate::RowId(copy));
        let what = RowChange::Duplicated;
        reverted.extend(key.map(|key| RevertedEdit { key, what }));
    }
    if reverted.is_empty() {
        return (after.clone(), reverted);
    }
    let text = splices.applied_to(after.text());
    (TaskFile::read(text), reverted)
}

/// Returns the line endings needed to make a gap above a line that has none.
fn missing_gap(plan: &OriginalPlan<'_>, after: &TaskFile, line: usize, min_gap: usize) -> String {
    let is_there = blank_from(after, line) >= min_gap || line >= after.lines.len();
    let missing = if is_there { 0 } else { min_gap };
    eol_of(plan.before.text()).repeat(missing)
}

fn row_change(plan: &OriginalPlan<'_>, row: usize, after: &TaskFile, now: usize) -> RowChange {
    let done = |file: &TaskFile, at: usize| file.rows.get(at).is_some_and(|row| row.done);
    let same_words = words(plan.before, row) == words(after, now);
    match (done(plan.before, row), done(after, now)) {
        (true, false) if same_words => RowChange::Unticked,
        (false, true) if same_words => RowChange::Ticked,
        _ => RowChange::Edited,
    }
}

/// Returns new rows with the id and title of another row: they are ambiguous, and so are the fixes
/// below them.
fn copies(plan: &OriginalPlan<'_>, after: &TaskFile, matching: &Matching) -> Vec<usize> {
    fn name(file: &TaskFile, at: usize) -> Option<(&TaskId, &str)> {
        let row = file.rows.get(at)?;
        Some((row.id.as_ref()?, row.title.as_str()))
    }
    let originals: BTreeSet<_> = tasks_of(plan.before)
        .filter_map(|at| name(plan.before, at))
        .collect();
    let has_own_id = |at: usize| after.rows.get(at).is_some_and(|row| !row.numbered);
    let is_copy = |at: &usize| {
        has_own_id(*at) && name(after, *at).is_some_and(|name| originals.contains(&name))
    };
    tasks_of(after)
        .filter(|at| matching.before(*at).is_none())
        .filter(is_copy)
        .collect()
}

/// Returns the bytes of a row's own lines and of the blank lines below them.
fn with_gap(file: &TaskFile, at: usize) -> Range<usize> {
    let lines = own_lines(file, at);
    let end = lines.end + blank_from(file, lines.end);
    let next = file
        .lines
        .get(end)
        .map_or(file.text().len(), |line| line.start);
    bytes_of(file, &lines).start..next
}

/// Returns the text with the original boxes, because the agent's ticks are claims.
pub(super) fn without_new_ticks(
    plan: &OriginalPlan<'_>,
    merged: TaskFile,
    matching: &Matching,
) -> TaskFile {
    let mut splices = Splices::default();
    for at in tasks_of(&merged) {
        let Some(row) = merged.rows.get(at).filter(|row| row.done) else {
            continue;
        };
        let was = matching.before(at);
        let was = was.and_then(|was| plan.before.rows.get(was));
        if was.is_some_and(|was| was.done) {
            continue;
        }
        let mark = was.and_then(|was| plan.before.text().get(was.box_at + 1..was.box_at + 2));
        let at = row.box_at + 1..row.box_at + 2;
        splices.push(at, mark.unwrap_or(" ").to_owned());
    }
    if splices.0.is_empty() {
        return merged;
    }
    TaskFile::read(splices.applied_to(merged.text()))
}

/// Replacements in one text, to be made together.
#[derive(Debug, Default)]
pub(super) struct Splices(Vec<(Range<usize>, String)>);

impl Splices {
    pub(super) fn push(&mut self, at: Range<usize>, with: String) {
        self.0.push((at, with));
    }

    /// Returns the text with all replacements made. One that lies inside an earlier one is dropped;
    /// insertions at the same position keep their order.
    pub(super) fn applied_to(mut self, text: &str) -> String {
        self.0
            .sort_by_key(|(at, _)| (at.start, std::cmp::Reverse(at.end)));
        let mut result = String::with_capacity(text.len());
        let mut from = 0;
        for (at, with) in self.0 {
            if at.start < from {
                continue;
            }
            result.push_str(text.get(from..at.start).unwrap_or_default());
            result.push_str(&with);
            from = at.end;
        }
        result.push_str(text.get(from..).unwrap_or_default());
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outer_of_two_replacements_is_made_and_insertions_keep_their_order() {
        let mut splices = Splices::default();
        splices.push(4..5, "X".into());
        splices.push(1..3, "B".into());
        splices.push(1..2, "no".into());
        splices.push(5..5, "1".into());
        splices.push(5..5, "2".into());
        assert_eq!(splices.applied_to("abcdefg"), "aBdX12fg");
    }
}
