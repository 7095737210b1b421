//! What an agent did to the plan while it worked, and what of it may stay.
//!
//! Rows that are done or being worked on are as they were before, byte for byte. Of all others
//! stays what makes them tasks (`frozen.rs`): id, markers, nesting, Verify, Commit. Ticks of other
//! rows are claims: the boxes are empty again until the claims are judged. A row that vanished is
//! put back once. Everything else that was added or edited stays. Where that cannot be had, the
//! plan of before is restored.

mod accept;
mod findings;
mod frozen;
mod matching;
mod put_back;
mod restore;

use std::collections::BTreeSet;

use regreen_model::{PlanChanges, TaskKey};

pub use self::accept::{choices_of_change, line_diff, with_accepted_changes, with_reopened};
pub use self::frozen::Aspect;
use self::matching::{Matching, tasks_of};
use crate::{RowId, TaskFile, verify_commands};

/// What an agent did to the plan during an attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanReview {
    /// The file as it has to be; `None` if it may stay as the agent left it.
    pub text: Option<String>,
    /// The text is that of before the attempt, because no other could be made; the caller keeps
    /// the agent's.
    pub restored: bool,
    /// Rows that were ticked, and not worked on. They are not ticked in the text; those that
    /// verify have to be ticked.
    pub claims: Vec<ClaimedRow>,
    /// Changes that were taken back.
    pub reverted: Vec<RevertedEdit>,
    /// Rows that were gone and are there again.
    pub vanished: Vec<TaskKey>,
    /// Rows that were gone once more.
    pub skipped: Vec<TaskKey>,
    /// Rows that are new.
    pub added: Vec<TaskKey>,
    /// Rows not yet run that say something else now.
    pub edited: Vec<TaskKey>,
    /// What people should know, one sentence each.
    pub warnings: Vec<String>,
}

impl PlanReview {
    /// Converts the review to what a run records.
    #[must_use]
    pub fn into_changes(self) -> PlanChanges {
        let claims = self.claims.into_iter().map(|claim| regreen_model::Claim {
            verify: claim
                .verify
                .iter()
                .flat_map(|field| verify_commands(field))
                .collect(),
            task: claim.key,
            is_red: claim.is_red,
        });
        PlanChanges {
            claims: claims.collect(),
            skipped: self.skipped,
            put_back: self.vanished,
            added: self.added,
            edited: self.edited,
            reverted: self
                .reverted
                .into_iter()
                .filter(RevertedEdit::is_news)
                .map(|one| one.key)
                .collect(),
            warnings: self.warnings,
        }
    }
}

/// A row that the agent ticked without being asked to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedRow {
    /// The task.
    pub key: TaskKey,
    /// The Verify fields as they were before.
    pub verify: Vec<String>,
    /// Whether it had the marker `[RED]`.
    pub is_red: bool,
}

/// A change that was taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevertedEdit {
    /// The task.
    pub key: TaskKey,
    /// What the agent had changed.
    pub what: RowChange,
}

impl RevertedEdit {
    /// An agent that ticks its own task is not worth a word.
    fn is_news(&self) -> bool {
        self.what != RowChange::Ticked
    }
}

/// A change of a protected row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowChange {
    /// The box of a task that is being worked on: regreen ticks it.
    Ticked,
    /// The box of a done task was emptied.
    Unticked,
    /// The text was changed.
    Edited,
    /// What makes a row a task was changed before it ran.
    Redefined(Aspect),
    /// The row was removed.
    Removed,
    /// A second row with the same id and title.
    Duplicated,
}

/// Reviews `after`, the plan as the agent left it, given `before`, the plan it started with.
///
/// `running` are the task that was worked on, its root and their fixes; `put_back_already`
/// the rows that vanished in earlier attempts.
#[must_use]
pub fn review(
    before: &TaskFile,
    after: &TaskFile,
    running: &[TaskKey],
    put_back_already: &BTreeSet<TaskKey>,
) -> PlanReview {
    if before.text() == after.text() {
        return PlanReview::default();
    }
    let plan = OriginalPlan::new(before, running, put_back_already);
    let merged = [0, 1]
        .into_iter()
        .find_map(|min_gap| merge(&plan, after, min_gap));
    let mut review = merged.unwrap_or_else(|| restored(&plan, after));
    review.warnings = findings::warnings(&plan, &review);
    review
}

