//! The parts of a row that make it a task. They stay as they were while foreign code runs, even if
//! the rest of the row changes.

use std::fmt;

use regreen_model::{VerifyCommand, VerifyForm};

use super::Matching;
use super::matching::is_task;
use crate::{RowId, TaskFile};

/// A part of a row that decides whether it runs, in which order, and how it is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aspect {
    /// Its id.
    Id,
    /// Its markers (`[P]`, `[VERIFY]`, `[FIX 1.3]`, …) and the star of optional rows.
    Markers,
    /// The row it is nested below, and whether rows are nested below it.
    Nesting,
    /// How it is judged.
    Verify,
    /// How it is committed.
    Commit,
    /// The services that it starts for itself and the rows that follow.
    Service,
}

impl fmt::Display for Aspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Id => "id",
            Self::Markers => "markers",
            Self::Nesting => "nesting",
            Self::Verify => "Verify",
            Self::Commit => "Commit",
            Self::Service => "Service",
        })
    }
}

/// Returns the first aspect of a row that changed.
pub(super) fn changed_aspect(
    (before, row): (&TaskFile, usize),
    (after, now): (&TaskFile, usize),
    matching: &Matching,
) -> Option<Aspect> {
    let (old, new) = (before.rows.get(row)?, after.rows.get(now)?);
    let moved = |row: RowId| matching.after(row.0).map(RowId);
    let is_same_id = old.numbered == new.numbered && (old.numbered || old.id == new.id);
    // A task that is gone has neither fixes nor children.
    let is_same_row = |was: Option<RowId>, is: Option<RowId>| was.map(moved) == is.map(Some);
    let (was, is) = (before.task(RowId(row))?, after.task(RowId(now))?);
    let checks = [
        (Aspect::Id, is_same_id),
        (
            Aspect::Markers,
            old.markers == new.markers
                && old.optional == new.optional
                && is_same_row(old.fix_of, new.fix_of),
        ),
        (
            Aspect::Nesting,
            old.kind == new.kind && is_same_row(group_of(before, row), group_of(after, now)),
        ),
        (
            Aspect::Verify,
            was.fields.verify_fields().eq(is.fields.verify_fields())
                && is_judged_as_before(before, row, after, now),
        ),
        (Aspect::Commit, was.fields.commit == is.fields.commit),
        (
            Aspect::Service,
            was.fields.service == is.fields.service
                && was.fields.ready == is.fields.ready
                && service_of(before, row) == service_of(after, now),
        ),
    ];
    let changed = checks.into_iter().find(|(_, is_same)| !is_same);
    changed.map(|(aspect, _)| aspect)
}

/// The same words can be a different check: whether they are a command also depends on the Files of
/// this row and those above. Being surer than before that it is a command loses nothing.
fn is_judged_as_before(before: &TaskFile, row: usize, after: &TaskFile, now: usize) -> bool {
    let was = before.verify_commands(RowId(row));
    let is = after.verify_commands(RowId(now));
    let is_kept = |(was, is): (&VerifyCommand, &VerifyCommand)| {
        let is_surer = match is.form {
            VerifyForm::Always => true,
            VerifyForm::IfProgram => was.form == VerifyForm::IfFiles,
            VerifyForm::IfTarget | VerifyForm::IfFiles | VerifyForm::LeftOut => false,
        };
        let form = if is_surer { was.form } else { is.form };
        *was == VerifyCommand { form, ..is.clone() }
    };
    was.len() == is.len() && was.iter().zip(&is).all(is_kept)
}

/// Returns the service that a row declares. smart-ralph's rows declare it in their text.
fn service_of(file: &TaskFile, row: usize) -> Option<(String, Vec<VerifyCommand>)> {
    let service = file.declared_service(RowId(row))?;
    Some((service.command, service.ready))
}

/// Returns the nearest task that a row is nested below. Checklist items in between count as text.
fn group_of(file: &TaskFile, row: usize) -> Option<RowId> {
    let mut above = std::iter::successors(file.parent(RowId(row)), |row| file.parent(*row));
    above.find(|row| is_task(file, row.0))
}
