//! Reviews what an agent did to the plan, and decides which changes may stay.
//!
//! Rows that are done or being worked on are restored byte for byte. In all other rows, what makes
//! them tasks (`frozen.rs`) is restored: id, markers, nesting, Verify, Commit. Ticks on other rows
//! are claims: their boxes stay empty until the claims are judged. A row that vanished is put back
//! once. All other additions and edits stay. If no such text can be made, or rows to be put back still
//! stand there as code or in a comment, the original plan is restored.

mod accept;
mod findings;
mod frozen;
mod matching;
mod put_back;
mod restore;

use std::collections::BTreeSet;

use regreen_model::{PlanChanges, Service, TaskKey};

pub use self::accept::{choices_of_change, line_diff, with_accepted_changes, with_reopened};
pub use self::frozen::Aspect;
use self::matching::{Matching, tasks_of};
use crate::{RowId, TaskFile, verify_commands};

/// The review of an agent's changes to the plan during an attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanReview {
    /// The text that the file must have; `None` if it may stay as the agent left it.
    pub text: Option<String>,
    /// Whether `text` is the original plan because nothing else could be made; the caller keeps the
    /// agent's version.
    pub restored: bool,
    /// Rows that the agent ticked although it wasn't working on them. They are unticked in the
    /// text; those that pass Verify must be ticked again.
    pub claims: Vec<ClaimedRow>,
    /// Changes that were reverted.
    pub reverted: Vec<RevertedEdit>,
    /// Rows that vanished and were put back.
    pub vanished: Vec<TaskKey>,
    /// Rows that vanished for the second time.
    pub skipped: Vec<TaskKey>,
    /// New rows.
    pub added: Vec<TaskKey>,
    /// Services that new rows declare and no row declared before.
    pub services: Vec<Service>,
    /// Rows not yet run whose text changed.
    pub edited: Vec<TaskKey>,
    /// Warnings for people, one sentence each.
    pub warnings: Vec<String>,
}

impl PlanReview {
    /// Converts the review into what a run records.
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
            services: self.services.into_iter().map(|one| one.command).collect(),
        }
    }
}

/// A row that the agent ticked of its own accord.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedRow {
    /// The task.
    pub key: TaskKey,
    /// The Verify fields from before the attempt.
    pub verify: Vec<String>,
    /// Whether it had a `[RED]` marker.
    pub is_red: bool,
}

/// A change that was reverted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevertedEdit {
    /// The task.
    pub key: TaskKey,
    /// The change.
    pub what: RowChange,
}

impl RevertedEdit {
    /// Whether people should know. An agent that ticks its own task isn't news.
    fn is_news(&self) -> bool {
        self.what != RowChange::Ticked
    }
}

/// A change to a protected row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowChange {
    /// The agent ticked a task that is being worked on. Only regreen ticks it.
    Ticked,
    /// A finished task was unticked.
    Unticked,
    /// The text was changed.
    Edited,
    /// A part that makes the row a task was changed before it ran.
    Redefined(Aspect),
    /// The row was removed.
    Removed,
    /// A second row got the same id and title.
    Duplicated,
}

/// What ran that people don't vouch for while the plan was changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForeignCode {
    /// The agent.
    #[default]
    Agent,
    /// A Verify, or another check.
    Checks,
    /// The hooks of a commit: a formatter may be one of them.
    CommitHooks,
    /// A repair.
    Repair,
    /// It is not known: regreen was killed meanwhile, and people may have edited the plan since.
    Unknown,
}

impl ForeignCode {
    /// Returns when that was, for people; `None` for the agent, which is named itself.
    #[must_use]
    pub fn when(self) -> Option<&'static str> {
        match self {
            Self::Agent => None,
            Self::Checks => Some("while checks ran"),
            Self::CommitHooks => Some("while the commit hooks ran"),
            Self::Repair => Some("while a repair ran"),
            Self::Unknown => Some("since the interrupted attempt began"),
        }
    }
}

