//! Reports what a review found, and checks the plan a last time before it is used.

use std::borrow::Cow;
use std::collections::BTreeSet;

use regreen_model::{Fields, Service, TaskId, TaskKey};

use super::frozen::changed_aspect;
use super::matching::{block_lines, bytes_of, is_leaf, own_text, tasks_of, words};
use super::put_back::MissingRows;
use super::{ClaimedRow, ForeignCode, Matching, OriginalPlan, PlanReview, RevertedEdit, RowChange};
use crate::{RowId, TaskFile};

/// Returns the rows that were open and not being worked on, and that the agent ticked.
pub(super) fn ticked(plan: &OriginalPlan<'_>, after: &TaskFile) -> BTreeSet<usize> {
    let matching = Matching::of(plan.before, after);
    let is_ticked = |row: &usize| {
        let now = matching.after(*row).and_then(|now| after.rows.get(now));
        !plan.protected.contains(row) && now.is_some_and(|now| now.done)
    };
    tasks_of(plan.before).filter(is_ticked).collect()
}

/// Returns the agent's ticks: new ones on old rows, and all on new rows.
pub(super) fn claims(
    plan: &OriginalPlan<'_>,
    merged: &TaskFile,
    matching: &Matching,
    ticked: &BTreeSet<usize>,
) -> Vec<ClaimedRow> {
    let is_done = |at: usize| merged.rows.get(at).is_some_and(|row| row.done);
    tasks_of(merged)
        .filter_map(|at| {
            let verify_of = match matching.before(at) {
                Some(row) if ticked.contains(&row) => plan.before.task(RowId(row)),
                None if is_done(at) => merged.task(RowId(at)),
                Some(_) | None => return None,
            };
            Some(ClaimedRow {
                key: merged.key(RowId(at))?,
                is_red: verify_of.as_ref().is_some_and(regreen_model::Task::is_red),
                verify: verify_of
                    .map(|task| task.fields)
                    .iter()
                    .flat_map(Fields::verify_fields)
                    .map(str::to_owned)
                    .collect(),
            })
        })
        .collect()
}

pub(super) fn added(merged: &TaskFile, matching: &Matching) -> Vec<TaskKey> {
    tasks_of(merged)
        .filter(|at| matching.before(*at).is_none())
        .filter_map(|at| merged.key(RowId(at)))
        .collect()
}

/// Returns the services of new rows. Nobody vouches for them.
pub(super) fn added_services(
    plan: &OriginalPlan<'_>,
    merged: &TaskFile,
    matching: &Matching,
) -> Vec<Service> {
    let new = tasks_of(merged).filter(|at| matching.before(*at).is_none());
    let services = new.filter_map(|at| merged.declared_service(RowId(at)));
    let is_known = |service: &Service| {
        let mut known = plan
            .before
            .rows()
            .filter_map(|row| plan.before.declared_service(row));
        known.any(|known| known.command == service.command)
    };
    services.filter(|service| !is_known(service)).collect()
}

pub(super) fn edited(
    plan: &OriginalPlan<'_>,
    merged: &TaskFile,
    matching: &Matching,
) -> Vec<TaskKey> {
    let is_edited = |at: &usize| {
        matching.before(*at).is_some_and(|row| {
            !plan.protected.contains(&row) && words(plan.before, row) != words(merged, *at)
        })
    };
    tasks_of(merged)
        .filter(is_edited)
        .filter_map(|at| merged.key(RowId(at)))
        .collect()
}

pub(super) fn warnings(
    plan: &OriginalPlan<'_>,
    after: &TaskFile,
    review: &PlanReview,
    code: ForeignCode,
) -> Vec<String> {
    let restored = review.restored.then(|| {
        let is_hidden = MissingRows::of(plan, after, after).are_hidden(plan, after);
        match (code.when(), is_hidden) {
            (None, true) => "the agent put tasks into a code block or a comment; restored the plan from before the attempt".to_owned(),
            (None, false) => "the agent rewrote the plan beyond recognition; restored the plan from before the attempt".to_owned(),
            (Some(when), true) => format!("tasks were put into a code block or a comment {when}; restored the plan from before"),
            (Some(when), false) => format!("the plan was rewritten beyond recognition {when}; restored the plan from before"),
        }
    });
    let done = done_tasks(plan);
    let is_done = |key: &TaskKey| done.contains(&(&key.id, key.title.as_str()));
    let reverted = review
        .reverted
        .iter()
        .filter_map(|one| reverted(one, is_done(&one.key), code));
    let vanished = review.vanished.iter().map(|key| {
        let id = &key.id;
        format!("restored task {id}, which had vanished from the plan; run `regreen skip {id}` to skip it")
    });
    let skipped = review.skipped.iter().map(|key| {
        let id = &key.id;
        format!("task {id} has vanished from the plan again; skipping it")
    });
    let services = review.services.iter().map(|service| {
        let id = &service.task.id;
        let by = code.when().map_or("which the agent added".to_owned(), |when| format!("which was added {when}"));
        format!("task {id}, {by}, declares a service: in this run, it doesn't run during the checks of other tasks")
    });
    restored
        .into_iter()
        .chain(first_few(services, "services are declared by"))
        .chain(first_few(reverted, "reverted changes to"))
        .chain(first_few(vanished, "restored"))
        .chain(first_few(skipped, "skipping, because they vanished again,"))
        .collect()
}

/// How many rows are named one by one. An agent may change all of them.
const NAMED: usize = 10;

