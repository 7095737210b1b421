//! Rows that vanished, and where to put them back.

use std::collections::{BTreeMap, BTreeSet};

use regreen_model::TaskKey;

use super::matching::{blank_above, blank_from, is_task, next_task, own_lines, own_text, tasks_of};
use super::restore::Splices;
use super::{Matching, OriginalPlan, RevertedEdit, RowChange};
use crate::markdown::{LineKind, eol_of};
use crate::{RowId, TaskFile};

/// Rows of the plan that are missing from the agent's text.
#[derive(Debug, Default)]
pub(super) struct MissingRows {
    /// Rows that must not be missing for any reason.
    protected: Vec<usize>,
    pub(super) vanished: Vec<usize>,
    /// Rows that were put back before and that the agent removed again.
    pub(super) skipped: Vec<usize>,
}

impl MissingRows {
    /// Finds the rows missing from `current`, which is the agent's text with forbidden changes
    /// reverted. A row that disappeared only by reverting, along with the block that the agent had
    /// moved it into, isn't missing from the agent's text.
    pub(super) fn of(plan: &OriginalPlan<'_>, agents: &TaskFile, current: &TaskFile) -> Self {
        let matching = Matching::of(plan.before, current);
        let agents = Matching::of(plan.before, agents);
        let is_gone_again =
            |row: &usize| plan.put_back.contains(row) && agents.after(*row).is_none();
        let mut missing = Self::default();
        for row in tasks_of(plan.before).filter(|row| matching.after(*row).is_none()) {
            if plan.protected.contains(&row) {
                missing.protected.push(row);
            } else if is_gone_again(&row) {
                missing.skipped.push(row);
            } else {
                missing.vanished.push(row);
            }
        }
        missing
    }

    /// Whether more than half of the plan is missing, so that this is another plan.
    pub(super) fn is_most_of(&self, plan: &OriginalPlan<'_>) -> bool {
        2 * self.rows().len() > tasks_of(plan.before).count()
    }

    /// Whether a row that has to be put back still stands in the agent's text, as code or in a
    /// comment. Put back as well, it would stand there twice, and the next fence above it would
    /// make a second task of it.
    pub(super) fn are_hidden(&self, plan: &OriginalPlan<'_>, agents: &TaskFile) -> bool {
        // The plan itself may quote a row.
        let quoted = hidden_rows(plan.before);
        let hidden = hidden_rows(agents);
        let is_hidden = |row: &usize| {
            let row = plan.before.rows.get(*row);
            let words = row.and_then(|row| behind_box(line_text(plan.before, row.line)));
            words.is_some_and(|words| hidden.contains(words) && !quoted.contains(words))
        };
        self.rows().iter().any(is_hidden)
    }

    pub(super) fn reverted(&self, plan: &OriginalPlan<'_>) -> Vec<RevertedEdit> {
        let what = RowChange::Removed;
        let keys = plan.keys(&self.protected).into_iter();
        keys.map(|key| RevertedEdit { key, what }).collect()
    }

    /// Returns the rows to put back, in file order.
    fn rows(&self) -> Vec<usize> {
        let mut rows = [self.protected.as_slice(), &self.vanished].concat();
        rows.sort_unstable();
        rows
    }
}

/// Returns the text without new rows that have the id or the title of one that was removed for good:
/// who removed a row doesn't write another in its place. People put it back when nothing runs.
pub(super) fn without_added_again(plan: &OriginalPlan<'_>, current: TaskFile) -> TaskFile {
    if plan.lost.is_empty() {
        return current;
    }
    let matching = Matching::of(plan.before, &current);
    let is_titled =
        |lost: &TaskKey, key: &TaskKey| !lost.title.is_empty() && lost.title == key.title;
    let is_again = |at: &usize| {
        let key = current.key(RowId(*at));
        key.is_some_and(|key| {
            let mut lost = plan.lost.iter();
            lost.any(|lost| lost.id == key.id || is_titled(lost, &key))
        })
    };
    let new = tasks_of(&current).filter(|at| matching.before(*at).is_none());
    let mut splices = Splices::default();
    for at in new.filter(is_again) {
        let lines = own_lines(&current, at);
        let start = |line: usize| current.lines.get(line).map(|line| line.start);
        if let Some(from) = start(lines.start) {
            let to = start(lines.end).unwrap_or(current.text().len());
            splices.push(from..to, String::new());
        }
    }
    TaskFile::read(splices.applied_to(current.text()))
}

