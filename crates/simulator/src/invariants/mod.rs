//! Invariants that must hold after every step. They don't ask the engine: they rely only on events
//! and on what is observed in the world.

mod evidence;
mod finished;
mod fixes;
mod limits;
mod originals;
mod recall;
mod rows;
mod templates;

use regreen_documents::{RowId, TaskFile};
use regreen_model::{
    AttemptReport, ChoiceKind, Event, Experience, PersonChoice, PlanChanges, RepairResult,
    RunOutcome, TaskId, TaskKey, Timestamp, Verdict, VerifyCommand,
};

use self::evidence::Evidence;
use self::finished::Finished;
use self::fixes::Fixes;
use self::limits::Counters;
use self::originals::Originals;
use self::recall::Recall;
use self::rows::Rows;
pub(crate) use self::rows::{only_what_was_meant_changed, protected_rows_are_as_they_were};
use self::templates::Templates;
use crate::world::Check;
use crate::world::{name_of, names};

#[derive(Debug)]
pub(crate) struct Watch {
    evidence: Evidence,
    finished: Finished,
    fixes: Fixes,
    counters: Counters,
    rows: Rows,
    originals: Originals,
    recall: Recall,
    templates: Templates,
    has_ids: bool,
}

/// A row whose name changed through an agent's edits.
#[derive(Debug)]
struct Renamed {
    old: String,
    new: String,
}

impl Renamed {
    /// Finds the row that an edited one used to be: one with its id whose name no row has any
    /// longer; among several, the one in its position.
    fn of(before: &TaskFile, after: &TaskFile, edited: &TaskKey) -> Option<Self> {
        let is_gone = |old: &TaskKey| !names(after).any(|name| name == name_of(old));
        let old = before
            .rows_with_id(&edited.id)
            .filter_map(|row| before.key(row));
        let mut gone: Vec<TaskKey> = old.filter(is_gone).collect();
        gone.sort_by_key(|old| old.occurrence != edited.occurrence);
        Some(Self {
            old: name_of(gone.first()?),
            new: name_of(edited),
        })
    }
}

impl Watch {
    pub(crate) fn new(has_ids: bool, file: &TaskFile) -> Self {
        Self {
            evidence: Evidence::of(file),
            finished: Finished::of(file),
            fixes: Fixes::of(file),
            counters: Counters::default(),
            rows: Rows::default(),
            originals: Originals::of(file),
            recall: Recall::default(),
            templates: Templates::default(),
            has_ids,
        }
    }

    pub(crate) fn begin_run(&mut self, file: &TaskFile) {
        self.counters = Counters::default();
        self.rows = Rows::of(file);
        self.originals.begin_run(file);
    }

