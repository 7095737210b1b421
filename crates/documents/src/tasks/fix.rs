//! Fix tasks in the file: inserting them, finding them, and counting them against the fix budget.

use std::collections::{BTreeMap, BTreeSet};

use regreen_model::{ChoiceKind, FixBudget, FixOrigin, NewTask, PersonChoice, TaskId, TaskKey};

use super::edit::EditError;
use super::insert::InsertPosition;
use super::row::RowId;
use super::task_file::TaskFile;
use crate::plan_review::row_before;
use crate::state::FixRecord;

impl TaskFile {
    /// Returns the file with a fix after its task and the task's other fixes; `None` if it is
    /// already there.
    ///
    /// # Errors
    /// Returns an error if the task is gone, or the row can't be inserted.
    pub fn insert_fix(
        &self,
        task: &TaskKey,
        fix: TaskId,
        origin: &FixOrigin,
    ) -> Result<Option<Self>, EditError> {
        let row = self.resolve(task).ok_or(EditError::NoSuchRow)?;
        let parent = self.task(row).ok_or(EditError::NoSuchRow)?;
        // In a list without ids, the task may have another number by now.
        let parent_id = self.id(row).unwrap_or(&task.id);
        let fix = NewTask::fix(fix, parent_id, &parent, origin);
        Ok(self.insert(&fix, InsertPosition::After(row))?.edited())
    }

    /// Returns the file with a task ticked or unticked; `None` if it already is, or doesn't exist.
    ///
    /// # Errors
    /// Returns an error if the box can't be set.
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

    /// Returns the keys that a task which no longer passes may have now. If several rows have its
    /// id and none its title, it may be any of them, because people may also have moved it.
    /// Reopening a row too many only costs a check; one too few would leave a failing task ticked.
    #[must_use]
    pub fn keys_to_reopen(&self, task: &TaskKey) -> Vec<TaskKey> {
        let rows = match self.renumbered(task).or_else(|| self.resolve(task)) {
            Some(row) => vec![row],
            None => self.rows_with_id(&task.id).collect(),
        };
        rows.into_iter().filter_map(|row| self.key(row)).collect()
    }

    /// Returns the only original with the title of a task, if it has another id: people who insert a
    /// row renumber those that follow, and the id is another task's then.
    fn renumbered(&self, task: &TaskKey) -> Option<RowId> {
        let is_titled = |row: &RowId| {
            let title = self.row(*row).map(|row| row.title.as_str());
            title.is_some_and(|title| !title.is_empty() && title == task.title)
        };
        if self.rows_with_id(&task.id).any(|row| is_titled(&row)) {
            return None;
        }
        let is_original = |row: &RowId| self.id(*row).is_some() && self.fixed_by(*row).is_none();
        let mut titled = self.rows().filter(is_titled).filter(is_original);
        titled.next().filter(|_| titled.next().is_none())
    }

    /// Returns the row of a task that exists and is open.
    #[must_use]
    pub fn open_row(&self, task: &TaskKey) -> Option<RowId> {
        self.resolve(task).filter(|row| !self.is_done(*row))
    }

    /// Returns the plan as if the choices that people made during an attempt, about the tasks as
    /// they are `now`, had been made before it. That way their ticks don't count as the agent's
    /// claims.
    #[must_use]
    pub fn as_chosen(self, now: &Self, choices: &[&PersonChoice]) -> Self {
        choices.iter().fold(self, |plan, choice| {
            let done = match choice.what {
                ChoiceKind::Done => true,
                ChoiceKind::Retry => false,
                ChoiceKind::Skip => return plan,
            };
            let Some(task) = plan.key_before_edit(now, &choice.task) else {
                return plan;
            };
            // Reopening a task reopens the groups around it.
            let row = plan.resolve(&task).filter(|_| !done);
            let around = row.into_iter().flat_map(|row| plan.groups_around(row));
            let around = around.filter_map(|row| plan.key(row));
            let keys: Vec<TaskKey> = std::iter::once(task).chain(around).collect();
            keys.into_iter().fold(plan, |plan, key| {
                // If the box can't be set, the review decides, which keeps what it replaces.
                let chosen = plan.box_set(&key, done).ok().flatten();
                chosen.unwrap_or(plan)
            })
        })
    }

