//! How much of its fix budget a task has used.

use std::collections::BTreeMap;

use regreen_model::TaskId;

use super::row::RowId;
use super::task_file::TaskFile;
use crate::state::FixRecord;

/// What a task has used. The larger of what the rows and the state's map say: deleting a
/// fix row refunds nothing, and neither does losing the state.
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
        Some(Budget {
            depth: self.row(row)?.depth,
            fixes: larger(self.fixes(row).count(), recorded(own.as_str(), map)),
            root_fixes: larger(self.all_fixes(root).count(), recorded_below(root_id, map)),
        })
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

fn larger(rows: usize, recorded: u32) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX).max(recorded)
}

fn recorded(id: &str, map: &BTreeMap<String, FixRecord>) -> u32 {
    map.get(id).map_or(0, FixRecord::count)
}

/// Fixes recorded for an original, its fixes and theirs, each id counted once.
fn recorded_below(root: &TaskId, map: &BTreeMap<String, FixRecord>) -> u32 {
    let mut seen: Vec<&str> = vec![root.as_str()];
    let mut total = 0_u32;
    let mut at = 0;
    while let Some(id) = seen.get(at).copied() {
        total = total.saturating_add(recorded(id, map));
        let fixes = map
            .get(id)
            .into_iter()
            .flat_map(|record| &record.fix_task_ids);
        for fix in fixes {
            if !seen.contains(&fix.as_str()) {
                seen.push(fix);
            }
        }
        at += 1;
    }
    total
}
