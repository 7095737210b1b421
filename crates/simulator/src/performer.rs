//! Performs the engine's commands with the functions that a real run uses.

use std::collections::BTreeMap;
use std::rc::Rc;

use regreen_documents::{EditError, TaskFile};
use regreen_engine::{
    Command, CommitOrder, CommitResult, FixOrder, Input, Issued, ModifyOrder, ModifyResult,
};
use regreen_model::{
    Claim, CommandSeq, FailureRecord, FixBudget, NextStep, PlanQuery, PlanStatus, RepeatResult,
    RepeatVerdict, RepeatedCheck, TaskId, TaskKey, Verdict, VerifyCommand,
};

use crate::attempt::Interruption;
use crate::invariants;
use crate::mutant::Mutant;
use crate::task_lists;
use crate::world::{World, name_of};

impl World {
    /// Returns the answer to a command; `None` if the engine expects none.
    pub(crate) fn perform(&mut self, issued: &Issued) -> Result<Option<Input>, String> {
        if let Command::Repair(order) = &issued.command {
            self.people_may_tick(&order.fix);
        }
        self.run_foreign_code(issued)?;
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
            Command::Attempt(order) => {
                let outcome = self.attempt(order, Interruption::Reviewed)?;
                outcome.answer(seq)
            }
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
                self.watch.saw_verdict(&name_of(task), &verdict);
                let tests = self.red_tests(&verdict);
                Input::Verified {
                    seq,
                    diagnosis: match verdict {
                        Verdict::Red { .. } => self.diagnosis(),
                        Verdict::Green | Verdict::Unverified => None,
                    },
                    verdict,
                    tests,
                    took_ms: 0,
                }
            }
            Command::ReviewTests(order) => Input::TestsReviewed {
                seq,
                review: Box::new(self.review_tests(order)),
                took_ms: 0,
            },
            Command::AskOpinion(_) => Input::OpinionGiven {
                seq,
                diagnosis: self.diagnosis(),
                usage: None,
                took_ms: 0,
            },
            Command::Recall(order) => {
                let experience = self.experience();
                let name = name_of(&order.task);
                self.watch.recalled(&name, experience.as_ref());
                Input::Recalled {
                    seq,
                    experience: experience.map(Box::new),
                }
            }
            Command::InspectRepair(scene) => {
                let inspection = self.inspect(scene);
                Input::RepairInspected { seq, inspection }
            }
            Command::Repair(order) => match self.file.open_row(&order.fix) {
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
            Command::AwaitAnswers { until } => {
                self.now = self.now.max(until.unwrap_or(self.now));
                self.people_may_edit();
                Input::Awaited { seq }
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
            // The result of a hook on the spec's own files changes nothing that is checked here.
            Command::CloseCommit { .. } => Input::ClosingCommitted {
                seq,
                result: self.try_to_commit(),
                changed: false,
            },
            Command::Wait { until } => {
                self.now = self.now.max(*until);
                Input::Waited { seq, asleep_ms: 0 }
            }
            Command::FinalCheck(order) => {
                let checks = order.checks.iter();
                let results = checks.map(|check| self.repeat_check(check)).collect();
                Input::FinallyChecked {
                    seq,
                    results,
                    took_ms: 0,
                }
            }
            Command::Reopen { tasks } => {
                for task in tasks {
                    self.watch.reopens(&self.file, task);
                    for now in self.file.keys_to_reopen(task) {
                        self.set_box(&now, false)?;
                    }
                }
                Input::Reopened { seq }
            }
            Command::SaveState(file) => {
                self.memory.record_run(file, &self.file);
                return Ok(None);
            }
            // No plan here declares a service.
            Command::KeepServices(_) | Command::Finish => return Ok(None),
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
        let name = name_of(task);
        let verdict = self.verdict(&name, commands, gate);
        self.watch.checked(&name, commands, &verdict);
        verdict
    }

    /// Runs a command that checks several tasks: it fails if any of them doesn't work.
    fn verify_all(
        &mut self,
        tasks: &[TaskKey],
        commands: &[VerifyCommand],
        gate: Option<&str>,
    ) -> Verdict {
        let names: Vec<String> = tasks.iter().map(name_of).collect();
        let is_broken = |name: &&String| self.works.get(*name) == Some(&false);
        let judged = names.iter().find(is_broken).or(names.first()).cloned();
        let verdict = self.verdict(&judged.unwrap_or_default(), commands, gate);
        for name in &names {
            self.watch.checked(name, commands, &verdict);
        }
        verdict
    }

    fn verdict(&mut self, name: &str, commands: &[VerifyCommand], gate: Option<&str>) -> Verdict {
        if commands.is_empty() && gate.is_none() {
            return Verdict::Unverified;
        }
        let is_forged = |verify: &VerifyCommand| verify.command == task_lists::FORGED_VERIFY;
        if commands.iter().any(is_forged) {
            return Verdict::Green;
        }
        let works = self.works.get(name).copied();
        let works = works.unwrap_or_else(|| self.watch.is_group(name));
        match works != self.rng.one_in(12) {
            true => Verdict::Green,
            false => Verdict::Red {
                error: format!("exit {}", 1 + self.rng.below(2)),
            },
        }
    }

    /// Repeats a check for all tasks that share it; if it fails, it runs once more.
    fn repeat_check(&mut self, check: &RepeatedCheck) -> RepeatResult {
        RepeatResult {
            tasks: check.tasks.clone(),
            check: check.shown(),
            verdict: self.repeat_verdict(check),
        }
    }

    fn repeat_verdict(&mut self, check: &RepeatedCheck) -> RepeatVerdict {
        let (commands, gate) = (&check.commands, check.gate.as_deref());
        let tasks = &check.tasks;
        if self.mutant == Some(Mutant::SkipsFinalCheck) {
            return RepeatVerdict::Passed;
        }
        if self.rng.one_in(12) {
            return RepeatVerdict::OutOfTime;
        }
        if !matches!(self.verify_all(tasks, commands, gate), Verdict::Red { .. }) {
            return RepeatVerdict::Passed;
        }
        match self.verify_all(tasks, commands, gate) {
            Verdict::Red { error } => RepeatVerdict::Red {
                failure: Box::new(FailureRecord::new(error)),
            },
            Verdict::Green | Verdict::Unverified => RepeatVerdict::Flaky,
        }
    }

    fn judge_claims(
        &mut self,
        claims: &[Claim],
        gate: Option<&str>,
    ) -> Result<(Vec<TaskKey>, Vec<TaskKey>), String> {
        let (mut kept, mut taken_back) = (Vec::new(), Vec::new());
        for Claim { task, verify, .. } in claims {
            let mut verdict = self.verify(task, verify, gate);
            if matches!(verdict, Verdict::Red { .. }) {
                verdict = self.verify(task, verify, gate);
            }
            let holds = verdict == Verdict::Green;
            self.watch.judged_claim(&name_of(task), holds);
            match holds {
                true => {
                    self.set_box(task, true)?;
                    kept.push(task.clone());
                }
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
            open_fixes: budget.open_fixes,
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
        // The process may die in between; repeating the command results in the same rows.
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

    /// Commits a task. A commit that was made is found again, whatever a hook would say about it
    /// now.
    fn commit(&mut self, order: &CommitOrder) -> CommitResult {
        let name = (order.task.clone(), order.number);
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