/// Returns the text with the missing rows put back, each at least `min_gap` blank lines from its
/// neighbours.
pub(super) fn put_back(
    plan: &OriginalPlan<'_>,
    current: &TaskFile,
    missing: &MissingRows,
    min_gap: usize,
) -> TaskFile {
    let rows = missing.rows();
    if rows.is_empty() {
        return current.clone();
    }
    let mut positions = Positions {
        before: plan.before,
        current,
        matching: Matching::of(plan.before, current),
        found: BTreeMap::new(),
    };
    let mut writer = Writer {
        before: plan.before,
        current,
        eol: eol_of(plan.before.text()),
        min_gap,
        splices: Splices::default(),
    };
    for row in rows {
        let place = positions.find(row);
        writer.insert(row, place);
        positions.found.insert(row, place);
    }
    TaskFile::read(writer.splices.applied_to(current.text()))
}

/// The position of a row: the line to insert it before, and the neighbour to separate it from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PutBackPosition {
    /// Below whatever precedes that line.
    Below(usize),
    /// Before the row on that line.
    Above(usize),
}

impl PutBackPosition {
    fn line(self) -> usize {
        match self {
            Self::Below(line) | Self::Above(line) => line,
        }
    }
}

struct Positions<'a> {
    before: &'a TaskFile,
    current: &'a TaskFile,
    matching: Matching,
    /// The positions of other missing rows.
    found: BTreeMap<usize, PutBackPosition>,
}

impl Positions<'_> {
    /// Puts the row after the one it used to follow. If a heading or text was in between, it goes
    /// after that; if that is gone too, it goes before the row it used to precede.
    fn find(&self, row: usize) -> PutBackPosition {
        let above = (0..row)
            .rev()
            .find(|above| is_task(self.before, *above) && self.is_there(*above));
        let Some(above) = above else {
            return self.first_place(row);
        };
        if let Some(place) = self.before_first_nested(row) {
            return place;
        }
        let place = self.after(above, row);
        let Some(text) = self.text_between(above, row) else {
            return self.below_its_gap(row, place);
        };
        self.line_below(place.line(), text)
            .map(|line| self.below_its_gap(row, PutBackPosition::Below(line + 1)))
            .or_else(|| self.before_next(row))
            .unwrap_or(place)
    }

    /// Moves the position below the blank lines that used to be above the row, if they are still
    /// there, so that the text becomes what it was.
    fn below_its_gap(&self, row: usize, place: PutBackPosition) -> PutBackPosition {
        let followers = std::iter::successors(self.follower(row), |row| self.follower(*row));
        let next = followers
            .filter_map(|next| self.matching.after(next))
            .next();
        let next = next.and_then(|next| self.current.rows.get(next));
        let (PutBackPosition::Below(line), Some(next), Some(row)) =
            (place, next, self.before.rows.get(row))
        else {
            return place;
        };
        let gap = blank_from(self.current, line);
        match line + gap == next.line && gap == blank_above(self.before, row.line) {
            true => PutBackPosition::Above(next.line),
            false => place,
        }
    }

    fn is_there(&self, row: usize) -> bool {
        self.matching.after(row).is_some() || self.found.contains_key(&row)
    }

    fn first_place(&self, row: usize) -> PutBackPosition {
        self.before_next(row).unwrap_or_else(|| {
            let first = tasks_of(self.current).next();
            match first.and_then(|first| self.current.rows.get(first)) {
                Some(first) => PutBackPosition::Above(first.line),
                None => PutBackPosition::Below(self.current.lines.len()),
            }
        })
    }

    /// Puts the row after an existing one: below its own lines if it contained the missing row,
    /// otherwise after the whole block of the neighbour on the same level.
    fn after(&self, above: usize, row: usize) -> PutBackPosition {
        if let Some(place) = self.found.get(&above) {
            return *place;
        }
        let parent = self.before.parent(RowId(row));
        let place = if parent == Some(RowId(above)) {
            let now = self.matching.after(above);
            now.map(|now| own_lines(self.current, now).end)
        } else {
            let level = std::iter::successors(Some(RowId(above)), |up| self.before.parent(*up))
                .find(|up| self.before.parent(*up) == parent)
                .and_then(|up| self.matching.after(up.0));
            let now = level.or(self.matching.after(above));
            now.and_then(|now| self.current.rows.get(now))
                .map(|now| now.block.end)
        };
        PutBackPosition::Below(place.unwrap_or(self.current.lines.len()))
    }

    /// Returns the last line between two rows of the original plan that belongs to neither.
    fn text_between(&self, above: usize, row: usize) -> Option<&str> {
        let row = self.before.rows.get(row)?;
        let last = row
            .line
            .checked_sub(blank_above(self.before, row.line) + 1)?;
        let end = self.before.rows.get(above)?.block.end;
        (last >= end).then(|| line_text(self.before, last))
    }

    /// Returns the line with this text before the next row.
    fn line_below(&self, from: usize, text: &str) -> Option<usize> {
        let is_row = |line: &usize| self.current.row_on_line(*line + 1).is_some();
        (from..self.current.lines.len())
            .take_while(|line| !is_row(line))
            .find(|line| line_text(self.current, *line) == text)
    }

    /// Puts the row before the first row that was nested in it, so that no other row keeps its
    /// children.
    fn before_first_nested(&self, row: usize) -> Option<PutBackPosition> {
        let nested = next_task(self.before, row)?;
        let is_nested = self.before.parent(RowId(nested)) == Some(RowId(row));
        let now = self.matching.after(nested).filter(|_| is_nested)?;
        Some(PutBackPosition::Above(self.current.rows.get(now)?.line))
    }

    /// Puts the row before the one that directly followed it, if that still exists with nothing in
    /// between.
    fn before_next(&self, row: usize) -> Option<PutBackPosition> {
        let now = self.matching.after(self.follower(row)?)?;
        Some(PutBackPosition::Above(self.current.rows.get(now)?.line))
    }

    /// Returns the row that directly followed, with nothing in between.
    fn follower(&self, row: usize) -> Option<usize> {
        let end = own_lines(self.before, row).end;
        let next = next_task(self.before, row)?;
        let line = self.before.rows.get(next)?.line;
        (line == end + blank_from(self.before, end)).then_some(next)
    }
}