/// Reviews `after`, the plan as the agent left it, given `before`, the plan it started with.
///
/// `running` holds the current task, its root and their fixes; `put_back_already` holds the rows
/// that vanished in earlier attempts.
#[must_use]
pub fn review(
    before: &TaskFile,
    after: &TaskFile,
    running: &[TaskKey],
    put_back_already: &BTreeSet<TaskKey>,
) -> PlanReview {
    review_after(ForeignCode::Agent, before, after, running, put_back_already)
}

/// Like [`review`], where something else than the agent may have run.
#[must_use]
pub fn review_after(
    code: ForeignCode,
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
    review.warnings = findings::warnings(&plan, after, &review, code);
    review
}

/// Returns the row from before an attempt that became this row, whatever its title was.
pub(crate) fn row_before(before: &TaskFile, after: &TaskFile, row: RowId) -> Option<RowId> {
    Matching::of(before, after).before(row.0).map(RowId)
}

/// The plan before the attempt, and which parts of it must not change.
pub(crate) struct OriginalPlan<'a> {
    before: &'a TaskFile,
    /// Rows that are done or being worked on.
    protected: BTreeSet<usize>,
    /// Rows that were put back before.
    put_back: BTreeSet<usize>,
    /// Rows that were put back once, and are gone nevertheless.
    lost: Vec<TaskKey>,
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
        let is_lost = |key: &&TaskKey| before.resolve(key).is_none();
        let lost = put_back_already.iter().filter(is_lost).cloned().collect();
        let mut protected = rows(&mut running.iter());
        let is_done = |at: &usize| before.rows.get(*at).is_some_and(|row| row.done);
        protected.extend(tasks_of(before).filter(is_done));
        Self {
            before,
            protected,
            put_back: rows(&mut put_back_already.iter()),
            lost,
        }
    }

    fn key(&self, at: usize) -> Option<TaskKey> {
        self.before.key(RowId(at))
    }

    fn keys(&self, rows: &[usize]) -> Vec<TaskKey> {
        rows.iter().filter_map(|at| self.key(*at)).collect()
    }
}

/// Returns the agent's plan with forbidden changes reverted; `None` if the result would not be as
/// intended.
fn merge(plan: &OriginalPlan<'_>, after: &TaskFile, min_gap: usize) -> Option<PlanReview> {
    let same_endings = findings::with_line_endings_of(plan.before.text(), after.text());
    let after_as_before = TaskFile::read(same_endings);
    let ticked = findings::ticked(plan, &after_as_before);
    let (current, mut reverted) = restore::protected_rows(plan, &after_as_before, min_gap);
    let missing = put_back::MissingRows::of(plan, &after_as_before, &current);
    if missing.is_most_of(plan) || missing.are_hidden(plan, &after_as_before) {
        return None;
    }
    reverted.extend(missing.reverted(plan));
    let current = put_back::without_added_again(plan, current);
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
        services: findings::added_services(plan, &merged, &matching),
        edited: findings::edited(plan, &merged, &matching),
        warnings: Vec::new(),
    })
}

/// Returns the original plan, because the agent's can't be merged with it.
fn restored(plan: &OriginalPlan<'_>, after: &TaskFile) -> PlanReview {
    let missing = put_back::MissingRows::of(plan, after, after);
    PlanReview {
        text: Some(plan.before.text().to_owned()),
        restored: true,
        reverted: missing.reverted(plan),
        // Restoring the original plan also brings back rows that vanished for the second time.
        vanished: plan.keys(&[missing.vanished, missing.skipped].concat()),
        ..PlanReview::default()
    }
}

/// Reports a restored row only once, as restored.
fn once_per_task(reverted: Vec<RevertedEdit>, vanished: &[TaskKey]) -> Vec<RevertedEdit> {
    let mut seen: BTreeSet<TaskKey> = vanished.iter().cloned().collect();
    reverted
        .into_iter()
        .filter(|one| seen.insert(one.key.clone()))
        .collect()
}

#[cfg(test)]
mod tests;