fn first_few(mut warnings: impl Iterator<Item = String>, what: &str) -> Vec<String> {
    let mut named: Vec<String> = warnings.by_ref().take(NAMED).collect();
    let more = warnings.count();
    if more > 0 {
        named.push(format!("{what} {more} more tasks"));
    }
    named
}

fn done_tasks<'a>(plan: &OriginalPlan<'a>) -> BTreeSet<(&'a TaskId, &'a str)> {
    let done = plan.before.rows.iter().filter(|row| row.done);
    done.filter_map(|row| Some((row.id.as_ref()?, row.title.as_str())))
        .collect()
}

/// Returns the warning about a reverted change. Ticking its own task isn't worth one.
fn reverted(one: &RevertedEdit, is_done: bool, code: ForeignCode) -> Option<String> {
    let id = &one.key.id;
    let state = match one.what {
        RowChange::Redefined(_) => "has not run yet",
        _ if is_done => "is done",
        _ => "is being worked on",
    };
    if one.what == RowChange::Ticked {
        return None;
    }
    let what = match code.when() {
        None => reverted_of_agent(one.what),
        Some(when) => reverted_change(one.what, when),
    };
    Some(format!("task {id} {state}: {what}"))
}

fn reverted_of_agent(what: RowChange) -> String {
    match what {
        RowChange::Redefined(aspect) => format!("reverted the agent's change of its {aspect}"),
        RowChange::Unticked => "the agent unticked it; ticked it again".to_owned(),
        RowChange::Ticked | RowChange::Edited => "reverted the agent's changes to it".to_owned(),
        RowChange::Removed => "the agent removed it; restored it".to_owned(),
        RowChange::Duplicated => "removed a copy that the agent made of it".to_owned(),
    }
}

/// Says when it was changed: by whom is not known.
fn reverted_change(what: RowChange, when: &str) -> String {
    match what {
        RowChange::Redefined(aspect) => format!("its {aspect} was changed {when}; reverted that"),
        RowChange::Unticked => format!("it was unticked {when}; ticked it again"),
        RowChange::Ticked | RowChange::Edited => format!("it was changed {when}; reverted that"),
        RowChange::Removed => format!("it was removed {when}; restored it"),
        RowChange::Duplicated => format!("removed a copy of it that was made {when}"),
    }
}

pub(super) fn is_complete(
    plan: &OriginalPlan<'_>,
    merged: &TaskFile,
    matching: &Matching,
    skipped: &[usize],
) -> bool {
    let is_whole = |row: usize| match matching.after(row) {
        Some(now) => {
            let is_frozen = changed_aspect((plan.before, row), (merged, now), matching).is_none();
            is_frozen && (!plan.protected.contains(&row) || same(plan, row, merged, now))
        }
        None => skipped.contains(&row),
    };
    tasks_of(plan.before).all(is_whole) && protected_are_found(plan, merged, matching)
}

/// Returns whether a protected row has the same bytes.
fn same(plan: &OriginalPlan<'_>, row: usize, merged: &TaskFile, now: usize) -> bool {
    let (Some(old), Some(new)) = (plan.before.rows.get(row), merged.rows.get(now)) else {
        return false;
    };
    old.done == new.done
        && old.title == new.title
        && own_text(plan.before, row) == own_text(merged, now)
        && (!is_leaf(plan.before, row) || block(plan.before, row) == block(merged, now))
}

fn block(file: &TaskFile, at: usize) -> Option<&str> {
    file.text().get(bytes_of(file, &block_lines(file, at)))
}

/// Returns whether the keys of tasks that are done or being worked on still resolve to them, not to
/// copies.
fn protected_are_found(plan: &OriginalPlan<'_>, merged: &TaskFile, matching: &Matching) -> bool {
    plan.protected.iter().all(|row| {
        let (key, now) = (plan.key(*row), matching.after(*row));
        let found = key.and_then(|key| merged.resolve(&key));
        now.is_none() || found == now.map(RowId)
    })
}

/// Returns the agent's text with the original line endings, if each text has only one kind. An
/// editor that converts all of them has changed nothing.
pub(super) fn with_line_endings_of<'t>(before: &str, after: &'t str) -> Cow<'t, str> {
    match (only_ending(before), only_ending(after)) {
        (Some(old), Some(new)) if old != new => Cow::Owned(after.replace(new, old)),
        _ => Cow::Borrowed(after),
    }
}

/// Returns the only kind of line ending in a text; `None` if it has several or none.
fn only_ending(text: &str) -> Option<&'static str> {
    let pairs = text.matches("\r\n").count();
    let returns = text.matches('\r').count();
    let feeds = text.matches('\n').count();
    match (pairs, returns, feeds) {
        (0, 0, 1..) => Some("\n"),
        (0, 1.., 0) => Some("\r"),
        (1.., _, _) if returns == pairs && feeds == pairs => Some("\r\n"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_kind_of_line_ending_becomes_the_other_and_a_mixture_stays() {
        assert_eq!(with_line_endings_of("a\r\nb", "c\nd\n"), "c\r\nd\r\n");
        assert_eq!(with_line_endings_of("a\nb", "c\r\nd"), "c\nd");
        assert_eq!(with_line_endings_of("a\rb", "c\n"), "c\r");
        assert_eq!(with_line_endings_of("a\nb", "c\r\nd\n"), "c\r\nd\n");
        assert_eq!(with_line_endings_of("a\nb\r\n", "c\r\n"), "c\r\n");
        assert_eq!(with_line_endings_of("a", "c\r\n"), "c\r\n");
    }
}
