//! Saves the plan before any foreign code runs and reviews it afterwards, also after a crash, as
//! `PlanGuard` does in a real run.

use std::rc::Rc;

use regreen_documents::{TaskFile, review};
use regreen_engine::{Command, Input, Issued, Resumption};
use regreen_model::{AttemptClass, AttemptReport, PlanChanges, TaskKey};

use crate::agent::{AgentAction, Character};
use crate::invariants;
use crate::mutant::Mutant;
use crate::plan_attack::PlanAttack;
use crate::world::{Check, Kept, World};

impl World {
    /// Returns whether the plan is guarded during a command.
    pub(crate) fn guards(&self, command: &Command) -> bool {
        let is_attempt = matches!(command, Command::Attempt(_));
        let trusts_checks = self.mutant == Some(Mutant::TrustsChecksWithPlan);
        command.runs_foreign_code() && (is_attempt || !trusts_checks)
    }

    pub(crate) fn begin_guard(&mut self) {
        self.kept = Some(Kept {
            plan: Rc::clone(&self.file),
        });
        self.watch.agent_begins();
    }

    /// Reviews the plan. The saved one is kept until the journal has the changes.
    pub(crate) fn end_guard(&mut self, task: &TaskKey) -> Result<PlanChanges, String> {
        match self.kept.clone() {
            Some(kept) => self.review_since(&kept.plan, Some(task)),
            None => Ok(PlanChanges::default()),
        }
    }

    /// Lets a check, a hook or a repair run, which may change the plan if the agent wrote it.
    pub(crate) fn run_foreign_code(&mut self, issued: &Issued) -> Check {
        let is_attempt = matches!(issued.command, Command::Attempt(_));
        let task = self.state.task_of(issued.seq);
        let Some(task) = task.map(|task| task.key().clone()) else {
            return Ok(());
        };
        if is_attempt || !issued.command.runs_foreign_code() {
            return Ok(());
        }
        if self.guards(&issued.command) {
            self.begin_guard();
        }
        self.attack_from_check();
        let changes = self.end_guard(&task)?;
        self.reviewed(Some(task), changes);
        Ok(())
    }

    /// Changes the plan as a check or hook written by the agent would.
    pub(crate) fn attack_from_check(&mut self) {
        let attack = match self.agent {
            Character::Does(AgentAction::Attacks(attack)) => self.rng.one_in(2).then_some(attack),
            Character::Mixed if self.rng.one_in(40) => self.rng.pick(PlanAttack::ALL),
            Character::Mixed | Character::Does(_) => None,
        };
        if let Some(attack) = attack {
            self.attack_plan(attack);
        }
    }

    fn reviewed(&mut self, task: Option<TaskKey>, changes: PlanChanges) {
        if changes != PlanChanges::default() {
            self.reviews.push((task, changes));
        }
    }

    pub(crate) fn tell_reviews(&mut self) -> Check {
        for (task, changes) in std::mem::take(&mut self.reviews) {
            self.feed(Input::PlanReviewed { task, changes })?;
        }
        Ok(())
    }

    /// Reviews what the last process left behind, if foreign code was running when it ended.
    pub(crate) fn review_interrupted(&mut self) -> Result<Resumption, String> {
        let pending = self.state.pending_guarded();
        let key = pending.and_then(|(task, _)| task.cloned());
        let plan = match self.kept.clone() {
            None => PlanChanges::default(),
            Some(kept) => {
                let new: Vec<_> = self.state.new_choices(&self.choices).collect();
                self.watch
                    .chosen_under_new_names(&kept.plan, &self.file, &new);
                let chosen = TaskFile::clone(&kept.plan).as_chosen(&self.file, &new);
                self.review_since(&Rc::new(chosen), key.as_ref())?
            }
        };
        if self.state.pending_attempt().is_none() {
            let is_changed = plan != PlanChanges::default();
            return Ok(Resumption {
                reviewed: is_changed.then(|| Box::new(plan)),
                ..Resumption::default()
            });
        }
        let report = AttemptReport {
            class: AttemptClass::Interrupted,
            plan,
            ..AttemptReport::default()
        };
        Ok(Resumption {
            interrupted: Some(Box::new(report)),
            ..Resumption::default()
        })
    }

    /// Reverts forbidden changes to the plan, and returns the others.
    fn review_since(
        &mut self,
        before: &Rc<TaskFile>,
        task: Option<&TaskKey>,
    ) -> Result<PlanChanges, String> {
        if self
            .mutant
            .is_some_and(|mutant| mutant.accepts(before, &self.file))
        {
            return Ok(PlanChanges::default());
        }
        let running = task.map_or_else(Vec::new, |task| self.running(before, task));
        let mut review = review(before, &self.file, &running, &self.state.put_back);
        if let Some(text) = review.text.take() {
            self.file = Rc::new(TaskFile::read(text));
        }
        invariants::protected_rows_are_as_they_were(before, &self.file, &running)?;
        let changes = review.into_changes();
        self.watch.settled(before, &self.file, &changes);
        Ok(changes)
    }

    /// Returns a task, its root, their fixes, and the tasks it is a part of.
    fn running(&self, file: &TaskFile, task: &TaskKey) -> Vec<TaskKey> {
        let mut running = file.worked_on(task);
        let wholes = self.memory.wholes(&task.id);
        let rows = wholes.iter().flat_map(|id| file.rows_with_id(id));
        running.extend(rows.filter_map(|row| file.key(row)));
        running
    }
}
