//! A parsed task file.

use std::sync::{Arc, OnceLock};

use regreen_model::{Dialect, Task, TaskId, TaskKey, TaskKind, Warning};

use super::fields::FieldName;
use super::numbering::letters;
use super::row::{Row, RowId};
use super::{block, fields, numbering};
use crate::markdown::{Line, LineKind, Scan, scan};

/// A task file: its text and everything that was understood of it.
///
/// Parsing never fails; warnings name what was understood only in part.
#[derive(Clone, Debug)]
pub struct TaskFile {
    text: String,
    /// Shared, because ticking a box changes none of them.
    pub(crate) lines: Arc<Vec<Line>>,
    pub(crate) rows: Vec<Row>,
    dialect: Dialect,
    warnings: Vec<Warning>,
    /// Made when something is first looked up.
    index: OnceLock<Index>,
}

/// What is looked up for row after row: a plan may have thousands of them.
#[derive(Clone, Debug)]
struct Index {
    /// The rows that have an id, by id and then from the top.
    by_id: Vec<RowId>,
    /// The rows that fix others, from the top.
    fixes: Vec<RowId>,
}

impl Index {
    fn of(rows: &[Row]) -> Self {
        let all = || rows.iter().enumerate();
        let with_id = all().filter(|(_, row)| row.id.is_some());
        let mut by_id: Vec<RowId> = with_id.map(|(at, _)| RowId(at)).collect();
        // Rows with one id stay in their order.
        by_id.sort_by(|one, other| id_at(rows, *one).cmp(&id_at(rows, *other)));
        let fixes = all().filter(|(_, row)| row.fix_of.is_some());
        Self {
            by_id,
            fixes: fixes.map(|(at, _)| RowId(at)).collect(),
        }
    }
}

fn id_at(rows: &[Row], row: RowId) -> Option<&TaskId> {
    rows.get(row.0)?.id.as_ref()
}

impl TaskFile {
    /// Parses a task file.
    #[must_use]
    pub fn read(text: impl Into<String>) -> Self {
        let text = text.into();
        let Scan {
            lines,
            mut warnings,
        } = scan(&text);
        let mut rows = block::rows(&text, &lines);
        numbering::number_rows(&mut rows, &mut warnings);
        warnings.extend(block::near_misses(&text, &lines));
        warnings.sort_by_key(|warning| warning.line);
        Self {
            dialect: recognise_dialect(&text, &lines, &rows),
            text,
            lines: Arc::new(lines),
            rows,
            warnings,
            index: OnceLock::new(),
        }
    }

    /// Returns the file with one box changed, as if parsed again.
    ///
    /// Only `done` of that row depends on the mark in its box: not the kind of a line, the end of a
    /// block or the meaning of an id. So nothing else is parsed again.
    pub(crate) fn with_box(&self, row: RowId, text: String, done: bool) -> Self {
        let mut edited = Self {
            text,
            lines: Arc::clone(&self.lines),
            rows: self.rows.clone(),
            dialect: self.dialect,
            warnings: self.warnings.clone(),
            index: self.index.clone(),
        };
        if let Some(row) = edited.rows.get_mut(row.0) {
            row.done = done;
        }
        edited
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the tool whose style the file follows.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the lines that look like rows but aren't, unless they are marked as done.
    pub(crate) fn look_alikes(&self) -> Vec<(usize, String)> {
        let lines = 0..self.lines.len();
        let near = lines.filter_map(|at| {
            let text = block::near_miss(&self.text, &self.lines, at)?;
            let is_done = ["[x", "[X"]
                .iter()
                .any(|mark| text.trim_start().starts_with(mark));
            (!is_done).then(|| (at + 1, text.to_owned()))
        });
        near.collect()
    }

    /// Returns the warnings, in file order.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Returns all rows, in file order.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = RowId> + use<> {
        (0..self.rows.len()).map(RowId)
    }

