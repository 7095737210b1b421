//! New rows: where they go, and how they are spaced.

use regreen_model::{Marker, NewTask};

use super::edit::{Change, EditError, Splice};
use super::edit_guard::Insertion;
use super::render::{self, RowStyle};
use super::row::RowId;
use super::task_file::TaskFile;
use crate::markdown::{FenceMark, eol_of};

/// More blank lines than this between tasks are an accident, not a style.
const MAX_GAP: usize = 2;

/// The position of a new row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertPosition {
    /// After the row's block and its last fix.
    After(RowId),
    /// Directly before the row.
    Before(RowId),
}

impl InsertPosition {
    fn row(self) -> RowId {
        match self {
            Self::After(row) | Self::Before(row) => row,
        }
    }
}

/// Blank lines around a new row.
#[derive(Clone, Copy)]
struct Gap {
    /// Between it and the row it is placed next to.
    near: usize,
    /// On its other side.
    far: usize,
}

impl Gap {
    fn of(near: usize) -> Self {
        Self { near, far: 0 }
    }

    fn at_least_one(self) -> Self {
        Self {
            near: self.near.max(1),
            ..self
        }
    }

    fn around(self) -> Self {
        Self { far: 1, ..self }
    }
}

impl TaskFile {
    /// Inserts a task. If a row with that id already fixes the same task, nothing changes.
    ///
    /// # Errors
    /// Returns an error if the position is unknown, the id belongs to another task, or the edit
    /// would do anything but add one row there.
    pub fn insert(&self, task: &NewTask, place: InsertPosition) -> Result<Change, EditError> {
        let row = self.row(place.row()).ok_or(EditError::NoSuchRow)?;
        if !row.is_task() {
            return Err(EditError::Checklist);
        }
        if let Some(existing) = self.rows_with_id(&task.id).next() {
            let fixed = task.markers.iter().find_map(Marker::fixes);
            let is_same = self
                .row(existing)
                .is_some_and(|row| row.fix_target() == fixed);
            return if is_same {
                Ok(Change::Unchanged)
            } else {
                Err(EditError::IdTaken(task.id.clone()))
            };
        }
        self.insert_with_fallbacks(task, place).map(Change::Edited)
    }

    /// Tries the file's own spacing; then a blank line before the task, because a numbered row
    /// can't directly follow text; then one after it as well, because text could continue it; then
    /// copied fields on one line each. If text further left precedes the position, also tries the
    /// indent of the surrounding rows, including the next one.
    fn insert_with_fallbacks(
        &self,
        task: &NewTask,
        place: InsertPosition,
    ) -> Result<Self, EditError> {
        let own = Gap::of(self.gap(place));
        let on_one_line = on_one_line(task);
        let ways = [
            (task, own),
            (task, own.at_least_one()),
            (task, own.at_least_one().around()),
            (&on_one_line, own.at_least_one().around()),
        ];
        let mut styles = self.styles(self.neighbour(place));
        styles.extend(self.styles_around(place));
        let mut refusal = EditError::NoSuchRow;
        for (beside, style) in &styles {
            for (task, gap) in ways {
                match self.insert_with(task, place, (*beside, style), gap) {
                    Ok(edited) => return Ok(edited),
                    Err(error) => refusal = error,
                }
            }
        }
        Err(refusal)
    }

    fn insert_with(
        &self,
        task: &NewTask,
        place: InsertPosition,
        (beside, style): (RowId, &RowStyle),
        gap: Gap,
    ) -> Result<Self, EditError> {
        let lines = render::task(task, style);
        let (splice, at) = match place {
            InsertPosition::After(row) => self.after(self.last_of(row), &lines, gap, style.eol),
            InsertPosition::Before(row) => self.before(row, &lines, gap, style.eol),
        }
        .ok_or(EditError::NoSuchRow)?;
        let near = place.row();
        let insertion = Insertion {
            at,
            beside,
            near,
            task,
        };
        self.inserted(&splice, insertion)
    }

    /// Returns the row whose indent and bullet a new row takes: the task itself, unless its last
    /// fix is further left and would swallow the new row.
    fn neighbour(&self, place: InsertPosition) -> RowId {
        let row = place.row();
        let indent = |row: RowId| self.row(row).map(|row| row.indent);
        match place {
            InsertPosition::After(_) if indent(self.last_of(row)) < indent(row) => {
                self.last_of(row)
            }
            _ => row,
        }
    }

    /// Returns the last row that belongs to a task: itself or its last fix. Fixes that someone
    /// moved below another task don't count, nor do those below another row with the same id: a fix
    /// there would be read as that row's.
    fn last_of(&self, row: RowId) -> RowId {
        let ends = |row: RowId| self.row(row).map_or(0, |row| row.block.end);
        let mut namesakes = self
            .id(row)
            .into_iter()
            .flat_map(|id| self.rows_with_id(id));
        let next = namesakes.find(|other| *other > row);
        self.all_fixes(row)
            .filter(|fix| self.parent(*fix) == self.parent(row))
            .filter(|fix| next.is_none_or(|next| *fix < next))
            .chain([row])
            .max_by_key(|row| ends(*row))
            .unwrap_or(row)
    }

