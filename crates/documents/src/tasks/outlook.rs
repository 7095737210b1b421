//! What a run makes of the file: what is next, and what is left.

use std::collections::BTreeSet;

use regreen_model::{PickedTask, TaskId, TaskKey};

use super::fields::commit_message;
use super::next::{Next, Pick};
use super::row::RowId;
use super::task_file::TaskFile;
use super::verify::verify_commands;

/// What a run is to choose from.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    pub include_optional: bool,
    pub only: Option<&'a TaskId>,
    pub passed_over: &'a BTreeSet<TaskKey>,
    /// Originals come before their own open fixes, all but these.
    pub originals_first: Option<&'a BTreeSet<TaskKey>>,
}

/// What the file has for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlook {
    pub next: Option<PickedTask>,
    /// Rows to run, fixes included.
    pub total: u32,
    /// Required originals that are still open; of those that were asked for, if only some were.
    pub open: u32,
    /// The others that are open.
    pub open_besides: u32,
    /// The 0-based place among the rows to run of the first that is open.
    pub first_open: Option<u32>,
    /// Tasks that were passed over and are not in the file any more as they were.
    pub missing: Vec<TaskKey>,
}

impl TaskFile {
    #[must_use]
    pub fn outlook(&self, wanted: &Wanted<'_>) -> Outlook {
        let next = match wanted.next(self) {
            Next::Run(row) => self.picked(row, wanted, false),
            Next::CloseGroup(row) => self.picked(row, wanted, true),
            Next::Nothing => None,
        };
        let missing = wanted.passed_over.iter();
        let missing = missing.filter(|task| !self.has_as_it_was(task));
        let (open, all_open) = (
            wanted.open(self),
            self.open_originals(wanted.include_optional),
        );
        Outlook {
            next,
            total: count(self.runnable(wanted.include_optional)),
            open: count(open),
            open_besides: count(all_open.saturating_sub(open)),
            first_open: self.first_open(wanted.include_optional),
            missing: missing.cloned().collect(),
        }
    }

    /// Whether the task is there under its title. Another row with its id may be another task:
    /// who cannot tell must not take one for the other.
    fn has_as_it_was(&self, task: &TaskKey) -> bool {
        let found = self.resolve(task).and_then(|row| self.key(row));
        found.is_some_and(|key| key.title == task.title)
    }

    fn picked(&self, row: RowId, wanted: &Wanted<'_>, is_group: bool) -> Option<PickedTask> {
        let task = self.task(row)?;
        Some(PickedTask {
            task: task.key()?,
            root: self.key(self.root(row))?,
            index: count(self.index_of(row, wanted.include_optional)),
            total: count(self.runnable(wanted.include_optional)),
            is_verify: task.is_verify(),
            is_group,
            has_fixes: self.fixes(row).next().is_some(),
            failed_before: None,
            verify: task
                .fields
                .verify
                .as_deref()
                .map(verify_commands)
                .unwrap_or_default(),
            commit: task.fields.commit.as_deref().and_then(commit_message),
        })
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

    /// Originals that were not tried yet.
    fn untried(&self, tried: &BTreeSet<TaskKey>) -> BTreeSet<TaskKey> {
        let originals = self.rows().filter(|row| self.fixed_by(*row).is_none());
        let keys = originals.filter_map(|row| self.key(row));
        keys.filter(|key| !tried.contains(key)).collect()
    }
}

impl Wanted<'_> {
    /// If only one task was asked for: that, its fixes and what stands below it, as long as it
    /// is open; whatever else is open.
    fn next(&self, file: &TaskFile) -> Next {
        let others = self.only.into_iter().flat_map(|id| {
            let others = file.rows().filter(|row| !file.belongs_to(*row, id));
            others.filter_map(|row| file.key(row))
        });
        file.next(&Pick {
            include_optional: self.includes_optional(file),
            passed_over: self.passed_over.iter().cloned().chain(others).collect(),
            originals_first: self
                .originals_first
                .map(|tried| file.untried(tried))
                .unwrap_or_default(),
        })
    }

    fn open(&self, file: &TaskFile) -> usize {
        let include_optional = self.includes_optional(file);
        match self.only {
            None => file.open_originals(include_optional),
            Some(id) => file.open_rows_of(id, include_optional),
        }
    }

    /// Whoever names an optional task asks for it.
    fn includes_optional(&self, file: &TaskFile) -> bool {
        let mut named = self.only.into_iter().flat_map(|id| file.rows_with_id(id));
        self.include_optional || named.any(|row| file.is_optional(row))
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_with_the_same_id_does_not_stand_in_for_one_that_is_gone() {
        let both = TaskFile::read("- [ ] 1.1 One\n- [ ] 1.1 Two\n- [ ] 1.2 Three\n");
        let first = both.rows().next().and_then(|row| both.key(row)).unwrap();
        let passed_over = BTreeSet::from([first.clone()]);
        let wanted = Wanted {
            include_optional: false,
            only: None,
            passed_over: &passed_over,
            originals_first: None,
        };
        assert_eq!(both.outlook(&wanted).missing, []);
        let one = TaskFile::read("- [x] 1.1 Two\n- [x] 1.2 Three\n");
        assert_eq!(one.outlook(&wanted).missing, [first]);
    }
}
