//! Does what the engine asks for, with the functions that a real run uses.

use std::collections::BTreeMap;
use std::rc::Rc;

use regreen_documents::{EditError, TaskFile};
use regreen_engine::{
    Command, CommitOrder, CommitResult, FixOrder, Input, Issued, ModifyOrder, ModifyResult,
};
use regreen_model::{
    Claim, CommandSeq, FixBudget, NextStep, PlanQuery, PlanStatus, TaskId, TaskKey, Verdict,
    VerifyCommand,
};

use crate::attempt::Seen;
use crate::invariants;
use crate::mutant::Mutant;
use crate::world::{World, name_of};

impl World {
    /// The answer to a command; `None` where none is waited for.
    pub(crate) fn perform(&mut self, issued: &Issued) -> Result<Option<Input>, String> {
        let before = Rc::clone(&self.file);
        let answer = self.answer(issued)?;
        invariants::only_what_was_meant_changed(&issued.command, &before, &self.file)?;
        Ok(answer)
    }

    fn answer(&mut self, issued: &Issued) -> Result<Option<Input>, String> {
        let seq = issued.seq;
        Ok(Some(match &issued.command {
            Command::ReadPlan(query) => {
                let plan = self.read_plan(query);
                Input::PlanRead { seq, plan }
            }
            Command::Attempt(order) => self.attempt(order, Seen::Reviewed)?.answer(seq),
            Command::JudgeClaims { claims, gate, .. } => {
                let (kept, taken_back) = self.judge_claims(claims, gate.as_deref())?;
                Input::ClaimsJudged {
                    seq,
                    kept,
                    taken_back,
                }
            }
            Command::Verify {
                task,
                commands,
                gate,
                ..
            } => {
                let verdict = self.verify(task, commands, gate.as_deref());
                let is_group = self.is_group(task);
                self.watch.saw_verdict(&name_of(task), &verdict, is_group);
                Input::Verified {
                    seq,
                    diagnosis: match verdict {
                        Verdict::Red { .. } => self.diagnosis(),
                        Verdict::Green | Verdict::Unverified => None,
                    },
                    verdict,
                    took_ms: 0,
                }
            }
            Command::InspectRepair(scene) => {
                let inspection = self.inspect(scene);
                Input::RepairInspected { seq, inspection }
            }
            Command::Repair(order) => match self.row_to_repair(&order.fix) {
                Some(_) => {
                    let result = self.repair(order);
                    Input::RepairEnded { seq, result }
                }
                None => Input::Gone { seq },
            },
            Command::ReadBudget { task } => match self.budget(task) {
                Some(budget) => Input::BudgetRead { seq, budget },
                None => Input::Gone { seq },
            },
            Command::InsertFix(order) => self.insert_fix(seq, order)?,
            Command::Modify(order) => {
                let result = self.modify(order);
                Input::Modified { seq, result }
            }
            Command::AskPerson(question) => {
                let (answer, choice) = self.person_answers(&question.task);
                Input::PersonAnswered {
                    seq,
                    answer,
                    choice,
                }
            }
            Command::NoteFailure { .. } => Input::FailureNoted { seq },
            Command::Tick {
                task,
                done,
                supersede,
            } => {
                let superseded = self.tick(task, *done, *supersede)?;
                Input::Ticked { seq, superseded }
            }
            Command::Commit(order) => {
                let result = self.commit(order);
                Input::Committed { seq, result }
            }
            Command::Record(_) => Input::Recorded { seq },
            Command::Wait { until } => {
                self.now = self.now.max(*until);
                Input::Waited { seq }
            }
            Command::SaveState(file) => {
                self.memory.record_run(file, &self.file);
                return Ok(None);
            }
            Command::Finish => return Ok(None),
        }))
    }

    fn read_plan(&self, query: &PlanQuery) -> PlanStatus {
        let mut status = self.file.plan_status(query);
        if let Some(mutant) = self.mutant {
            status.next = mutant.next(self, status.next);
        }
        if let NextStep::Task(picked) = &mut status.next {
            picked.failed_before = self.failed_before.get(&picked.task).cloned();
        }
        status
    }

    fn verify(
        &mut self,
        task: &TaskKey,
        commands: &[VerifyCommand],
        gate: Option<&str>,
    ) -> Verdict {
        if commands.is_empty() && gate.is_none() {
            return Verdict::Unverified;
        }
        let works = self.works.get(&name_of(task)).copied();
        let works = works.unwrap_or_else(|| self.is_group(task));
        match works != self.rng.one_in(12) {
            true => Verdict::Green,
            false => Verdict::Red {
                error: format!("exit {}", 1 + self.rng.below(2)),
            },
        }
    }

    /// Whether it was picked as a group.
    fn is_group(&self, task: &TaskKey) -> bool {
        let task = self.state.tasks.get(task);
        task.is_some_and(|task| task.picked.is_group)
    }

