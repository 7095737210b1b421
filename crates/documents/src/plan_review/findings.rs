//! What there is to say about a reviewed plan.

use std::collections::BTreeSet;

use regreen_model::{TaskId, TaskKey};

use super::own_text::{tasks_of, words};
use super::{Claim, Matching, Plan, PlanReview, TakenBack, Tampering};
use crate::{RowId, TaskFile};

/// Ticks that nobody but the agent made, on rows of before and on new ones.
pub(super) fn claims(plan: &Plan<'_>, merged: &TaskFile, matching: &Matching) -> Vec<Claim> {
    let is_done = |at: &usize| merged.rows.get(*at).is_some_and(|row| row.done);
    tasks_of(merged)
        .filter(is_done)
        .filter_map(|at| {
            let verify_of = match matching.before(at) {
                Some(row) if plan.protected.contains(&row) => return None,
                Some(row) => plan.before.task(RowId(row)),
                None => merged.task(RowId(at)),
            };
            Some(Claim {
                key: merged.key(RowId(at))?,
                verify: verify_of.and_then(|task| task.fields.verify),
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

pub(super) fn edited(plan: &Plan<'_>, merged: &TaskFile, matching: &Matching) -> Vec<TaskKey> {
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

pub(super) fn warnings(plan: &Plan<'_>, review: &PlanReview) -> Vec<String> {
    let restored = review.restored.then(|| {
        "the agent rewrote the plan beyond recognition: the plan of before the attempt is restored".to_owned()
    });
    let done = done_tasks(plan);
    let is_done = |key: &TaskKey| done.contains(&(&key.id, key.title.as_str()));
    let taken_back = review
        .taken_back
        .iter()
        .filter_map(|one| taken_back(one, is_done(&one.key)));
    let vanished = review.vanished.iter().map(|key| {
        let id = &key.id;
        format!("task {id} had vanished from the plan and was put back; to leave it out, run `regreen skip {id}`")
    });
    let skipped = review.skipped.iter().map(|key| {
        let id = &key.id;
        format!("task {id} has vanished from the plan again: skipped")
    });
    restored
        .into_iter()
        .chain(taken_back)
        .chain(vanished)
        .chain(skipped)
        .collect()
}

fn done_tasks<'a>(plan: &Plan<'a>) -> BTreeSet<(&'a TaskId, &'a str)> {
    let done = plan.before.rows.iter().filter(|row| row.done);
    done.filter_map(|row| Some((row.id.as_ref()?, row.title.as_str())))
        .collect()
}

/// That an agent ticks its own task is nothing to worry about.
fn taken_back(one: &TakenBack, is_done: bool) -> Option<String> {
    let id = &one.key.id;
    let state = if is_done {
        "is done"
    } else {
        "is being worked on"
    };
    let deed = match one.what {
        Tampering::Ticked => return None,
        Tampering::Unticked => "the agent unticked it, it is ticked again",
        Tampering::Edited => "what the agent changed in it was taken back",
        Tampering::Removed => "the agent removed it, it was put back",
        Tampering::Duplicated => "a copy that the agent made of it was removed",
    };
    Some(format!("task {id} {state}: {deed}"))
}
