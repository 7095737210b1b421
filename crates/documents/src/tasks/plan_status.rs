//! The next task, and the tasks that are left for a run.

use std::collections::BTreeSet;

use regreen_model::{
    NextStep, PickedTask, PlanQuery, PlanStatus, TaskId, TaskKey, TaskKind, VerifyCommand,
};

use super::fields::commit_message;
use super::row::{Row, RowId};
use super::task_file::TaskFile;

/// The rows to pick from.
#[derive(Clone, Debug, Default)]
pub struct Pick {
    /// Whether optional tasks run.
    pub include_optional: bool,
    /// Tasks and fixes that were skipped or are waiting for a person.
    pub passed_over: BTreeSet<TaskKey>,
    /// Originals that come before their own open fixes. After a limit, a new run tries them once
    /// more first.
    pub originals_first: BTreeSet<TaskKey>,
}

/// The next row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Run this task or fix.
    Run(RowId),
    /// Verify and tick this group, whose rows are done.
    CloseGroup(RowId),
    /// Nothing is left except what was passed over.
    Nothing,
}

impl TaskFile {
    /// Returns the first open required original, or the deepest and latest of its open fixes. Open
    /// fixes of a finished original count as well: regreen leaves none, so a person wrote them.
    #[must_use]
    pub fn next(&self, pick: &Pick) -> Next {
        for id in self.rows() {
            let is_wanted = |row: &Row| row.fix_of.is_none() && required(row, pick);
            if !self.row(id).is_some_and(is_wanted) || self.is_passed_over(id, pick) {
                continue;
            }
            if self.is_done(id) {
                match self.latest_open_fix(id, pick) {
                    Some(fix) => return Next::Run(fix),
                    None => continue,
                }
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

    /// Returns how many required originals are open, including those passed over.
    #[must_use]
    pub fn open_originals(&self, include_optional: bool) -> usize {
        self.open_rows(include_optional).count()
    }

    /// Returns how many rows with this id or nested below it are open.
    #[must_use]
    pub fn open_rows_of(&self, id: &TaskId, include_optional: bool) -> usize {
        let originals = self.open_rows(include_optional);
        let originals = originals.filter(|row| self.belongs_to(*row, id)).count();
        let is_open_fix = |row: &RowId| !self.is_done(*row) && !self.is_on_its_own(*row);
        originals + self.rows_with_id(id).filter(is_open_fix).count()
    }

    /// Returns whether only its own Verify decides about a row: it is an original, or fixes a
    /// finished one.
    fn is_on_its_own(&self, row: RowId) -> bool {
        let root = self.root(row);
        root == row || self.is_done(root)
    }

    fn open_rows(&self, include_optional: bool) -> impl Iterator<Item = RowId> {
        let pick = Pick {
            include_optional,
            ..Pick::default()
        };
        self.rows().filter(move |id| {
            let is_open = |row: &Row| !row.done && required(row, &pick);
            self.row(*id).is_some_and(is_open) && self.is_on_its_own(*id)
        })
    }

    /// Returns whether a row is the task with this id, one of its fixes, or nested below it.
    #[must_use]
    pub fn belongs_to(&self, row: RowId, id: &TaskId) -> bool {
        let mut above = std::iter::successors(Some(self.root(row)), |row| self.parent(*row));
        above.any(|row| self.key(row).is_some_and(|key| key.id == *id))
    }

    /// Returns the number of rows to run, fixes included.
    #[must_use]
    pub fn runnable(&self, include_optional: bool) -> usize {
        self.rows
            .iter()
            .filter(|row| is_runnable(row, include_optional))
            .count()
    }

    /// Returns the 0-based position of a row's original among the rows to run.
    #[must_use]
    pub fn index_of(&self, row: RowId, include_optional: bool) -> usize {
        let root = self.root(row);
        let before = self.rows.iter().take(root.0);
        before
            .filter(|row| is_runnable(row, include_optional))
            .count()
    }

    fn is_passed_over(&self, row: RowId, pick: &Pick) -> bool {
        let is_in = |key: TaskKey| pick.passed_over.contains(&key);
        !pick.passed_over.is_empty() && self.key(row).is_some_and(is_in)
    }

    /// Returns whether a required row nested below a group is still open.
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
        self.latest_open_fix(original, pick)
    }

    fn latest_open_fix(&self, original: RowId, pick: &Pick) -> Option<RowId> {
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

impl TaskFile {
    /// Returns the state of the plan for a run with this query.
    #[must_use]
    pub fn plan_status(&self, query: &PlanQuery) -> PlanStatus {
        let picked = match self.next_of(query) {
            Next::Run(row) => self.picked(row, query, false),
            Next::CloseGroup(row) => self.picked(row, query, true),
            Next::Nothing => None,
        };
        let wanted = query.passed_over.union(&query.lost);
        let missing = wanted.filter(|task| !self.has_under_its_title(task));
        let is_ticked = |task: &&TaskKey| {
            let row = self.resolve(task);
            row.is_some_and(|row| self.is_done(row))
        };
        let settled = query.passed_over.iter().filter(is_ticked);
        let (open, all_open) = (
            self.open_of(query),
            self.open_originals(query.include_optional),
        );
        PlanStatus {
            next: picked.map_or(NextStep::Nothing, |picked| NextStep::Task(Box::new(picked))),
            total: count(self.runnable(query.include_optional)),
            is_empty: self.runnable(true) == 0,
            open: count(open),
            open_besides: count(all_open.saturating_sub(open)),
            first_open: self.first_open(query.include_optional),
            missing: missing.cloned().collect(),
            settled: settled.cloned().collect(),
        }
    }

    /// Returns whether the task is in the file with its title. A row with only its id may be
    /// another task.
    fn has_under_its_title(&self, task: &TaskKey) -> bool {
        let found = self.resolve(task).and_then(|row| self.key(row));
        found.is_some_and(|key| key.title == task.title)
    }

    fn picked(&self, row: RowId, query: &PlanQuery, is_group: bool) -> Option<PickedTask> {
        let task = self.task(row)?;
        let root = if self.is_on_its_own(row) {
            row
        } else {
            self.root(row)
        };
        let verify = self.judged_by(row);
        Some(PickedTask {
            task: task.key()?,
            root: self.key(root)?,
            has_own_verify: root != row && self.has_own_verify(row, &verify),
            index: count(self.index_of(row, query.include_optional)),
            total: count(self.runnable(query.include_optional)),
            is_verify: task.is_verify(),
            is_red: task.is_red(),
            is_group,
            has_fixes: self.fixes(row).next().is_some(),
            failed_before: None,
            verify,
            services: self.services(row),
            features: Some(self.features(row)),
            declines_commit: task
                .fields
                .commit
                .as_deref()
                .is_some_and(|field| commit_message(field).is_none()),
            commit: task.fields.commit.as_deref().and_then(commit_message),
        })
    }

    /// Returns the commands that verify a row. A row with a service but no Verify is judged by
    /// whether the service is ready.
    fn judged_by(&self, row: RowId) -> Vec<VerifyCommand> {
        let verify = self.verify_commands(row);
        if verify.is_empty() {
            let service = self.declared_service(row);
            service.map(|service| service.ready).unwrap_or_default()
        } else {
            verify
        }
    }

    /// Returns whether a fix has a check that neither the task it fixes nor its root has.
    fn has_own_verify(&self, fix: RowId, verify: &[VerifyCommand]) -> bool {
        let fixed = self.fixed_by(fix).into_iter().chain([self.root(fix)]);
        let theirs: Vec<VerifyCommand> = fixed.flat_map(|row| self.verify_commands(row)).collect();
        let is_own = |command: &VerifyCommand| {
            let mut same = theirs
                .iter()
                .filter(|other| other.command == command.command);
            same.next().is_none()
        };
        verify.iter().any(is_own)
    }

    fn first_open(&self, include_optional: bool) -> Option<u32> {
        let pick = Pick {
            include_optional,
            ..Pick::default()
        };
        match self.next(&pick) {
            Next::Run(row) | Next::CloseGroup(row) => {
                Some(count(self.index_of(row, include_optional)))
            }
            Next::Nothing => None,
        }
    }

    /// Returns the originals that haven't been tried yet.
    fn untried(&self, tried: &BTreeSet<TaskKey>) -> BTreeSet<TaskKey> {
        let originals = self.rows().filter(|row| self.fixed_by(*row).is_none());
        let keys = originals.filter_map(|row| self.key(row));
        keys.filter(|key| !tried.contains(key)).collect()
    }
}

impl TaskFile {
    /// Returns the next row of a run that is limited to one task: the task, its fixes and the rows
    /// below it, for as long as it is open.
    fn next_of(&self, query: &PlanQuery) -> Next {
        let others = query.only.iter().flat_map(|id| {
            let others = self.rows().filter(|row| !self.belongs_to(*row, id));
            others.filter_map(|row| self.key(row))
        });
        self.next(&Pick {
            include_optional: self.includes_optional(query),
            passed_over: query.passed_over.iter().cloned().chain(others).collect(),
            originals_first: query
                .originals_first
                .as_ref()
                .map(|tried| self.untried(tried))
                .unwrap_or_default(),
        })
    }

    fn open_of(&self, query: &PlanQuery) -> usize {
        let include_optional = self.includes_optional(query);
        match &query.only {
            None => self.open_originals(include_optional),
            Some(id) => self.open_rows_of(id, include_optional),
        }
    }

    /// Whether optional tasks run. Requesting one by name includes it.
    fn includes_optional(&self, query: &PlanQuery) -> bool {
        let mut named = query.only.iter().flat_map(|id| self.rows_with_id(id));
        query.include_optional || named.any(|row| self.is_optional(row))
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_originals_are_counted_without_fixes_and_unasked_optional_rows() {
        let file = TaskFile::read(
            "- [x] 1.1 A\n- [ ] 1.2 B\n- [ ] 1.2.1 [FIX 1.2] Fix: x\n- [ ]* 1.3 C\n- [ ] 1.4 D\n",
        );
        let open = |include_optional| {
            let query = PlanQuery {
                include_optional,
                ..PlanQuery::default()
            };
            file.plan_status(&query).open
        };
        assert_eq!((open(false), open(true)), (2, 3));
    }

    #[test]
    fn a_plan_of_optional_rows_only_is_not_empty() {
        let is_empty = |text: &str| {
            TaskFile::read(text)
                .plan_status(&PlanQuery::default())
                .is_empty
        };
        assert!(is_empty(""));
        assert!(is_empty("# Plan\n\nAll done.\n"));
        assert!(!is_empty("- [ ]* 1.1 Add benchmarks\n"));
        assert!(!is_empty("- [x] 1.1 Done\n"));
    }

    #[test]
    fn a_row_with_the_same_id_does_not_stand_in_for_one_that_is_gone() {
        let both = TaskFile::read("- [ ] 1.1 One\n- [ ] 1.1 Two\n- [ ] 1.2 Three\n");
        let first = both.rows().next().and_then(|row| both.key(row)).unwrap();
        let query = PlanQuery {
            passed_over: BTreeSet::from([first.clone()]),
            ..PlanQuery::default()
        };
        assert_eq!(both.plan_status(&query).missing, []);
        let one = TaskFile::read("- [x] 1.1 Two\n- [x] 1.2 Three\n");
        assert_eq!(one.plan_status(&query).missing, [first]);
    }
}