    fn judge_claims(
        &mut self,
        claims: &[Claim],
        gate: Option<&str>,
    ) -> Result<(Vec<TaskKey>, Vec<TaskKey>), String> {
        let (mut kept, mut taken_back) = (Vec::new(), Vec::new());
        for Claim { task, verify } in claims {
            let mut verdict = self.verify(task, verify, gate);
            if matches!(verdict, Verdict::Red { .. }) {
                verdict = self.verify(task, verify, gate);
            }
            let holds = verdict == Verdict::Green;
            self.set_box(task, holds)?;
            self.watch.judged_claim(&name_of(task), holds);
            match holds {
                true => kept.push(task.clone()),
                false => taken_back.push(task.clone()),
            }
        }
        Ok((kept, taken_back))
    }

    pub(crate) fn budget(&self, task: &TaskKey) -> Option<FixBudget> {
        let (file, map) = (&self.file, self.memory.fix_task_map());
        let row = file.open_row(task)?;
        let budget = file.fix_budget(row, &map)?;
        if self.mutant != Some(Mutant::RefundsDeletedFixes) {
            return Some(budget);
        }
        Some(FixBudget {
            next_id: budget.next_id,
            ..file.fix_budget(row, &BTreeMap::new())?
        })
    }

    fn insert_fix(&mut self, seq: CommandSeq, order: &FixOrder) -> Result<Input, String> {
        match self
            .file
            .insert_fix(&order.task, order.id.clone(), &order.origin)
        {
            Ok(None) => Ok(Input::Inserted { seq }),
            Ok(Some(file)) => {
                self.file = Rc::new(file);
                self.watch.inserted(&self.file, &order.task, &order.id)?;
                Ok(Input::Inserted { seq })
            }
            Err(EditError::NoSuchRow) => Ok(Input::Gone { seq }),
            Err(EditError::IdTaken(_)) => {
                let budget = self.budget(&order.task);
                Ok(
                    budget.map_or(Input::Gone { seq }, |budget| Input::BudgetRead {
                        seq,
                        budget,
                    }),
                )
            }
            Err(error) => Err(format!("{} cannot be inserted: {error}", order.id)),
        }
    }

    fn modify(&mut self, order: &ModifyOrder) -> ModifyResult {
        let name = order.name(&self.state.run);
        let tasks = match self
            .file
            .grant(&self.memory, &order.task, &name, &order.request)
        {
            Ok(tasks) => tasks,
            Err(why) => return ModifyResult::Refused { why },
        };
        let ids: Vec<TaskId> = tasks.iter().map(|task| task.id.clone()).collect();
        self.memory.record_modification(&order.task.id, &name, &ids);
        // The process may die in between; what is asked for again comes to the same rows.
        let inserted = self
            .file
            .insert_granted(&order.task, order.request.modification, &tasks);
        match inserted {
            Err(why) => {
                return ModifyResult::Refused {
                    why: why.to_string(),
                };
            }
            Ok(None) => {}
            Ok(Some(file)) => self.adopt(file),
        }
        let added = self.file.granted_keys(&tasks);
        ModifyResult::Done { added }
    }

    fn adopt(&mut self, file: TaskFile) {
        self.watch.rows_added(&file);
        self.file = Rc::new(file);
    }

    fn tick(
        &mut self,
        task: &TaskKey,
        done: bool,
        supersede: bool,
    ) -> Result<Vec<TaskKey>, String> {
        self.watch.ticks(&self.file, task, done)?;
        self.set_box(task, done)?;
        if !supersede {
            return Ok(Vec::new());
        }
        let fixes = self.open_fixes(task);
        for fix in &fixes {
            self.watch.supersedes(&self.file, fix)?;
            self.set_box(fix, true)?;
        }
        Ok(fixes)
    }

    fn open_fixes(&self, task: &TaskKey) -> Vec<TaskKey> {
        match self.mutant {
            Some(mutant) => mutant.open_fixes(&self.file, task),
            None => self.file.open_fixes(task),
        }
    }

    /// A commit that was made is found again, whatever a hook would say of it now.
    fn commit(&mut self, order: &CommitOrder) -> CommitResult {
        let name = (order.task.clone(), order.attempts);
        if let Some(made) = self.commits.get(&name) {
            return made.clone();
        }
        let result = self.try_to_commit();
        if matches!(result, CommitResult::Done { .. } | CommitResult::Nothing) {
            self.commits.insert(name, result.clone());
        }
        result
    }

    fn try_to_commit(&mut self) -> CommitResult {
        match self.rng.below(16) {
            13 => CommitResult::Nothing,
            14 => CommitResult::HookFailed {
                output: "lint: no".to_owned(),
            },
            15 if self.rng.one_in(4) => CommitResult::Impossible {
                why: "the index is locked".to_owned(),
            },
            _ => CommitResult::Done {
                hash: "abc1234".to_owned(),
                warnings: vec![],
            },
        }
    }

    pub(crate) fn set_box(&mut self, task: &TaskKey, done: bool) -> Result<(), String> {
        let changed = self.file.box_set(task, done);
        let changed = changed.map_err(|error| format!("the box of {task}: {error}"))?;
        if let Some(file) = changed {
            self.file = Rc::new(match self.mutant {
                Some(Mutant::TickChangesLineEndings) => {
                    TaskFile::read(file.text().replace("\r\n", "\n"))
                }
                _ => file,
            });
        }
        Ok(())
    }
}