    /// Returns all rows with their contents, in file order.
    #[must_use]
    pub fn tasks(&self) -> Vec<Task> {
        self.rows().filter_map(|row| self.task(row)).collect()
    }

    /// Returns a row with its contents; `None` if this text has no such row.
    #[must_use]
    pub fn task(&self, row: RowId) -> Option<Task> {
        let found = self.row(row)?;
        Some(Task {
            id: found.id.clone(),
            occurrence: found.occurrence,
            line: found.line + 1,
            title: found.title.clone(),
            done: found.done,
            kind: found.kind,
            optional: found.optional,
            markers: found.markers.clone(),
            fix_of: found.fix_of.and_then(|parent| self.key(parent)),
            depth: found.depth,
            fields: fields::read(&self.text, &self.lines, found),
        })
    }

    /// Returns what regreen does with a row.
    #[must_use]
    pub fn kind(&self, row: RowId) -> Option<TaskKind> {
        self.row(row).map(|row| row.kind)
    }

    /// Returns whether a row runs only on request.
    #[must_use]
    pub fn is_optional(&self, row: RowId) -> bool {
        self.row(row).is_some_and(|row| row.optional)
    }

    /// Returns the id of a row; `None` for checklist items, which have none.
    #[must_use]
    pub fn id(&self, row: RowId) -> Option<&TaskId> {
        self.row(row)?.id.as_ref()
    }

    /// Returns the key of a row; `None` for checklist items, which have no id.
    #[must_use]
    pub fn key(&self, row: RowId) -> Option<TaskKey> {
        let row = self.row(row)?;
        Some(TaskKey {
            id: row.id.clone()?,
            occurrence: row.occurrence,
            title: row.title.clone(),
        })
    }

    /// Returns the rows with an id, in file order. There may be several.
    pub fn rows_with_id<'s>(&'s self, id: &'s TaskId) -> impl Iterator<Item = RowId> + use<'s> {
        let by_id = &self.index().by_id;
        let first = by_id.partition_point(|row| id_at(&self.rows, *row) < Some(id));
        let from_first = by_id.get(first..).unwrap_or_default().iter().copied();
        from_first.take_while(move |row| id_at(&self.rows, *row) == Some(id))
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::of(&self.rows))
    }

    /// Returns the line of a row (1-based); 0 if there is no such row.
    #[must_use]
    pub fn line_of(&self, row: RowId) -> usize {
        self.row(row).map_or(0, |row| row.line + 1)
    }

    /// Returns the row that starts on a line (1-based).
    #[must_use]
    pub fn row_on_line(&self, line: usize) -> Option<RowId> {
        let at = self
            .rows
            .binary_search_by_key(&line.checked_sub(1)?, |row| row.line);
        at.ok().map(RowId)
    }

    /// Returns the row that a key refers to in this text.
    ///
    /// An id written in the file identifies the task, whatever its title is now. A position
    /// doesn't, because rows may have moved; there, the title decides first.
    #[must_use]
    pub fn resolve(&self, key: &TaskKey) -> Option<RowId> {
        let candidates: Vec<RowId> = self.rows_with_id(&key.id).collect();
        let titled = |row: &RowId| self.row(*row).is_some_and(|row| row.title == key.title);
        let is_numbered = |row: &RowId| self.row(*row).is_some_and(|row| row.numbered);
        let occurrence = usize::try_from(key.occurrence).unwrap_or(usize::MAX);
        let exact = candidates.get(occurrence).copied();
        if let Some(row) = exact.filter(titled) {
            return Some(row);
        }
        let moved = || self.rows().filter(is_numbered).find(titled);
        if exact.as_ref().is_some_and(is_numbered) {
            return moved();
        }
        // The title selects one of several rows with the same id; a single one may have a new
        // title.
        let same = candidates.iter().copied().find(titled);
        same.or_else(moved)
            .or(exact.filter(|_| candidates.len() == 1))
    }

    /// Returns a row's block as it is in the file, without trailing blank lines.
    #[must_use]
    pub fn block(&self, row: RowId) -> Option<&str> {
        let row = self.row(row)?;
        let start = self.lines.get(row.block.start)?.start;
        let end = self.lines.get(row.block.end.checked_sub(1)?)?.end;
        self.text.get(start..end)
    }

    /// Returns the task that a fix was made for.
    #[must_use]
    pub fn fixed_by(&self, fix: RowId) -> Option<RowId> {
        self.row(fix)?.fix_of
    }

    /// Returns the original at the end of a chain of fixes; the row itself if it isn't a fix.
    #[must_use]
    pub fn root(&self, row: RowId) -> RowId {
        std::iter::successors(Some(row), |row| self.fixed_by(*row))
            .last()
            .unwrap_or(row)
    }

    /// Returns the fixes made for a task itself, in file order.
    pub fn fixes(&self, of: RowId) -> impl Iterator<Item = RowId> + use<'_> {
        let fixes = self.index().fixes.iter().copied();
        fixes.filter(move |row| self.fixed_by(*row) == Some(of))
    }

    /// Returns the fixes made for a task and for its fixes, in file order.
    pub fn all_fixes(&self, of: RowId) -> impl Iterator<Item = RowId> + use<'_> {
        let descends = move |row: &RowId| {
            std::iter::successors(self.fixed_by(*row), |row| self.fixed_by(*row)).any(|up| up == of)
        };
        self.index().fixes.iter().copied().filter(descends)
    }

    /// Returns the row that a row is nested below.
    #[must_use]
    pub fn parent(&self, row: RowId) -> Option<RowId> {
        self.row(row)?.parent
    }

    /// Returns the groups around a row, nearest first.
    pub fn groups_around(&self, row: RowId) -> impl Iterator<Item = RowId> {
        std::iter::successors(self.parent(row), |row| self.parent(*row))
    }

    pub(crate) fn row(&self, row: RowId) -> Option<&Row> {
        self.rows.get(row.0)
    }
}

