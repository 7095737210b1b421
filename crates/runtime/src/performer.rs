//! Performs each command of the engine, and returns its answer.

use std::collections::BTreeSet;
use std::error::Error;
use std::time::Instant;

use regreen_engine::{Command, Input, Issued};
use regreen_model::{CommandSeq, PlanChanges, ServiceReport, TaskKey, Verdict, VerifyCommand};
use regreen_store::{Store, StoreError};
use regreen_workspace::{AttemptName, CreateFileError, EditFileError, ReadError, StepError};

use crate::atomic_file::AtomicWriteError;
use crate::clock::millis;
use crate::driver::StepRecorder;
use crate::execution::ExecutionContext;
use crate::history::EarlierRuns;
use crate::log_file::LogError;
use crate::notices::Notices;
use crate::observer::Person;
use crate::perform::{self, Attempted, Baseline, ClaimsJob, PlanGuard, Recorded, SettingsGuard};
use crate::plan_file::{PlanFile, read_plan};
use crate::process::ProcessError;
use crate::services::Services;
use crate::spec_paths::SpecPaths;
use crate::tree::{Tree, TreeError};
use crate::verify::{Check, CheckResult};

/// Performs the commands of the engine.
#[derive(Debug)]
pub(crate) struct Performer {
    pub(crate) paths: SpecPaths,
    pub(crate) run: String,
    pub(crate) context: ExecutionContext,
    pub(crate) tree: Tree,
    pub(crate) plan: PlanFile,
    /// What people should know beside the answers.
    pub(crate) notices: Notices,
    /// Changes of the plan, besides those that attempts report.
    pub(crate) reviews: Vec<PlanReviewed>,
    /// What the attempts of this process are compared with, beside the working tree.
    pub(crate) baseline: Option<Baseline>,
    pub(crate) settings: SettingsGuard,
    /// The services that run beside everything else.
    pub(crate) services: Services,
    /// What happened to them since the engine was last told.
    pub(crate) service_reports: Vec<ServiceReport>,
    pub(crate) recorded: Recorded,
    /// Texts of the plan that were commands when the run began.
    pub(crate) known_commands: BTreeSet<String>,
}

/// Changes of the plan while foreign code ran for a task.
pub(crate) type PlanReviewed = (Option<TaskKey>, PlanChanges);