    /// Returns the key in this text of a task whose title may have changed since. The review will
    /// revert the title, and must not revert the choice with it.
    fn key_before_edit(&self, now: &Self, task: &TaskKey) -> Option<TaskKey> {
        let edited = || row_before(self, now, now.resolve(task)?);
        let row = self.resolve(task).or_else(edited);
        row.and_then(|row| self.key(row))
    }

    /// Returns a task, its root and their fixes, all of which count as being worked on.
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

    /// Returns the open fixes of a task and of its fixes.
    #[must_use]
    pub fn open_fixes(&self, task: &TaskKey) -> Vec<TaskKey> {
        let row = self.resolve(task);
        row.map(|row| self.open_fixes_of(row)).unwrap_or_default()
    }

    fn open_fixes_of(&self, row: RowId) -> Vec<TaskKey> {
        let open = self.all_fixes(row).filter(|fix| !self.is_done(*fix));
        open.filter_map(|fix| self.key(fix)).collect()
    }

    /// Returns the error that the last fix of a task was made for, perhaps in an earlier run; empty
    /// if none is recorded.
    fn last_error(&self, row: RowId, map: &BTreeMap<String, FixRecord>) -> String {
        let recorded = self.key(row).and_then(|key| map.get(key.id.as_str()));
        recorded
            .map(|record| record.last_error.clone())
            .unwrap_or_default()
    }

    /// Returns the fixes of a task in the order they were made: those in the state file, then those
    /// only in the task file.
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

impl TaskFile {
    /// Returns a task's use of its fix budget, by the rows and by the state file.
    #[must_use]
    pub fn fix_budget(&self, row: RowId, map: &BTreeMap<String, FixRecord>) -> Option<FixBudget> {
        let root = self.root(row);
        let root_id = self.row(root)?.id.as_ref()?;
        let family = self.family(root, below(root_id, map));
        let total = |of: &dyn Fn(&str) -> u32| {
            let counts = family.iter().map(|id| of(id));
            counts.fold(0, u32::saturating_add)
        };
        let forgiven = |id: &str| {
            let of = [row, root]
                .into_iter()
                .find(|row| self.id(*row).is_some_and(|own| own.as_str() == id));
            self.forgiven(of, id, map)
        };
        let noted = total(&|id| recorded(id, map));
        let noted = noted.saturating_sub(self.noted_for_namesakes(root, map));
        let all = larger(self.all_fixes(root).count(), noted);
        Some(FixBudget {
            depth: self.row(row)?.depth,
            fixes: self.fixes_used(row, map),
            root_fixes: all.saturating_sub(total(&forgiven)),
            root: root_id.clone(),
            fix_ids: self.fix_ids(row, map),
            next_id: self.next_fix_id(row, map)?,
            last_error: self.last_error(row, map),
            open_fixes: self.open_fixes_of(row),
        })
    }

    /// Returns how many fixes were made for a task itself since a person last forgave them.
    #[must_use]
    pub fn fixes_used(&self, row: RowId, map: &BTreeMap<String, FixRecord>) -> u32 {
        let id = self.row(row).and_then(|row| row.id.as_ref());
        let forgiven = id.map_or(0, |id| self.forgiven(Some(row), id.as_str(), map));
        self.fixes_made(row, map).saturating_sub(forgiven)
    }

    fn forgiven(&self, row: Option<RowId>, id: &str, map: &BTreeMap<String, FixRecord>) -> u32 {
        let title = row.and_then(|row| self.title_among_namesakes(row));
        map.get(id).map_or(0, |record| record.forgiven(title))
    }

    /// Returns how many fixes were made for the task itself, forgiven or not.
    #[must_use]
    pub fn fixes_made(&self, row: RowId, map: &BTreeMap<String, FixRecord>) -> u32 {
        let id = self.row(row).and_then(|row| row.id.as_ref());
        let recorded = id.map_or(0, |id| recorded(id.as_str(), map));
        let noted = recorded.saturating_sub(self.noted_for_namesakes(row, map));
        larger(self.fixes(row).count(), noted)
    }

    /// Returns how many fixes of other rows with the same id the map counts together with this
    /// one's. Fixes that people wrote and the map doesn't have aren't subtracted.
    fn noted_for_namesakes(&self, row: RowId, map: &BTreeMap<String, FixRecord>) -> u32 {
        let record = self.id(row).and_then(|id| map.get(id.as_str()));
        let is_noted = |fix: &RowId| {
            let noted = record.zip(self.id(*fix));
            noted.is_some_and(|(record, fix)| {
                record.fix_task_ids.iter().any(|id| id == fix.as_str())
            })
        };
        let fixes = self.namesakes(row).flat_map(|other| self.fixes(other));
        count(fixes.filter(is_noted).count())
    }