    fn after(&self, row: RowId, lines: &str, gap: Gap, eol: &str) -> Option<(Splice, usize)> {
        let end = self.row(row)?.block.end;
        let last = self.lines.get(end.checked_sub(1)?)?;
        let at = self.rows.partition_point(|row| row.line < end);
        let (above, below) = (eol.repeat(gap.near), eol.repeat(gap.far));
        // A file without a final line ending keeps having none.
        let (offset, with) = if last.next > last.end {
            (last.next, format!("{above}{lines}{eol}{below}"))
        } else {
            (last.end, format!("{eol}{above}{lines}"))
        };
        Some((splice_at(offset, with), at))
    }

    fn before(&self, row: RowId, lines: &str, gap: Gap, eol: &str) -> Option<(Splice, usize)> {
        let offset = self.lines.get(self.row(row)?.line)?.start;
        let (above, below) = (eol.repeat(gap.far), eol.repeat(gap.near));
        let with = format!("{above}{lines}{eol}{below}");
        Some((splice_at(offset, with), row.0))
    }

    /// Returns the styles to try: that of the row, of the rows it is nested in, of the row below,
    /// and finally of the left margin.
    fn styles(&self, row: RowId) -> Vec<(RowId, RowStyle)> {
        let end = self.row(row).map_or(0, |row| row.block.end);
        let below = self
            .rows()
            .find(|row| self.row(*row).is_some_and(|row| row.line >= end));
        let rows = std::iter::successors(Some(row), |row| self.parent(*row)).chain(below);
        let mut styles: Vec<_> = rows
            .filter_map(|row| Some((row, self.style(row)?)))
            .collect();
        if let Some((row, outermost)) = styles.last().cloned() {
            let indent = String::new();
            styles.push((
                row,
                RowStyle {
                    indent,
                    ..outermost
                },
            ));
        }
        styles
    }

    /// Returns the styles of the rows before and after a new one. Text between them may be
    /// understood as before only if the new row is as far left.
    fn styles_around(&self, place: InsertPosition) -> Vec<(RowId, RowStyle)> {
        let InsertPosition::After(row) = place else {
            return Vec::new();
        };
        let last = self.last_of(row);
        let end = self.row(last).map_or(0, |row| row.block.end);
        let below = RowId(self.rows.partition_point(|row| row.line < end));
        let styled = |row: RowId| Some((row, self.style(row)?));
        [last, below].into_iter().filter_map(styled).collect()
    }

    fn style(&self, beside: RowId) -> Option<RowStyle> {
        let row = self.row(beside)?;
        let line = self.lines.get(row.line)?;
        let item = line.item()?;
        // In `- - [ ] a`, other markers precede the row's own.
        let indent = if item.marker.start == line.first {
            self.text()[line.start..line.first].to_owned()
        } else {
            " ".repeat(row.indent)
        };
        Some(RowStyle {
            indent,
            marker: self.text()[item.marker.clone()].to_owned(),
            eol: eol_of(self.text()),
        })
    }

    /// Returns how many blank lines the file has between tasks, judged by the nearest ones.
    fn gap(&self, place: InsertPosition) -> usize {
        let row = match place {
            InsertPosition::After(row) => self.last_of(row),
            InsertPosition::Before(row) => row,
        };
        let below = || self.gap_below(row);
        let above = || self.gap_above(row);
        let gap = match place {
            InsertPosition::After(_) => below().or_else(above),
            InsertPosition::Before(_) => above().or_else(below),
        };
        let has_many_lines = self.row(row).is_some_and(|row| row.block.len() > 1);
        gap.unwrap_or(usize::from(has_many_lines)).min(MAX_GAP)
    }

    /// Returns the blank lines between a row's block and the next row, if that follows directly.
    fn gap_below(&self, row: RowId) -> Option<usize> {
        let end = self.row(row)?.block.end;
        let blank = self
            .lines
            .get(end..)?
            .iter()
            .take_while(|line| line.is_blank())
            .count();
        let next_row = self
            .rows
            .get(self.rows.partition_point(|row| row.line < end))?;
        (next_row.line == end + blank).then_some(blank)
    }

    /// Returns the blank lines between a row and the block above it, if that ends there.
    fn gap_above(&self, row: RowId) -> Option<usize> {
        let line = self.row(row)?.line;
        let above = self.rows.get(row.0.checked_sub(1)?)?;
        let lines = self.lines.get(..line)?;
        let blank = lines
            .iter()
            .rev()
            .take_while(|line| line.is_blank())
            .count();
        let last_text = line.checked_sub(blank + 1)?;
        above.block.contains(&last_text).then_some(blank)
    }
}

fn splice_at(offset: usize, with: String) -> Splice {
    Splice {
        at: offset..offset,
        with,
    }
}

fn on_one_line(task: &NewTask) -> NewTask {
    let one_line = |value: &Option<String>| {
        let value = value.as_deref()?;
        // Code on one line would be different code.
        let has_code = value
            .lines()
            .any(|line| FenceMark::opening(line.trim()).is_some());
        let words = value.split_whitespace().collect::<Vec<_>>();
        Some(if has_code {
            value.to_owned()
        } else {
            words.join(" ")
        })
    };
    NewTask {
        files: one_line(&task.files),
        verify: one_line(&task.verify),
        ..task.clone()
    }
}