impl Performer {
    /// What earlier runs know of tasks that they did not finish.
    pub(crate) fn earlier_runs<'s>(&self, store: &'s Store) -> EarlierRuns<'s> {
        EarlierRuns {
            store,
            spec: self.paths.spec_key(),
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
            folder: self.paths.task_folder(&self.run, task),
            stem,
            commands,
            gate: None,
            timeout_ms: self.context.verify_timeout_ms,
            deadline: None,
            environment,
        }
    }

    /// Ticks a task, or unticks it.
    pub(crate) fn set_box(&mut self, task: &TaskKey, done: bool) -> Result<(), PerformError> {
        let edited = self.plan.set_box(task, done)?;
        self.notices.edited(&edited);
        Ok(())
    }

    /// Notes what was changed in the plan while foreign code ran.
    pub(crate) fn reviewed(&mut self, task: Option<&TaskKey>, changes: PlanChanges) {
        if changes != PlanChanges::default() {
            self.reviews.push((task.cloned(), changes));
        }
    }

    /// Performs a command. Returns its answer; `None` if none is expected.
    ///
    /// Whatever runs foreign code runs with the plan guarded.
    pub(crate) fn perform(
        &mut self,
        issued: &Issued,
        recorder: &mut StepRecorder<'_>,
        person: &mut dyn Person,
    ) -> Option<Input> {
        let mut guard = match PlanGuard::begin(self, issued, &recorder.state) {
            Ok(guard) => guard,
            Err(error) => return Some(error.answer(issued.seq)),
        };
        if issued.command.runs_foreign_code()
            && let Err(error) = self.settings.begin()
        {
            return Some(error.answer(issued.seq));
        }
        let answer = self.act(issued, &mut guard, recorder, person);
        if let Err(error) = self.end_settings_guard() {
            return Some(error.answer(issued.seq));
        }
        // Also where it was stopped: nothing of it runs any more.
        match guard.end(self) {
            Ok(changes) => self.reviewed(guard.task(), changes),
            Err(error) => return Some(error.answer(issued.seq)),
        }
        answer
    }

    fn act(
        &mut self,
        issued: &Issued,
        guard: &mut PlanGuard,
        recorder: &mut StepRecorder<'_>,
        person: &mut dyn Person,
    ) -> Option<Input> {
        let seq = issued.seq;
        let answer = match &issued.command {
            Command::ReadPlan(query) => {
                let earlier = self.earlier_runs(&recorder.journal.store);
                read_plan(self, query, &earlier, recorder.observer)
                    .map(|plan| Input::PlanRead { seq, plan })
            }
            Command::Attempt(order) => {
                perform::attempt(self, seq, order, guard, recorder).map(|attempted| match attempted
                {
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
                let gate = gate.as_deref();
                let job = ClaimsJob {
                    task,
                    claims,
                    gate,
                    environment,
                };
                let earlier = self.earlier_runs(&recorder.journal.store);
                perform::judge_claims(self, &job, guard, &earlier, recorder.observer).map(
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
                let result = match self.own_service_trouble() {
                    Some(red) => Ok(red),
                    None => {
                        let result = self.context.verify(&check, recorder.observer);
                        result.map(CheckResult::into_verdict)
                    }
                };
                result.and_then(|result| {
                    let took_ms = millis(began.elapsed());
                    // The agent may have written the check: it may neither take work off the branch nor
                    // weaken what the commit is checked by.
                    let name = AttemptName::new(&self.run, task, *attempt);
                    let moved = self.tree.put_head_back(&name)?;
                    let error = moved.or(perform::review_check(self)?);
                    let (verdict, diagnosis) = match error {
                        Some(error) => (Verdict::Red { error }, None),
                        None => result,
                    };
                    let verdict = self.with_services_that_are_down(verdict);
                    let diagnosis = perform::without_own_modules(self, task, diagnosis)?;
                    Ok(Input::Verified {
                        seq,
                        verdict,
                        diagnosis,
                        took_ms,
                    })
                })
            }
            Command::Repair(order) => self.repair(order).map(|result| match result {
                Some(result) => Input::RepairEnded { seq, result },
                None => Input::Gone { seq },
            }),
            Command::Commit(order) => {
                let earlier = self.earlier_runs(&recorder.journal.store);
                perform::commit(self, order, &earlier)
                    .map(|result| Input::Committed { seq, result })
            }
            Command::InspectRepair(scene) => self
                .inspect_repair(scene)
                .map(|inspection| Input::RepairInspected { seq, inspection }),
            Command::ReadBudget { task } => {
                perform::read_budget(self, task).map(|budget| match budget {
                    Some(budget) => Input::BudgetRead { seq, budget },
                    None => Input::Gone { seq },
                })
            }
            Command::InsertFix(order) => perform::insert_fix(self, seq, order),
            Command::Modify(order) => {
                perform::modify(self, order).map(|result| Input::Modified { seq, result })
            }
            Command::AskPerson(question) => {
                perform::ask(self, question, &mut recorder.journal.store, person).map(
                    |(answer, choice)| Input::PersonAnswered {
                        seq,
                        answer,
                        choice,
                    },
                )
            }
            Command::NoteFailure { task } => {
                let earlier = self.earlier_runs(&recorder.journal.store);
                perform::note_failure(self, task, &earlier).map(|()| Input::FailureNoted { seq })
            }
            Command::Tick {
                task,
                done,
                supersede,
            } => perform::tick(self, task, *done, *supersede)
                .map(|superseded| Input::Ticked { seq, superseded }),
            Command::CloseCommit { message, number } => {
                perform::close_commit(self, message, *number)
                    .map(|result| Input::ClosingCommitted { seq, result })
            }
            Command::Record(record) => {
                let earlier = self.earlier_runs(&recorder.journal.store);
                perform::record(self, record, &earlier).map(|()| Input::Recorded { seq })
            }
            Command::FinalCheck(order) => {
                let began = Instant::now();
                perform::final_check(self, order, recorder.observer).map(|results| {
                    Input::FinallyChecked {
                        seq,
                        results,
                        took_ms: millis(began.elapsed()),
                    }
                })
            }
            Command::Reopen { tasks } => {
                perform::reopen(self, tasks).map(|()| Input::Reopened { seq })
            }
            Command::KeepServices(order) => {
                return self
                    .keep_services(order, recorder.observer)
                    .err()
                    .map(|error| error.answer(seq));
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

/// Why a command was not performed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PerformError {
    /// Someone asked to stop.
    Stopped,
    /// Someone keeps saving the file: the edit stays pending.
    Contended(String),
    /// It would fail the same way again.
    Broken(String),
}

impl PerformError {
    /// What the engine is told.
    pub(crate) fn answer(self, seq: CommandSeq) -> Input {
        match self {
            Self::Stopped => Input::Halted { seq },
            Self::Contended(why) => Input::Contended { seq, why },
            Self::Broken(why) => Input::Broken { seq, why },
        }
    }

    /// An error with all of its causes, outermost first.
    pub(crate) fn broken(error: &dyn Error) -> Self {
        let causes = std::iter::successors(Some(error), |error| (*error).source());
        let mut words: Vec<String> = causes.map(ToString::to_string).collect();
        // A transparent error, or one that quotes its cause, would say the same twice.
        words.dedup_by(|cause, said| said.ends_with(cause.as_str()));
        Self::Broken(words.join(": "))
    }
}

impl<E: Error + 'static> From<EditFileError<E>> for PerformError {
    fn from(error: EditFileError<E>) -> Self {
        match error {
            EditFileError::Contended { .. } | EditFileError::Lock(_) => {
                Self::Contended(error.to_string())
            }
            error => Self::broken(&error),
        }
    }
}

/// Errors that mean that the setup is broken.
macro_rules! broken {
    ($($error:ty),+) => {$(
        impl From<$error> for PerformError {
            fn from(error: $error) -> Self {
                Self::broken(&error)
            }
        }
    )+};
}

broken!(
    CreateFileError,
    StoreError,
    LogError,
    ProcessError,
    ReadError,
    StepError,
    TreeError,
    AtomicWriteError,
    std::io::Error
);