pub(crate) fn recognise_dialect(text: &str, lines: &[Line], rows: &[Row]) -> Dialect {
    let ids = || {
        rows.iter()
            .filter(|row| !row.numbered)
            .filter_map(|row| row.id.as_ref())
    };
    let total = ids().count();
    let lettered_t = ids().filter(|id| letters(id) == "T").count();
    let numeric = ids().filter(|id| letters(id).is_empty()).count();
    if lettered_t > 0 && lettered_t * 2 >= total {
        Dialect::SpecKit
    } else if total > 0 && lines.iter().any(|line| is_ralph_field(text, line)) {
        Dialect::SmartRalph
    } else if numeric == 0 {
        Dialect::Plain
    } else if lines.iter().any(|line| is_numbered_heading(text, line)) {
        Dialect::OpenSpec
    } else if rows.iter().any(|row| row.kind == TaskKind::Group) || text.contains("_Requirements:")
    {
        Dialect::Kiro
    } else {
        Dialect::Plain
    }
}

/// Whether this is a `Do`, `Done when` or `Verify` field, which only smart-ralph has below its
/// rows.
fn is_ralph_field(text: &str, line: &Line) -> bool {
    line.item()
        .and_then(|item| FieldName::parse(&text[item.content..line.end]))
        .is_some_and(|(name, _)| {
            use FieldName::{Files, Ready, Service};
            !matches!(name, Files | Service | Ready)
        })
}

/// Whether this is a heading like `## 1. Setup`.
fn is_numbered_heading(text: &str, line: &Line) -> bool {
    let title = text[line.first..line.end]
        .trim_start_matches('#')
        .trim_start();
    let digits = title.bytes().take_while(u8::is_ascii_digit).count();
    line.kind == LineKind::Heading && digits > 0 && title[digits..].starts_with(". ")
}
