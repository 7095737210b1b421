//! Fix tasks in the file: their family, their names, a new one.

use std::collections::BTreeMap;

use regreen_model::{ChoiceKind, FixOrigin, NewTask, PersonChoice, TaskId, TaskKey};

use super::edit::EditError;
use super::insert::InsertPosition;
use super::row::RowId;
use super::task_file::TaskFile;
use crate::state::FixRecord;

impl TaskFile {
    /// The file with a fix after its task and the task's other fixes; `None` if it stands
    /// there already.
    ///
    /// # Errors
    /// If the task is gone, or the row cannot be inserted.
    pub fn insert_fix(
        &self,
        task: &TaskKey,
        fix: TaskId,
        origin: FixOrigin<'_>,
    ) -> Result<Option<Self>, EditError> {
        let row = self.resolve(task).ok_or(EditError::NoSuchRow)?;
        let parent = self.task(row).ok_or(EditError::NoSuchRow)?;
        // In a list without ids the task may have another number by now.
        let parent_id = self.id(row).unwrap_or(&task.id);
        let fix = NewTask::fix(fix, parent_id, &parent, origin);
        Ok(self.insert(&fix, InsertPosition::After(row))?.edited())
    }

    /// The file with the box of a task so; `None` if it is so already, or there is no such
    /// task.
    ///
    /// # Errors
    /// If the box cannot be set.
    pub fn box_set(&self, task: &TaskKey, done: bool) -> Result<Option<Self>, EditError> {
        let Some(row) = self.resolve(task) else {
            return Ok(None);
        };
        let change = if done {
            self.tick(row)
        } else {
            self.untick(row)
        };
        Ok(change?.edited())
    }

    /// The row of a task that is there and not done.
    #[must_use]
    pub fn open_row(&self, task: &TaskKey) -> Option<RowId> {
        self.resolve(task).filter(|row| !self.is_done(*row))
    }

    /// The plan as if people had said before an attempt what they said after it: what they
    /// ticked is no claim of the agent.
    #[must_use]
    pub fn as_chosen(self, choices: &[&PersonChoice]) -> Self {
        choices.iter().fold(self, |plan, choice| {
            let done = match choice.what {
                ChoiceKind::Done => true,
                ChoiceKind::Retry => false,
                ChoiceKind::Skip => return plan,
            };
            // Whoever opens a task opens the groups around it.
            let around = plan.groups_around(&choice.task);
            let around = around.into_iter().filter(|_| !done);
            let keys = std::iter::once(choice.task.clone()).chain(around);
            keys.fold(plan, |plan, key| {
                // A box that cannot be set is left to the review, which keeps what it replaces.
                let chosen = plan.box_set(&key, done).ok().flatten();
                chosen.unwrap_or(plan)
            })
        })
    }

    fn groups_around(&self, task: &TaskKey) -> Vec<TaskKey> {
        let above = std::iter::successors(self.resolve(task), |row| self.parent(*row));
        above.skip(1).filter_map(|row| self.key(row)).collect()
    }

    /// A task, its root and their fixes: what is worked on while it is.
    #[must_use]
    pub fn worked_on(&self, task: &TaskKey) -> Vec<TaskKey> {
        let root = self.resolve(task).map(|row| self.root(row));
        let rows = root.into_iter().flat_map(|root| {
            let fixes = self.all_fixes(root);
            std::iter::once(root).chain(fixes)
        });
        let mut keys: Vec<TaskKey> = rows.filter_map(|row| self.key(row)).collect();
        if !keys.contains(task) {
            keys.push(task.clone());
        }
        keys
    }

    /// The fixes of a task, and of its fixes, that are not done.
    #[must_use]
    pub fn open_fixes(&self, task: &TaskKey) -> Vec<TaskKey> {
        let row = self.resolve(task);
        let fixes = row.into_iter().flat_map(|row| self.all_fixes(row));
        let open = fixes.filter(|fix| !self.is_done(*fix));
        open.filter_map(|fix| self.key(fix)).collect()
    }

    /// What the last fix of a task was to remove, which an earlier run may have made; empty if
    /// nobody remembers one.
    #[must_use]
    pub fn last_error(&self, row: RowId, map: &BTreeMap<String, FixRecord>) -> String {
        let recorded = self.key(row).and_then(|key| map.get(key.id.as_str()));
        recorded
            .map(|record| record.last_error.clone())
            .unwrap_or_default()
    }

    /// The fixes of a task, in the order they were made: those that the state remembers, and
    /// those that only stand in the file.
    #[must_use]
    pub fn fix_ids(&self, row: RowId, map: &BTreeMap<String, FixRecord>) -> Vec<TaskId> {
        let recorded = self.key(row).and_then(|key| map.get(key.id.as_str()));
        let recorded = recorded.into_iter().flat_map(|record| &record.fix_task_ids);
        let mut ids: Vec<TaskId> = recorded.filter_map(|id| TaskId::parse(id)).collect();
        for key in self.fixes(row).filter_map(|fix| self.key(fix)) {
            if !ids.contains(&key.id) {
                ids.push(key.id);
            }
        }
        ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fix_names_its_task_by_the_number_that_it_has_now() {
        let before = TaskFile::read("- [ ] a\n- [ ] b\n- [ ] c\n");
        let c = before
            .rows()
            .last()
            .and_then(|row| before.key(row))
            .unwrap();
        let now = TaskFile::read("- [x] b\n- [ ] c\n");
        let fix = TaskId::parse("2.1").unwrap();
        let origin = FixOrigin::default();
        let fixed = now.insert_fix(&c, fix, origin).unwrap().unwrap();
        assert!(fixed.text().contains("\n- [ ] 2.1 [FIX 2] "));
    }
}