/// Returns the row before an attempt that a row after it was, with whatever title.
pub(crate) fn row_before(before: &TaskFile, after: &TaskFile, row: RowId) -> Option<RowId> {
    Matching::of(before, after).before(row.0).map(RowId)
}

/// The plan before the attempt, with what must not change in it.
pub(crate) struct OriginalPlan<'a> {
    before: &'a TaskFile,
    /// Rows that are done or being worked on.
    protected: BTreeSet<usize>,
    /// Rows that were put back before.
    put_back: BTreeSet<usize>,
}

impl<'a> OriginalPlan<'a> {
    fn new(
        before: &'a TaskFile,
        running: &[TaskKey],
        put_back_already: &BTreeSet<TaskKey>,
    ) -> Self {
        let rows = |keys: &mut dyn Iterator<Item = &TaskKey>| -> BTreeSet<usize> {
            keys.filter_map(|key| before.resolve(key))
                .map(|row| row.0)
                .collect()
        };
        let mut protected = rows(&mut running.iter());
        let is_done = |at: &usize| before.rows.get(*at).is_some_and(|row| row.done);
        protected.extend(tasks_of(before).filter(is_done));
        Self {
            before,
            protected,
            put_back: rows(&mut put_back_already.iter()),
        }
    }

    fn key(&self, at: usize) -> Option<TaskKey> {
        self.before.key(RowId(at))
    }

    fn keys(&self, rows: &[usize]) -> Vec<TaskKey> {
        rows.iter().filter_map(|at| self.key(*at)).collect()
    }
}

/// Returns the agent's plan with forbidden changes reverted; `None` if the result would not be
/// what was meant.
fn merge(plan: &OriginalPlan<'_>, after: &TaskFile, min_gap: usize) -> Option<PlanReview> {
    let same_endings = findings::with_line_endings_of(plan.before.text(), after.text());
    let after_as_before = TaskFile::read(same_endings);
    let ticked = findings::ticked(plan, &after_as_before);
    let (current, mut reverted) = restore::protected_rows(plan, &after_as_before, min_gap);
    let missing = put_back::MissingRows::of(plan, &after_as_before, &current);
    if missing.is_most_of(plan) {
        return None;
    }
    reverted.extend(missing.reverted(plan));
    let merged = put_back::put_back(plan, &current, &missing, min_gap);
    let matching = Matching::of(plan.before, &merged);
    let claims = findings::claims(plan, &merged, &matching, &ticked);
    let merged = restore::without_new_ticks(plan, merged, &matching);
    findings::is_complete(plan, &merged, &matching, &missing.skipped).then(|| PlanReview {
        text: (merged.text() != after.text()).then(|| merged.text().to_owned()),
        restored: false,
        claims,
        reverted: once_per_task(reverted, &plan.keys(&missing.vanished)),
        vanished: plan.keys(&missing.vanished),
        skipped: plan.keys(&missing.skipped),
        added: findings::added(&merged, &matching),
        edited: findings::edited(plan, &merged, &matching),
        warnings: Vec::new(),
    })
}

/// Returns the plan before the attempt: the agent's cannot be merged with it.
fn restored(plan: &OriginalPlan<'_>, after: &TaskFile) -> PlanReview {
    let missing = put_back::MissingRows::of(plan, after, after);
    PlanReview {
        text: Some(plan.before.text().to_owned()),
        restored: true,
        reverted: missing.reverted(plan),
        // With the plan of before, rows that were gone once more are there again, too.
        vanished: plan.keys(&[missing.vanished, missing.skipped].concat()),
        ..PlanReview::default()
    }
}

/// Reports a restored row once, as restored.
fn once_per_task(reverted: Vec<RevertedEdit>, vanished: &[TaskKey]) -> Vec<RevertedEdit> {
    let mut seen: BTreeSet<TaskKey> = vanished.iter().cloned().collect();
    reverted
        .into_iter()
        .filter(|one| seen.insert(one.key.clone()))
        .collect()
}

#[cfg(test)]
mod tests;