    /// Returns the other rows with the same id.
    fn namesakes(&self, row: RowId) -> impl Iterator<Item = RowId> {
        let id = self.row(row).and_then(|row| row.id.as_ref());
        let others = id.into_iter().flat_map(|id| self.rows_with_id(id));
        others.filter(move |other| *other != row)
    }

    /// Returns the title of a row if other rows have the same id, to tell them apart.
    pub(crate) fn title_among_namesakes(&self, row: RowId) -> Option<&str> {
        self.namesakes(row).next()?;
        Some(self.row(row)?.title.as_str())
    }

    /// Returns the ids under which fixes of an original may be recorded: those reachable through
    /// the map, and those in the file. Fixes of another original with the same id have their own.
    fn family<'a>(&'a self, root: RowId, mut ids: BTreeSet<&'a str>) -> BTreeSet<&'a str> {
        let id = |fix: RowId| self.id(fix).map(TaskId::as_str);
        let of_others = self.namesakes(root).flat_map(|other| self.all_fixes(other));
        let of_others: BTreeSet<&str> = of_others.filter_map(id).collect();
        ids.retain(|id| !of_others.contains(id));
        ids.extend(self.all_fixes(root).filter_map(id));
        ids
    }

    /// Returns the id of a task's next fix: one more than the highest number used by any row or by
    /// the map. A number counts as used even if only fixes of that fix are left, because they would
    /// attach to the new one.
    #[must_use]
    pub fn next_fix_id(&self, row: RowId, map: &BTreeMap<String, FixRecord>) -> Option<TaskId> {
        let id = self.row(row)?.id.as_ref()?;
        let in_file = self.rows.iter().filter_map(|row| row.id.as_ref());
        let used_in_file = in_file.filter_map(|other| branch_number(id, other)).max();
        let record = map.get(id.as_str());
        let in_map = record.into_iter().flat_map(|record| &record.fix_task_ids);
        let used_in_map = in_map
            .filter_map(|fix| id.child_number(&TaskId::parse(fix)?))
            .max();
        Some(id.child(used_in_file.max(used_in_map).unwrap_or(0).saturating_add(1)))
    }
}

/// Returns `Some(2)` for `1.3.2` and for `1.3.2.1`, relative to `1.3`.
fn branch_number(id: &TaskId, other: &TaskId) -> Option<u32> {
    let below = other
        .as_str()
        .strip_prefix(id.as_str())?
        .strip_prefix('.')?;
    let number = below.split('.').next()?;
    let child = TaskId::parse(&format!("{id}.{number}"))?;
    id.child_number(&child)
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

/// Returns an original, its fixes and theirs, according to the map.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_tasks_with_one_id_each_gets_its_own_fixes_wherever_people_move_them() {
        let text = "- [ ] 1.1 a\n- [ ] 1.1.1 [FIX 1.1] x\n- [ ] 1.1 b\n- [ ] 1.2 c\n- [ ] 1.1.1.1 [FIX 1.1.1] y\n";
        let file = TaskFile::read(text);
        let first = file.rows().next().and_then(|row| file.key(row)).unwrap();
        let fix = TaskId::parse("1.1.2").unwrap();
        let fixed = file.insert_fix(&first, fix, &FixOrigin::default());
        let fixed = fixed.unwrap().unwrap();
        let rows: Vec<&str> = fixed
            .rows()
            .filter_map(|row| Some(fixed.id(row)?.as_str()))
            .collect();
        assert_eq!(rows, ["1.1", "1.1.1", "1.1.2", "1.1", "1.2", "1.1.1.1"]);
    }

    #[test]
    fn a_new_fix_does_not_take_over_the_fixes_of_one_that_is_gone() {
        let file = TaskFile::read("- [ ] 1.1 a\n- [x] 1.1.1.1 [FIX 1.1.1] y\n- [ ] 1.2 b\n");
        let row = file.rows().next().unwrap();
        let next = file.next_fix_id(row, &BTreeMap::new()).unwrap();
        assert_eq!(next.as_str(), "1.1.2");
    }

