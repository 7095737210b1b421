//! Which task is next.

use std::collections::BTreeSet;

use regreen_model::{TaskId, TaskKey, TaskKind};

use super::row::{Row, RowId};
use super::task_file::TaskFile;

/// What is to be chosen from.
#[derive(Clone, Debug, Default)]
pub struct Pick {
    pub include_optional: bool,
    /// Tasks and fixes that were skipped or wait for a person.
    pub passed_over: BTreeSet<TaskKey>,
    /// Originals that come before their own open fixes: a new run after a limit tries them
    /// once more first.
    pub originals_first: BTreeSet<TaskKey>,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A task or one of its fixes is to be run.
    Run(RowId),
    /// A group whose rows are done: to be verified and ticked, not run.
    CloseGroup(RowId),
    /// Nothing is left but what was passed over.
    Nothing,
}

impl TaskFile {
    /// The first open original that is required, or the deepest and latest of its open fixes.
    #[must_use]
    pub fn next(&self, pick: &Pick) -> Next {
        for id in self.rows() {
            let is_open = |row: &Row| !row.done && row.fix_of.is_none() && required(row, pick);
            if !self.row(id).is_some_and(is_open) || self.is_passed_over(id, pick) {
                continue;
            }
            if self.row(id).is_some_and(|row| row.kind == TaskKind::Group) {
                if self.has_open_rows(id, pick) {
                    continue;
                }
                return self
                    .open_fix(id, pick)
                    .map_or(Next::CloseGroup(id), Next::Run);
            }
            return Next::Run(self.open_fix(id, pick).unwrap_or(id));
        }
        Next::Nothing
    }

    /// How many originals that are required are still open, whatever was passed over.
    #[must_use]
    pub fn open_originals(&self, include_optional: bool) -> usize {
        self.open_rows(include_optional).count()
    }

    /// How many rows are still open that have this id or stand below it.
    #[must_use]
    pub fn open_rows_of(&self, id: &TaskId, include_optional: bool) -> usize {
        let originals = self.open_rows(include_optional);
        let originals = originals.filter(|row| self.belongs_to(*row, id)).count();
        let is_open_fix = |row: &Row| row.fix_of.is_some() && !row.done;
        let fixes = self.rows_with_id(id).filter_map(|row| self.row(row));
        originals + fixes.filter(|row| is_open_fix(row)).count()
    }

    fn open_rows(&self, include_optional: bool) -> impl Iterator<Item = RowId> {
        let pick = Pick {
            include_optional,
            ..Pick::default()
        };
        self.rows().filter(move |id| {
            let is_open = |row: &Row| !row.done && row.fix_of.is_none() && required(row, &pick);
            self.row(*id).is_some_and(is_open)
        })
    }

    /// Whether a row is the task with this id, one of its fixes, or stands below it.
    #[must_use]
    pub fn belongs_to(&self, row: RowId, id: &TaskId) -> bool {
        let mut above = std::iter::successors(Some(self.root(row)), |row| self.parent(*row));
        above.any(|row| self.key(row).is_some_and(|key| key.id == *id))
    }

    /// How many rows are there to run, fixes included.
    #[must_use]
    pub fn runnable(&self, include_optional: bool) -> usize {
        self.rows
            .iter()
            .filter(|row| is_runnable(row, include_optional))
            .count()
    }

    /// The 0-based place of a row's original among the rows to run.
    #[must_use]
    pub fn index_of(&self, row: RowId, include_optional: bool) -> usize {
        let root = self.root(row);
        let before = self.rows.iter().take(root.0);
        before
            .filter(|row| is_runnable(row, include_optional))
            .count()
    }

    fn is_passed_over(&self, row: RowId, pick: &Pick) -> bool {
        self.key(row)
            .is_some_and(|key| pick.passed_over.contains(&key))
    }

    /// Whether a required row nested below a group is still open.
    fn has_open_rows(&self, group: RowId, pick: &Pick) -> bool {
        let below = self.rows.iter().skip(group.0 + 1);
        let block_end = self.row(group).map_or(0, |row| row.block.end);
        below
            .take_while(|row| row.line < block_end)
            .any(|row| !row.done && row.fix_of.is_none() && required(row, pick))
    }

    fn open_fix(&self, original: RowId, pick: &Pick) -> Option<RowId> {
        if self
            .key(original)
            .is_some_and(|key| pick.originals_first.contains(&key))
        {
            return None;
        }
        self.all_fixes(original)
            .filter(|fix| self.row(*fix).is_some_and(|row| !row.done))
            .filter(|fix| !self.is_passed_over(*fix, pick))
            .max_by_key(|fix| (self.row(*fix).map(|row| row.depth), *fix))
    }
}

fn required(row: &Row, pick: &Pick) -> bool {
    row.is_task() && (pick.include_optional || !row.optional)
}

fn is_runnable(row: &Row, include_optional: bool) -> bool {
    match row.kind {
        TaskKind::Task => true,
        TaskKind::Optional => include_optional,
        TaskKind::Group | TaskKind::Checklist => false,
    }
}
