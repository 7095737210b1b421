use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

use regreen_agents::{Agent, Prompts};
use regreen_engine::{Command, Input, Issued};
use regreen_model::TaskKey;
use regreen_repairs::Declared;
use regreen_store::Store;
use regreen_workspace::Programs;

use crate::chronicle::Chronicle;
use crate::notices::Notices;
use crate::past::Past;
use crate::perform::{self, Attempted};
use crate::perform_error::PerformError;
use crate::person::Person;
use crate::places::Places;
use crate::plan_file::PlanFile;
use crate::process::Processes;
use crate::report::millis;
use crate::tree::Tree;

/// Does what the engine asks for.
#[derive(Debug)]
pub(crate) struct Performer {
    pub(crate) places: Places,
    pub(crate) run: String,
    pub(crate) agent: Agent,
    pub(crate) prompts: Prompts,
    pub(crate) programs: Programs,
    /// Where programs are looked for: the value of PATH.
    pub(crate) path: OsString,
    /// What the workspace's manifests named when the run began.
    pub(crate) declared: Declared,
    pub(crate) verify_timeout_ms: u64,
    /// What runs Verify commands.
    pub(crate) shell: PathBuf,
    pub(crate) processes: Processes,
    pub(crate) tree: Tree,
    pub(crate) plan: PlanFile,
    /// What people should know, and no answer has a place for.
    pub(crate) notices: Notices,
}

impl Performer {
    /// What earlier runs left of tasks that they did not finish.
    pub(crate) fn past<'s>(&self, store: &'s Store) -> Past<'s> {
        Past {
            store,
            spec: self.places.spec_key(),
            run: self.run.clone(),
        }
    }

    /// The box of a task is to be so.
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
                perform::attempt(self, seq, order, chronicle).map(|came_of_it| match came_of_it {
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
                let check = perform::Check {
                    gate: gate.as_deref(),
                    timeout_ms: *timeout_ms,
                    ..perform::Check::of(self, task, stem, commands, environment)
                };
                let began = Instant::now();
                perform::verify(self, &check, chronicle.audience).map(|checked| Input::Verified {
                    seq,
                    verdict: checked.verdict,
                    diagnosis: checked.diagnosis,
                    took_ms: millis(began.elapsed()),
                })
            }
            Command::InspectRepair(scene) => perform::inspect_repair(self, scene)
                .map(|inspection| Input::RepairInspected { seq, inspection }),
            Command::Repair(order) => perform::repair(self, order).map(|result| match result {
                Some(result) => Input::RepairEnded { seq, result },
                None => Input::Gone { seq },
            }),
            Command::ReadBudget { task } => {
                perform::read_budget(self, task).map(|budget| match budget {
                    Some(budget) => Input::BudgetRead { seq, budget },
                    None => Input::Gone { seq },
                })
            }
            Command::InsertFix(order) => {
                perform::insert_fix(self, order).map(|is_there| match is_there {
                    true => Input::Inserted { seq },
                    false => Input::Gone { seq },
                })
            }
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
            Command::Wait { until } => match self.processes.stop.sleep_until(*until) {
                true => Ok(Input::Waited { seq }),
                false => Err(PerformError::Stopped),
            },
            Command::Finish => return None,
        };
        Some(answer.unwrap_or_else(|error| error.answer(seq)))
    }
}
