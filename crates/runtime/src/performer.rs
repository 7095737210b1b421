use std::time::Instant;

use regreen_engine::{Command, Input, Issued};
use regreen_model::{TaskKey, VerifyCommand};
use regreen_store::Store;

use crate::chronicle::Chronicle;
use crate::clock::millis;
use crate::execution::ExecutionContext;
use crate::notices::Notices;
use crate::past::Past;
use crate::perform::{self, Attempted};
use crate::perform_error::PerformError;
use crate::person::Person;
use crate::places::Places;
use crate::plan_file::PlanFile;
use crate::tree::Tree;
use crate::verify::Check;

/// Performs the commands of the engine.
#[derive(Debug)]
pub(crate) struct Performer {
    pub(crate) places: Places,
    pub(crate) run: String,
    pub(crate) context: ExecutionContext,
    pub(crate) tree: Tree,
    pub(crate) plan: PlanFile,
    /// What people should know beside the answers.
    pub(crate) notices: Notices,
}

impl Performer {
    /// What earlier runs know of tasks that they did not finish.
    pub(crate) fn past<'s>(&self, store: &'s Store) -> Past<'s> {
        Past {
            store,
            spec: self.places.spec_key(),
            run: self.run.clone(),
        }
    }

    /// A check of a task of the plan.
    pub(crate) fn check<'c>(
        &self,
        task: &TaskKey,
        stem: String,
        commands: &'c [VerifyCommand],
        environment: &'c [(String, String)],
    ) -> Check<'c> {
        Check {
            purpose: format!("{}:verify", task.id),
            folder: self.places.task_folder(&self.run, task),
            stem,
            commands,
            gate: None,
            timeout_ms: self.context.verify_timeout_ms,
            environment,
        }
    }

    /// Ticks a task, or unticks it.
    pub(crate) fn set_box(&mut self, task: &TaskKey, done: bool) -> Result<(), PerformError> {
        let edited = self.plan.set_box(task, done)?;
        self.notices.edited(&edited);
        Ok(())
    }

    /// The answer to a command; `None` where none is waited for.
    pub(crate) fn perform(
        &mut self,
        issued: &Issued,
        chronicle: &mut Chronicle<'_>,
        person: &mut dyn Person,
    ) -> Option<Input> {
        let seq = issued.seq;
        let answer = match &issued.command {
            Command::ReadPlan(query) => {
                let past = self.past(&chronicle.journal.store);
                perform::read_plan(self, query, &past, chronicle.audience)
                    .map(|plan| Input::PlanRead { seq, plan })
            }
            Command::Attempt(order) => {
                perform::attempt(self, seq, order, chronicle).map(|attempted| match attempted {
                    Attempted::Ended(report) => Input::AttemptEnded { seq, report },
                    Attempted::Gone => Input::Gone { seq },
                })
            }
            Command::JudgeClaims {
                task,
                claims,
                gate,
                environment,
            } => {
                let (gate, audience) = (gate.as_deref(), &mut *chronicle.audience);
                perform::judge_claims(self, task, claims, gate, environment, audience).map(
                    |(kept, taken_back)| Input::ClaimsJudged {
                        seq,
                        kept,
                        taken_back,
                    },
                )
            }
            Command::Verify {
                task,
                attempt,
                commands,
                gate,
                timeout_ms,
                environment,
            } => {
                let stem = format!("{attempt}.verify");
                let check = Check {
                    gate: gate.as_deref(),
                    timeout_ms: *timeout_ms,
                    ..self.check(task, stem, commands, environment)
                };
                let began = Instant::now();
                let result = self.context.verify(&check, chronicle.audience);
                result.map(|result| {
                    let (verdict, diagnosis) = result.into_verdict();
                    Input::Verified {
                        seq,
                        verdict,
                        diagnosis,
                        took_ms: millis(began.elapsed()),
                    }
                })
            }
            Command::InspectRepair(scene) => self
                .inspect_repair(scene)
                .map(|inspection| Input::RepairInspected { seq, inspection }),
            Command::Repair(order) => self.repair(order).map(|result| match result {
                Some(result) => Input::RepairEnded { seq, result },
                None => Input::Gone { seq },
            }),
            Command::ReadBudget { task } => {
                perform::read_budget(self, task).map(|budget| match budget {
                    Some(budget) => Input::BudgetRead { seq, budget },
                    None => Input::Gone { seq },
                })
            }
            Command::InsertFix(order) => perform::insert_fix(self, order).map(|is_inserted| {
                if is_inserted {
                    Input::Inserted { seq }
                } else {
                    Input::Gone { seq }
                }
            }),
            Command::Modify(order) => {
                perform::modify(self, order).map(|result| Input::Modified { seq, result })
            }
            Command::AskPerson(question) => {
                perform::ask(self, question, &mut chronicle.journal.store, person).map(
                    |(answer, choice)| Input::PersonAnswered {
                        seq,
                        answer,
                        choice,
                    },
                )
            }
            Command::NoteFailure { task } => {
                perform::note_failure(self, task).map(|()| Input::FailureNoted { seq })
            }
            Command::Tick {
                task,
                done,
                supersede,
            } => perform::tick(self, task, *done, *supersede)
                .map(|superseded| Input::Ticked { seq, superseded }),
            Command::Commit(order) => {
                let past = self.past(&chronicle.journal.store);
                perform::commit(self, order, &past).map(|result| Input::Committed { seq, result })
            }
            Command::Record(record) => {
                perform::record(self, record).map(|()| Input::Recorded { seq })
            }
            Command::SaveState(file) => {
                return perform::save_state(self, file)
                    .err()
                    .map(|error| error.answer(seq));
            }
            Command::Wait { until } => {
                if self.context.processes.stop.sleep_until(*until) {
                    Ok(Input::Waited { seq })
                } else {
                    Err(PerformError::Stopped)
                }
            }
            Command::Finish => return None,
        };
        Some(answer.unwrap_or_else(|error| error.answer(seq)))
    }
}