/// Returns what stands behind the boxes of lines that are code or a comment.
fn hidden_rows(file: &TaskFile) -> BTreeSet<&str> {
    let is_hidden = |line: &usize| {
        let kind = file.lines.get(*line).map(|line| &line.kind);
        matches!(
            kind,
            Some(LineKind::FenceBody | LineKind::Comment | LineKind::IndentedCode)
        )
    };
    let lines = (0..file.lines.len()).filter(is_hidden);
    lines
        .filter_map(|line| behind_box(line_text(file, line)))
        .collect()
}

/// Returns the rest of a row behind its box, whichever mark that has.
fn behind_box(line: &str) -> Option<&str> {
    line.split_once(']').map(|(_, words)| words)
}

fn line_text(file: &TaskFile, line: usize) -> &str {
    let line = file.lines.get(line);
    line.and_then(|line| file.text().get(line.start..line.end))
        .map_or("", str::trim_end)
}

struct Writer<'a> {
    before: &'a TaskFile,
    current: &'a TaskFile,
    eol: &'static str,
    min_gap: usize,
    splices: Splices,
}

impl Writer<'_> {
    fn insert(&mut self, row: usize, place: PutBackPosition) {
        let own = own_text(self.before, row);
        let lines = own_lines(self.before, row);
        let gap = |blank: usize| self.eol.repeat(blank.max(self.min_gap));
        let (above, below) = match place {
            PutBackPosition::Below(_) => {
                (gap(blank_above(self.before, lines.start)), String::new())
            }
            PutBackPosition::Above(_) => (String::new(), gap(blank_from(self.before, lines.end))),
        };
        let eol = self.eol;
        let (at, text) = match self.current.lines.get(place.line()) {
            Some(line) => (line.start, format!("{above}{own}{eol}{below}")),
            // A text without a final line ending keeps having none.
            None if self.ends_inside_line() => {
                (self.current.text().len(), format!("{eol}{above}{own}"))
            }
            None => (self.current.text().len(), format!("{above}{own}{eol}")),
        };
        self.splices.push(at..at, text);
    }

    fn ends_inside_line(&self) -> bool {
        let last = self.current.lines.last();
        last.is_some_and(|last| last.next == last.end)
    }
}
