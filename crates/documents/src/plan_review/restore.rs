//! Restores rows that are done or being worked on.

use std::ops::Range;

use super::matching::{
    blank_from, block_lines, bytes_of, is_leaf, own_lines, own_text, tasks_of, words,
};
use super::{Matching, OriginalPlan, RevertedEdit, Tampering};
use crate::TaskFile;
use crate::markdown::eol_of;

/// Returns the agent's text with the protected rows that are in it as they were, and without copies
/// of them.
///
/// What follows a row directly might be read as part of it, so it may be set apart.
pub(super) fn protected_rows(
    plan: &OriginalPlan<'_>,
    after: TaskFile,
    min_gap: usize,
) -> (TaskFile, Vec<RevertedEdit>) {
    let matching = Matching::of(plan.before, &after);
    let mut splices = Splices::default();
    let mut reverted = Vec::new();
    for row in &plan.protected {
        let Some(now) = matching.after(*row) else {
            continue;
        };
        let lines = if is_leaf(plan.before, *row) {
            block_lines(&after, now)
        } else {
            own_lines(&after, now)
        };
        let (is, was) = (bytes_of(&after, &lines), own_text(plan.before, *row));
        if after.text().get(is.clone()) != Some(was) {
            let what = tampering(plan, *row, &after, now);
            reverted.extend(plan.key(*row).map(|key| RevertedEdit { key, what }));
            let gap = missing_gap(plan, &after, lines.end, min_gap);
            splices.push(is, format!("{was}{gap}"));
        }
    }
    for copy in copies(plan, &after, &matching) {
        splices.push(with_gap(&after, copy), String::new());
        let key = after.key(crate::RowId(copy));
        let what = Tampering::Duplicated;
        reverted.extend(key.map(|key| RevertedEdit { key, what }));
    }
    if reverted.is_empty() {
        return (after, reverted);
    }
    let text = splices.applied_to(after.text());
    (TaskFile::read(text), reverted)
}

/// Returns the line endings that make a gap below a line's predecessor where there is none.
fn missing_gap(plan: &OriginalPlan<'_>, after: &TaskFile, line: usize, min_gap: usize) -> String {
    let is_there = blank_from(after, line) >= min_gap || line >= after.lines.len();
    let missing = if is_there { 0 } else { min_gap };
    eol_of(plan.before.text()).repeat(missing)
}

fn tampering(plan: &OriginalPlan<'_>, row: usize, after: &TaskFile, now: usize) -> Tampering {
    let done = |file: &TaskFile, at: usize| file.rows.get(at).is_some_and(|row| row.done);
    let same_words = words(plan.before, row) == words(after, now);
    match (done(plan.before, row), done(after, now)) {
        (true, false) if same_words => Tampering::Unticked,
        (false, true) if same_words => Tampering::Ticked,
        _ => Tampering::Edited,
    }
}

/// Returns new rows with the id and the title of a protected one, which are ambiguous, and so
/// are the fixes below them.
fn copies(plan: &OriginalPlan<'_>, after: &TaskFile, matching: &Matching) -> Vec<usize> {
    let is_copy = |at: &usize| {
        let Some(row) = after.rows.get(*at).filter(|row| !row.numbered) else {
            return false;
        };
        plan.protected.iter().any(|protected| {
            let original = plan.before.rows.get(*protected);
            original.is_some_and(|original| original.id == row.id && original.title == row.title)
        })
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

/// Replacements of parts of one text, to be made together.
#[derive(Debug, Default)]
pub(super) struct Splices(Vec<(Range<usize>, String)>);

impl Splices {
    pub(super) fn push(&mut self, at: Range<usize>, with: String) {
        self.0.push((at, with));
    }

    /// Returns the text with all of them made. What lies inside another that starts before it is
    /// left out; insertions at one place keep their order.
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
