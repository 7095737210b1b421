//! What must hold after every step, whatever happens. Nobody here asks the engine: what is
//! known comes from what was seen in the world and from the events.

mod evidence;
mod finished;
mod fixes;
mod limits;
mod rows;

use regreen_documents::TaskFile;
use regreen_model::{
    AttemptReport, ChoiceKind, Event, PlanChanges, RepairResult, RunOutcome, TaskId, TaskKey,
    Timestamp, Verdict,
};

use self::evidence::Evidence;
use self::finished::Finished;
use self::fixes::Fixes;
use self::limits::Counters;
use self::rows::Rows;
pub(crate) use self::rows::{only_what_was_meant_changed, protected_rows_are_as_they_were};
use crate::world::Held;
use crate::world::{name_of, names};

#[derive(Debug)]
pub(crate) struct Watch {
    evidence: Evidence,
    finished: Finished,
    fixes: Fixes,
    counters: Counters,
    rows: Rows,
    has_ids: bool,
}

impl Watch {
    pub(crate) fn new(has_ids: bool, file: &TaskFile) -> Self {
        Self {
            evidence: Evidence::of(file),
            finished: Finished::of(file),
            fixes: Fixes::of(file),
            counters: Counters::default(),
            rows: Rows::default(),
            has_ids,
        }
    }

    pub(crate) fn begin_run(&mut self, file: &TaskFile) {
        self.counters = Counters::default();
        self.rows = Rows::of(file);
    }

    pub(crate) fn hear(&mut self, now: Timestamp, event: &Event, file: &TaskFile) -> Held {
        self.counters.hear(now, event)?;
        self.finished.hear(event, file)?;
        match event {
            Event::AttemptStarted { task, .. } => self.evidence.starts(&name_of(task)),
            Event::TaskFailed { task, .. }
            | Event::RepairEnded {
                task,
                result: RepairResult::Failed { .. },
            } => self.fixes.failed(&name_of(task)),
            Event::RunEnded {
                outcome: RunOutcome::AllGreen,
            } => {
                self.rows
                    .all_required_are_ticked(file, self.counters.includes_optional())?;
                self.evidence.every_tick_has_its_evidence(file)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// What can be seen in the file alone.
    pub(crate) fn check_file(&mut self, file: &TaskFile) -> Held {
        self.evidence.every_tick_has_its_evidence(file)?;
        self.fixes.no_fix_stands_there_twice(file)?;
        self.fixes.every_fix_has_its_parent(file)
    }

    pub(crate) fn forget_fixes(&mut self, file: &TaskFile) {
        self.fixes.forget(file);
    }

    pub(crate) fn saw_repair(&mut self, name: &str) {
        self.evidence.saw_repair(name);
    }

    pub(crate) fn saw_attempt(&mut self, name: &str, report: &AttemptReport) {
        self.evidence.saw_attempt(name, report);
    }

    pub(crate) fn saw_verdict(&mut self, name: &str, verdict: &Verdict, is_group: bool) {
        self.evidence.saw_verdict(name, verdict, is_group);
    }

    /// An agent's changes to the plan were reviewed.
    pub(crate) fn settled(&mut self, before: &TaskFile, after: &TaskFile, changes: &PlanChanges) {
        self.evidence.claimed(changes);
        self.rows.reviewed(before, after, changes);
        let is_gone = |name: &String| !names(after).any(|other| other == *name);
        let gone: Vec<String> = names(before).filter(is_gone).collect();
        let is_new = |name: &String| !names(before).any(|other| other == *name);
        let has_new = names(after).any(|name| is_new(&name));
        self.rearranged(&gone, has_new && !self.has_ids);
    }

    pub(crate) fn ticks(&mut self, file: &TaskFile, task: &TaskKey, done: bool) -> Held {
        self.evidence.ticks(file, task, done)
    }

    pub(crate) fn supersedes(&mut self, file: &TaskFile, fix: &TaskKey) -> Held {
        let is_sure = self.fixes.lineage_is_known();
        self.evidence.supersedes(file, fix, is_sure)
    }

    pub(crate) fn judged_claim(&mut self, name: &str, holds: bool) {
        self.evidence.judged_claim(name, holds);
        // What a person ticked before a claim was judged is taken for the agent's tick.
        if !holds {
            self.finished.taken_back(name);
        }
    }

    pub(crate) fn inserted(&mut self, file: &TaskFile, parent: &TaskKey, fix: &TaskId) -> Held {
        let Some(limits) = self.counters.limits() else {
            return Err("a fix was inserted before the run began".to_owned());
        };
        self.fixes.inserted(file, parent, fix, limits)
    }

    pub(crate) fn rows_added(&mut self, file: &TaskFile) {
        self.rows.added(file);
    }

    /// Between attempts the file is people's.
    pub(crate) fn people_edited(&mut self, before: &TaskFile, after: &TaskFile, moved: bool) {
        self.evidence.people_edited(before, after);
        if !self.has_ids {
            self.evidence.people_renamed(before, after);
        }
        self.finished.people_edited(before, after);
        let is_gone = |name: &String| !names(after).any(|other| other == *name);
        let gone: Vec<String> = names(before).filter(is_gone).collect();
        let is_new = |name: &String| !names(before).any(|other| other == *name);
        let has_new = names(after).any(|name| is_new(&name));
        self.rearranged(&gone, moved || (has_new && !self.has_ids));
        self.rows.removed(&gone);
        self.rows.added(after);
    }

    /// A box that people set adds no row, and moves none.
    pub(crate) fn people_set_box(&mut self, before: &TaskFile, after: &TaskFile) {
        self.evidence.people_edited(before, after);
        self.finished.people_edited(before, after);
    }

    /// Where tasks are called after their place, or share an id, whose fix is whose changes
    /// with the order of the rows.
    fn rearranged(&mut self, gone: &[String], is_reordered: bool) {
        if self.fixes.removed(gone) || is_reordered {
            self.fixes.shift();
        }
    }

    pub(crate) fn chosen(&mut self, task: &TaskKey, what: ChoiceKind) {
        self.finished.chosen(task, what);
        self.evidence.chosen(&name_of(task), what);
    }

    pub(crate) fn forgiven(&mut self, name: &str) {
        self.fixes.forgive(name);
    }
}
