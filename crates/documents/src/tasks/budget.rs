//! How much of its fix budget a task has used.

use std::collections::{BTreeMap, BTreeSet};

use regreen_model::TaskId;

use super::row::RowId;
use super::task_file::TaskFile;
use crate::state::FixRecord;

/// What a task has used. The larger of what the rows and the state's map say: deleting a
/// fix row refunds nothing, and neither does losing the state. Only a person can: what was
/// used when the task was to be tried again is forgiven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// How many fixes deep the task itself is.
    pub depth: u32,
    /// Fixes made for the task itself.
    pub fixes: u32,
    /// Fixes made for its original and everything below that.
    pub root_fixes: u32,
}

impl TaskFile {
    #[must_use]
    pub fn budget(&self, row: RowId, map: &BTreeMap<String, FixRecord>) -> Option<Budget> {
        let root = self.root(row);
        let own = self.row(row)?.id.as_ref()?;
        let root_id = self.row(root)?.id.as_ref()?;
        let family = self.family(root, below(root_id, map));
        let total = |of: fn(&str, &BTreeMap<String, FixRecord>) -> u32| {
            let counts = family.iter().map(|id| of(id, map));
            counts.fold(0, u32::saturating_add)
        };
        let of_namesakes = self.namesakes(root).map(|row| self.all_fixes(row).count());
        let noted = total(recorded).saturating_sub(count(of_namesakes.sum()));
        let all = larger(self.all_fixes(root).count(), noted);
        Some(Budget {
            depth: self.row(row)?.depth,
            fixes: self
                .fixes_made(row, map)
                .saturating_sub(forgiven(own.as_str(), map)),
            root_fixes: all.saturating_sub(total(forgiven)),
        })
    }

    /// How many fixes were made for a task itself, forgiven or not.
    #[must_use]
    pub fn fixes_made(&self, row: RowId, map: &BTreeMap<String, FixRecord>) -> u32 {
        let id = self.row(row).and_then(|row| row.id.as_ref());
        let recorded = id.map_or(0, |id| recorded(id.as_str(), map));
        let of_namesakes = self.namesakes(row).map(|row| self.fixes(row).count());
        let noted = recorded.saturating_sub(count(of_namesakes.sum()));
        larger(self.fixes(row).count(), noted)
    }

    /// Other rows of the same id: the map notes their fixes together.
    fn namesakes(&self, row: RowId) -> impl Iterator<Item = RowId> {
        let id = self.row(row).and_then(|row| row.id.as_ref());
        let others = id.into_iter().flat_map(|id| self.rows_with_id(id));
        others.filter(move |other| *other != row)
    }

    /// The ids that fixes of an original may be noted under: those that the map leads to, and
    /// those in the file.
    fn family<'a>(&'a self, root: RowId, mut ids: BTreeSet<&'a str>) -> BTreeSet<&'a str> {
        let fixes = self.all_fixes(root).filter_map(|fix| self.row(fix));
        ids.extend(fixes.filter_map(|row| row.id.as_ref().map(TaskId::as_str)));
        ids
    }

    /// The id of the next fix of a task: one more than the highest number that any row or
    /// the map has used.
    #[must_use]
    pub fn next_fix_id(&self, row: RowId, map: &BTreeMap<String, FixRecord>) -> Option<TaskId> {
        let id = self.row(row)?.id.as_ref()?;
        let in_file = self.rows.iter().filter_map(|row| row.id.as_ref());
        let used_in_file = in_file.filter_map(|other| id.child_number(other)).max();
        let record = map.get(id.as_str());
        let in_map = record.into_iter().flat_map(|record| &record.fix_task_ids);
        let used_in_map = in_map
            .filter_map(|fix| id.child_number(&TaskId::parse(fix)?))
            .max();
        Some(id.child(used_in_file.max(used_in_map).unwrap_or(0).saturating_add(1)))
    }
}

fn count(rows: usize) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}

fn larger(rows: usize, recorded: u32) -> u32 {
    count(rows).max(recorded)
}

fn recorded(id: &str, map: &BTreeMap<String, FixRecord>) -> u32 {
    map.get(id).map_or(0, FixRecord::count)
}

fn forgiven(id: &str, map: &BTreeMap<String, FixRecord>) -> u32 {
    map.get(id).map_or(0, |record| record.forgiven)
}

/// An original, its fixes and theirs, as the map knows them.
fn below<'a>(root: &'a TaskId, map: &'a BTreeMap<String, FixRecord>) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::from([root.as_str()]);
    let mut open = vec![root.as_str()];
    while let Some(id) = open.pop() {
        let record = map.get(id);
        for fix in record.into_iter().flat_map(|record| &record.fix_task_ids) {
            if seen.insert(fix) {
                open.push(fix);
            }
        }
    }
    seen
}
