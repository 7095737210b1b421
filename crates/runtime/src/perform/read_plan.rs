use std::collections::BTreeSet;

use regreen_documents::{Next, Pick, RowId, TaskFile, commit_message, verify_commands};
use regreen_engine::{NextStep, Plan};
use regreen_model::{PickedTask, TaskId, TaskKey};

use crate::audience::Audience;
use crate::outline::outline;
use crate::past::Past;
use crate::perform_error::PerformError;
use crate::performer::Performer;

/// What is to be chosen from.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) include_optional: bool,
    pub(crate) only: Option<&'a TaskId>,
    pub(crate) passed_over: &'a BTreeSet<TaskKey>,
    /// Originals come before their own open fixes, all but these.
    pub(crate) originals_first: Option<&'a BTreeSet<TaskKey>>,
}

/// What the task file says now.
pub(crate) fn read_plan(
    performer: &mut Performer,
    wanted: &Wanted<'_>,
    past: &Past<'_>,
    audience: &mut dyn Audience,
) -> Result<Plan, PerformError> {
    let file = performer.plan.read()?;
    audience.outline(&outline(&file));
    let next = match wanted.next(&file) {
        Next::Run(row) => picked(&file, row, wanted, false),
        Next::CloseGroup(row) => picked(&file, row, wanted, true),
        Next::Nothing => None,
    };
    let missing = wanted.passed_over.iter();
    let missing = missing.filter(|task| file.resolve(task).is_none());
    let (open, all_open) = (
        wanted.open(&file),
        file.open_originals(wanted.include_optional),
    );
    Ok(Plan {
        total: count(file.runnable(wanted.include_optional)),
        open: count(open),
        open_besides: count(all_open.saturating_sub(open)),
        first_open: first_open(&file, wanted.include_optional),
        missing: missing.cloned().collect(),
        next: match next {
            None => NextStep::Nothing,
            Some(picked) => NextStep::Task(Box::new(PickedTask {
                failed_before: past.failure(&picked.task)?,
                ..picked
            })),
        },
    })
}

/// Originals that were not tried yet.
fn untried(file: &TaskFile, tried: &BTreeSet<TaskKey>) -> BTreeSet<TaskKey> {
    let originals = file.rows().filter(|row| file.fixed_by(*row).is_none());
    let keys = originals.filter_map(|row| file.key(row));
    keys.filter(|key| !tried.contains(key)).collect()
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
                .map(|tried| untried(file, tried))
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

fn picked(file: &TaskFile, row: RowId, wanted: &Wanted<'_>, is_group: bool) -> Option<PickedTask> {
    let task = file.task(row)?;
    Some(PickedTask {
        task: task.key()?,
        root: file.key(file.root(row))?,
        index: count(file.index_of(row, wanted.include_optional)),
        total: count(file.runnable(wanted.include_optional)),
        is_verify: task.is_verify(),
        is_group,
        has_fixes: file.fixes(row).next().is_some(),
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

fn first_open(file: &TaskFile, include_optional: bool) -> Option<u32> {
    let pick = Pick {
        include_optional,
        ..Pick::default()
    };
    match file.next(&pick) {
        Next::Run(row) | Next::CloseGroup(row) => Some(count(file.index_of(row, include_optional))),
        Next::Nothing => None,
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
