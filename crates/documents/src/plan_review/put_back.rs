//! Rows that are gone, and where they go back to.

use std::collections::BTreeMap;

use super::matching::{blank_above, blank_from, is_task, next_task, own_lines, own_text, tasks_of};
use super::restore::Splices;
use super::{Matching, OriginalPlan, RevertedEdit, RowChange};
use crate::markdown::eol_of;
use crate::{RowId, TaskFile};

/// Rows of the plan that the agent's text does not have.
#[derive(Debug, Default)]
pub(super) struct MissingRows {
    /// Rows that must not be missing, whatever the reason.
    protected: Vec<usize>,
    pub(super) vanished: Vec<usize>,
    /// Rows that were put back before and that the agent removed again.
    pub(super) skipped: Vec<usize>,
}

impl MissingRows {
    /// Finds the rows that `current` lacks, the agent's text with forbidden changes reverted. A row
    /// that only the reverting took out, with the block that the agent had moved it into, is not
    /// gone from the agent's text.
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

    /// A text that has lost more than half of the plan is another plan.
    pub(super) fn is_most_of(&self, plan: &OriginalPlan<'_>) -> bool {
        2 * self.rows().len() > tasks_of(plan.before).count()
    }

    pub(super) fn reverted(&self, plan: &OriginalPlan<'_>) -> Vec<RevertedEdit> {
        let what = RowChange::Removed;
        let keys = plan.keys(&self.protected).into_iter();
        keys.map(|key| RevertedEdit { key, what }).collect()
    }

    /// Returns the rows to be put back, from the top.
    fn rows(&self) -> Vec<usize> {
        let mut rows = [self.protected.as_slice(), &self.vanished].concat();
        rows.sort_unstable();
        rows
    }
}

/// Returns the text with the missing rows at their places, each at least `min_gap` blank lines
/// apart from what stands there.
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

/// Where a row goes: the line it is inserted before, and the neighbour it is separated from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PutBackPosition {
    /// After what is above that line.
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
    /// Where rows go that were missing as well.
    found: BTreeMap<usize, PutBackPosition>,
}

impl Positions<'_> {
    /// After the row it stood behind. If a heading or text stood in between, after that; if
    /// that is gone too, before the row it stood before.
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

    /// Returns the blank lines that stood above the row, if they still stand there, are its
    /// own again, so that the text becomes what it was.
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

    /// After a row that is there: below its own words if it held the missing one, else after
    /// all of the neighbour that stood on the same level.
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

    /// Returns the last line between two rows of the old plan that belongs to neither.
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

    /// Before the first row that was nested in it: others must not keep what was its own.
    fn before_first_nested(&self, row: usize) -> Option<PutBackPosition> {
        let nested = next_task(self.before, row)?;
        let is_nested = self.before.parent(RowId(nested)) == Some(RowId(row));
        let now = self.matching.after(nested).filter(|_| is_nested)?;
        Some(PutBackPosition::Above(self.current.rows.get(now)?.line))
    }

    /// Before the row that stood directly below, if it is there and nothing is in between.
    fn before_next(&self, row: usize) -> Option<PutBackPosition> {
        let now = self.matching.after(self.follower(row)?)?;
        Some(PutBackPosition::Above(self.current.rows.get(now)?.line))
    }

    /// Returns the row that stood directly below, with nothing in between.
    fn follower(&self, row: usize) -> Option<usize> {
        let end = own_lines(self.before, row).end;
        let next = next_task(self.before, row)?;
        let line = self.before.rows.get(next)?.line;
        (line == end + blank_from(self.before, end)).then_some(next)
    }
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
            // A text without a final line ending stays one.
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