    #[test]
    fn fixes_of_another_task_with_the_same_id_refund_nothing() {
        let record = |ids: &[&str], forgiven| FixRecord {
            attempts: count(ids.len()),
            fix_task_ids: ids.iter().map(|id| (*id).to_owned()).collect(),
            forgiven,
            ..FixRecord::default()
        };
        // A person deleted 1.1.2, the second fix of a, wrote 1.1.9 for b, and forgave b's fix
        // 1.1.3.
        let file = TaskFile::read(
            "- [ ] 1.1 a\n- [x] 1.1.1 [FIX 1.1] x\n- [ ] 1.1 b\n- [x] 1.1.3 [FIX 1.1] x\n\
             - [x] 1.1.3.1 [FIX 1.1.3] x\n- [x] 1.1.9 [FIX 1.1] x\n",
        );
        let map = BTreeMap::from([
            ("1.1".to_owned(), record(&["1.1.1", "1.1.2", "1.1.3"], 0)),
            ("1.1.3".to_owned(), record(&["1.1.3.1"], 1)),
        ]);
        let a = file.rows().next().unwrap();
        let budget = file.fix_budget(a, &map).unwrap();
        assert_eq!((budget.fixes, budget.root_fixes), (2, 2));
    }

    #[test]
    fn a_choice_about_a_task_that_got_another_title_since_is_heeded() {
        let cases = [
            // Two tasks with the same id, and a list without ids.
            ("- [x] 1.1 a\n- [ ] 1.1 b\n", "- [ ] 1.1 a\n- [ ] 1.1 b\n"),
            ("- [x] a\n- [ ] b\n", "- [ ] a\n- [ ] b\n"),
        ];
        for (before, chosen) in cases {
            let edited = TaskFile::read(before.replace(" a", " a, and more"));
            let choice = PersonChoice {
                number: 1,
                task: edited
                    .rows()
                    .next()
                    .and_then(|row| edited.key(row))
                    .unwrap(),
                what: ChoiceKind::Retry,
            };
            let plan = TaskFile::read(before).as_chosen(&edited, &[&choice]);
            assert_eq!(plan.text(), chosen);
        }
    }

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
        let fixed = now.insert_fix(&c, fix, &origin).unwrap().unwrap();
        assert!(fixed.text().contains("\n- [ ] 2.1 [FIX 2] "));
    }

    #[test]
    fn a_red_task_is_opened_under_its_new_title_also_where_two_have_its_id() {
        let before = TaskFile::read("- [x] 1.1 a\n- [x] 1.1 b\n- [x] 1.2 c\n");
        let opened = |now: &str| -> Vec<Vec<String>> {
            let now = TaskFile::read(now);
            let keys = before.rows().filter_map(|row| before.key(row));
            keys.map(|key| now.keys_to_reopen(&key))
                .map(|keys| keys.into_iter().map(|key| key.title).collect())
                .collect()
        };
        // The row that is now a is unknown, because it may have moved too.
        assert_eq!(
            opened("- [x] 1.1 b\n- [x] 1.1 a, and more\n"),
            [vec!["b", "a, and more"], vec!["b"], vec![]]
        );
        // A row with its own id keeps it under any title.
        assert_eq!(
            opened("- [x] 1.1 a, and more\n- [x] 1.2 c, and more\n"),
            [
                vec!["a, and more"],
                vec!["a, and more"],
                vec!["c, and more"]
            ]
        );
    }

    #[test]
    fn a_red_task_is_opened_under_its_new_id() {
        let key = |id: &str, title: &str| TaskKey {
            id: TaskId::parse(id).unwrap(),
            occurrence: 0,
            title: title.to_owned(),
        };
        let now = TaskFile::read(
            "- [x] 1.1 New\n- [x] 1.2 a\n- [x] 1.3 b\n- [x] 1.4 c\n- [x] 1.5 c\n- [x] 1.2.1 [FIX 1.2] New fix\n",
        );
        let opened = |id, title| now.keys_to_reopen(&key(id, title));
        assert_eq!(opened("1.1", "a"), [key("1.2", "a")]);
        assert_eq!(opened("1.2", "b"), [key("1.3", "b")]);
        // Two have this title: it may be either, or have another.
        assert_eq!(opened("1.3", "c"), [key("1.3", "b")]);
        assert_eq!(opened("9.9", "c"), []);
        assert_eq!(opened("9.9", "New fix"), []);
        assert_eq!(opened("9.9", ""), []);
    }
}