    pub(crate) fn hear(&mut self, now: Timestamp, event: &Event, file: &TaskFile) -> Check {
        self.counters.hear(now, event)?;
        self.finished.hear(event, file)?;
        self.recall.hear(event)?;
        self.templates.hear(event)?;
        match event {
            Event::TaskPicked { task } => self.evidence.picked(task),
            Event::AttemptStarted { task, .. } => self.evidence.starts(&name_of(task)),
            Event::TaskFailed { task, .. }
            | Event::RepairEnded {
                task,
                result: RepairResult::Failed { .. },
            } => self.fixes.failed(&name_of(task)),
            Event::RunEnded {
                outcome: RunOutcome::AllGreen,
            } => {
                let with_optional = self.counters.includes_optional();
                self.rows.all_required_are_ticked(file, with_optional)?;
                self.evidence.every_tick_has_its_evidence(file)?;
                let has_gate = self.counters.has_gate();
                self.originals
                    .all_have_passed(&self.evidence, file, has_gate, with_optional)?;
            }
            Event::TaskDone { task, marks, .. } => {
                self.evidence
                    .known_failures_are_told(&name_of(task), marks)?;
                self.originals.finished(&name_of(task));
            }
            Event::FinalCheckEnded { not_repeated, .. } => {
                let names = not_repeated.iter().map(|one| name_of(&one.task));
                self.originals.left_out_at_the_end(names);
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks what the file alone shows.
    pub(crate) fn check_file(&mut self, file: &TaskFile) -> Check {
        self.evidence.every_tick_has_its_evidence(file)?;
        self.fixes.no_fix_exists_twice(file)?;
        self.fixes.every_fix_has_its_parent(file)
    }

    pub(crate) fn forget_fixes(&mut self, file: &TaskFile) {
        self.fixes.forget(file);
    }

    pub(crate) fn recalled(&mut self, name: &str, experience: Option<&Experience>) {
        self.recall.answered(name, experience);
    }

    pub(crate) fn saw_repair(&mut self, name: &str) {
        self.evidence.saw_repair(name);
    }

    pub(crate) fn saw_attempt(&mut self, name: &str, report: &AttemptReport) {
        self.evidence.saw_attempt(name, report);
    }

    pub(crate) fn saw_verdict(&mut self, name: &str, verdict: &Verdict) {
        self.evidence.saw_verdict(name, verdict);
    }

    /// Records what is true about the tests that failed.
    pub(crate) fn saw_review(&mut self, name: &str, is_excused: bool, has_known: bool) {
        self.evidence.saw_review(name, is_excused, has_known);
    }

    /// Records a check of a task, whatever its purpose.
    pub(crate) fn checked(&mut self, name: &str, commands: &[VerifyCommand], verdict: &Verdict) {
        self.originals.checked(name, commands, verdict);
    }

    /// Records that the run now knows the results of the last checks.
    pub(crate) fn heard_checks(&mut self) {
        self.originals.heard_checks();
    }

    /// Records that the process died before it could store the results of the last checks.
    pub(crate) fn lost_checks(&mut self) {
        self.originals.lost_checks();
    }

    /// Records that the result of a task's check may have changed.
    pub(crate) fn work_changed(&mut self, name: &str) {
        self.originals.work_changed(name);
    }

    /// Records the start of foreign code.
    pub(crate) fn agent_begins(&mut self) {
        self.originals.agent_begins();
    }

    /// Returns whether the task was a group when it was picked.
    pub(crate) fn is_group(&self, name: &str) -> bool {
        self.evidence.is_group(name)
    }

    /// Checks the review of an agent's changes to the plan.
    pub(crate) fn settled(&mut self, before: &TaskFile, after: &TaskFile, changes: &PlanChanges) {
        let renamed: Vec<Renamed> = changes
            .edited
            .iter()
            .filter_map(|edited| Renamed::of(before, after, edited))
            .collect();
        self.rows.reviewed(before, after, &renamed);
        self.originals.reviewed(&renamed);
        let is_gone = |name: &String| !names(after).any(|other| other == *name);
        let gone: Vec<String> = names(before).filter(is_gone).collect();
        let is_new = |name: &String| !names(before).any(|other| other == *name);
        let has_new = names(after).any(|name| is_new(&name));
        self.rearranged(&gone, has_new && !self.has_ids);
    }

    pub(crate) fn ticks(&mut self, file: &TaskFile, task: &TaskKey, done: bool) -> Check {
        self.originals.ticked(file, task);
        self.evidence.ticks(file, task, done)
    }

    /// Reopens a task that no longer passes: it may run again.
    pub(crate) fn reopens(&mut self, file: &TaskFile, task: &TaskKey) {
        // If people have changed which row it is, all candidates are reopened.
        for key in file.keys_to_reopen(task) {
            self.evidence.reopens(&name_of(&key));
            self.finished.taken_back(&name_of(&key));
        }
        self.finished.taken_back(&name_of(task));
    }

    pub(crate) fn supersedes(&mut self, file: &TaskFile, fix: &TaskKey) -> Check {
        let is_sure = self.fixes.lineage_is_known();
        self.evidence.supersedes(file, fix, is_sure)
    }

    pub(crate) fn judged_claim(&mut self, name: &str, holds: bool) {
        self.evidence.judged_claim(name, holds);
        // A person's tick before a claim was judged counts as the agent's tick.
        match holds {
            true => self.originals.finished(name),
            false => self.finished.taken_back(name),
        }
    }

    pub(crate) fn inserted(&mut self, file: &TaskFile, parent: &TaskKey, fix: &TaskId) -> Check {
        let Some(limits) = self.counters.limits() else {
            return Err("a fix was inserted before the run began".to_owned());
        };
        self.fixes.inserted(file, parent, fix, limits)
    }

    pub(crate) fn rows_added(&mut self, file: &TaskFile) {
        self.rows.added(file);
    }

    /// Accepts changes between attempts, which are people's.
    pub(crate) fn people_edited(&mut self, before: &TaskFile, after: &TaskFile, moved: bool) {
        self.evidence.people_edited(before, after);
        self.finished.people_edited(before, after);
        let is_gone = |name: &String| !names(after).any(|other| other == *name);
        let gone: Vec<String> = names(before).filter(is_gone).collect();
        let is_new = |name: &String| !names(before).any(|other| other == *name);
        let has_new = names(after).any(|name| is_new(&name));
        self.rearranged(&gone, moved || (has_new && !self.has_ids));
        self.originals.people_edited(before, after);
        self.rows.removed(&gone);
        self.rows.added(after);
    }

    /// Accepts a box that people set, which neither adds nor moves a row.
    pub(crate) fn people_set_box(&mut self, before: &TaskFile, after: &TaskFile) {
        self.evidence.people_edited(before, after);
        self.finished.people_edited(before, after);
    }

    /// Handles rearranged rows. If tasks are named by position or share an id, the order of the
    /// rows decides which fix belongs to which task.
    fn rearranged(&mut self, gone: &[String], is_reordered: bool) {
        if self.fixes.removed(gone) || is_reordered {
            self.fixes.shift();
        }
    }

    pub(crate) fn chosen(&mut self, task: &TaskKey, what: ChoiceKind) {
        self.finished.chosen(task, what);
        self.evidence.chosen(&name_of(task), what);
        self.originals.chosen(&name_of(task), what);
    }

    /// Handles choices under new names. The review reverts titles that people wrote while an
    /// attempt was unfinished, but not their choices, which apply to the tasks that were in those
    /// positions. The same goes for a fix whose id an agent had changed: its title identifies it.
    pub(crate) fn chosen_under_new_names(
        &mut self,
        before: &TaskFile,
        after: &TaskFile,
        choices: &[&PersonChoice],
    ) {
        for PersonChoice { task, what, .. } in choices {
            if before.resolve(task).is_some() {
                continue;
            }
            let occurrence = usize::try_from(task.occurrence).unwrap_or(usize::MAX);
            let in_position = before.rows_with_id(&task.id).nth(occurrence);
            let has_lost_id = |row: &RowId| {
                let key = before.key(*row);
                key.is_some_and(|key| {
                    key.title == task.title && after.rows_with_id(&key.id).next().is_none()
                })
            };
            let row = in_position.or_else(|| before.rows().find(has_lost_id));
            match row.and_then(|row| before.key(row)) {
                Some(key) => {
                    self.evidence.chosen(&name_of(&key), *what);
                    self.finished.reopened(&name_of(&key), *what);
                }
                // Agents had removed the row, and one showed it again: a skip settles it.
                None if *what == ChoiceKind::Skip => self.rows.removed(&[name_of(task)]),
                None => {}
            }
        }
    }

    pub(crate) fn forgiven(&mut self, name: &str) {
        self.fixes.forgive(name);
    }
}
