//! Performs each of the engine's commands, and returns the answer.

use std::collections::BTreeSet;
use std::error::Error;
use std::rc::Rc;

use regreen_documents::{ForeignCode, StateDocument};
use regreen_engine::{Command, Input, Issued};
use regreen_model::{CommandSeq, PlanChanges, ServiceReport, TamperPolicy, TaskKey, VerifyCommand};
use regreen_store::{Store, StoreError};
use regreen_workspace::{CreateFileError, EditFileError, ReadError, StepError};

use crate::atomic_file::AtomicWriteError;
use crate::clock::millis;
use crate::driver::StepRecorder;
use crate::execution::ExecutionContext;
use crate::history::EarlierRuns;
use crate::inhibitor::Inhibitor;
use crate::log_file::LogError;
use crate::notices::Notices;
use crate::observer::{Memory, Person};
use crate::perform::{
    self, Attempted, Baseline, ClaimsJob, IgnoredScripts, JudgedAttempt, KnownState,
    OtherPlansGuard, PlanGuard, Recorded, SavedPlan, SettingsGuard, TestsBefore, code_of,
};
use crate::plan_file::{PlanFile, read_plan, restore_ticks};
use crate::process::ProcessError;
use crate::services::Services;
use crate::spec_paths::SpecPaths;
use crate::tree::{Tree, TreeError};
use crate::verify::Check;

/// Performs the engine's commands.
#[derive(Debug)]
pub(crate) struct Performer {
    pub(crate) paths: SpecPaths,
    pub(crate) run: String,
    pub(crate) context: ExecutionContext,
    pub(crate) tree: Tree,
    pub(crate) plan: PlanFile,
    /// Messages for people, in addition to the answers.
    pub(crate) notices: Notices,
    /// Changes to the plan, in addition to those that attempts report.
    pub(crate) reviews: Vec<PlanReviewed>,
    /// The state outside the working tree that this process compares its attempts with.
    pub(crate) baseline: Option<Baseline>,
    /// The scripts of checks that git ignores, as they were before the attempt.
    pub(crate) ignored_scripts: Option<IgnoredScripts>,
    pub(crate) settings: SettingsGuard,
    pub(crate) other_plans: OtherPlansGuard,
    pub(crate) saved_plan: SavedPlan,
    /// The services that run alongside everything else.
    pub(crate) services: Services,
    /// Changes to the services that the engine doesn't know about yet.
    pub(crate) service_reports: Vec<ServiceReport>,
    pub(crate) recorded: Recorded,
    pub(crate) state: KnownState,
    /// The state file as it was when foreign code last started to run.
    pub(crate) state_before: Option<Rc<StateDocument>>,
    /// The texts of the plan that were commands when the run began.
    pub(crate) known_commands: BTreeSet<String>,
    /// The command that checks tasks without a Verify.
    pub(crate) gate: Option<String>,
    pub(crate) tamper: TamperPolicy,
    /// Runs checks on earlier states of the tree.
    pub(crate) tests_before: TestsBefore,
    pub(crate) inhibitor: Inhibitor,
    /// What the user has learnt from failures so far.
    pub(crate) memory: Option<Box<dyn Memory>>,
}

/// Changes to the plan while foreign code ran for a task.
pub(crate) type PlanReviewed = (Option<TaskKey>, PlanChanges);

impl Performer {
    /// Returns the history of tasks that earlier runs did not finish.
    pub(crate) fn earlier_runs<'s>(&self, store: &'s Store) -> EarlierRuns<'s> {
        EarlierRuns {
            store,
            spec: self.paths.spec_key(),
            run: self.run.clone(),
        }
    }

    /// Returns a check of a task in the plan.
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

    /// Ticks or unticks a task.
    pub(crate) fn set_box(&mut self, task: &TaskKey, done: bool) -> Result<(), PerformError> {
        let edited = self.plan.set_box(task, done)?;
        self.notices.edited(&edited);
        Ok(())
    }

    /// Notes changes to the plan while foreign code ran.
    pub(crate) fn reviewed(&mut self, task: Option<&TaskKey>, changes: PlanChanges) {
        if changes != PlanChanges::default() {
            self.reviews.push((task.cloned(), changes));
        }
    }

    /// Whether code of others runs while a command is performed. Outside git nothing is committed, so
    /// no hook runs.
    pub(crate) fn runs_foreign_code(&self, command: &Command) -> bool {
        let is_commit = matches!(command, Command::Commit(_) | Command::CloseCommit { .. });
        command.runs_foreign_code() && !(is_commit && self.tree.git().is_none())
    }

    /// Performs a command. Returns its answer; `None` if the command has none, or has to be performed again because
    /// someone has decided something meanwhile.
    ///
    /// The plan is guarded whenever foreign code runs.
    pub(crate) fn perform(
        &mut self,
        issued: &Issued,
        recorder: &mut StepRecorder<'_>,
        person: &mut dyn Person,
    ) -> Option<Input> {
        // Before any other edit: then the file would no longer be the older copy.
        if issued.command.awaits_answer()
            && let Err(error) = restore_ticks(self)
        {
            return Some(error.answer(issued.seq));
        }
        let mut guard = match PlanGuard::begin(self, issued, &recorder.state) {
            Ok(guard) => guard,
            Err(error) => return Some(error.answer(issued.seq)),
        };
        if self.runs_foreign_code(&issued.command) {
            perform::remember_limits(self);
            let begun = self.settings.begin();
            if let Err(error) = begun.and_then(|()| self.other_plans.begin()) {
                return Some(error.answer(issued.seq));
            }
        }
        let problem = self
            .inhibitor
            .prepare(&self.context.processes, &issued.command);
        self.notices.add_all(problem);
        let answer = self.act(issued, &mut guard, recorder, person);
        // Even if the command was stopped: nothing of it is running any more.
        match self.end_guards(&mut guard, code_of(&issued.command)) {
            Ok(()) => answer,
            Err(error) => Some(error.answer(issued.seq)),
        }
    }

    /// Ends all guards, even if one of them fails. What one could not do is left to the next run.
    fn end_guards(&mut self, guard: &mut PlanGuard, code: ForeignCode) -> Result<(), PerformError> {
        let settings = self.end_settings_guard();
        let others = self.end_other_plans_guard(code);
        match guard.end(self) {
            Ok(changes) => self.reviewed(guard.task(), changes),
            Err(error) => {
                self.leave_plan_to_next_run()?;
                return Err(error);
            }
        }
        settings.and(others)
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
                perform::verify_attempt(self, task, *attempt, &check, recorder.observer).map(
                    |(result, took_ms)| {
                        let JudgedAttempt {
                            verdict,
                            diagnosis,
                            tests,
                        } = result;
                        Input::Verified {
                            seq,
                            verdict,
                            diagnosis,
                            tests,
                            took_ms,
                        }
                    },
                )
            }
            Command::ReviewTests(order) => {
                let asleep = self.context.processes.asleep.clone();
                let watch = asleep.stopwatch();
                let earlier = self.earlier_runs(&recorder.journal.store);
                perform::review_tests(self, order, &earlier, recorder.observer).map(|review| {
                    Input::TestsReviewed {
                        seq,
                        review: Box::new(review),
                        took_ms: millis(watch.elapsed()),
                    }
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
            Command::AskOpinion(order) => perform::ask_opinion(self, seq, order, recorder),
            Command::Recall(order) => Ok(Input::Recalled {
                seq,
                experience: self
                    .memory
                    .as_ref()
                    .and_then(|memory| memory.recall(&order.failure, order.task.id.as_str()))
                    .map(Box::new),
            }),
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
                let asked = perform::ask(self, question, &mut recorder.journal.store, person);
                match asked.transpose()? {
                    Err(error) => Err(error),
                    Ok((answer, choice)) => Ok(Input::PersonAnswered {
                        seq,
                        answer,
                        choice,
                    }),
                }
            }
            Command::AwaitAnswers { until } => {
                perform::await_answers(self, &recorder.state, seq, *until, person).transpose()?
            }
            Command::NoteFailure { task, kind } => {
                let earlier = self.earlier_runs(&recorder.journal.store);
                perform::note_failure(self, task, *kind, &earlier)
                    .map(|()| Input::FailureNoted { seq })
            }
            Command::Tick {
                task,
                done,
                supersede,
            } => perform::tick(self, task, *done, *supersede)
                .map(|superseded| Input::Ticked { seq, superseded }),
            Command::CloseCommit {
                message,
                number,
                completes,
            } => perform::close_commit(self, message, *number, *completes).map(
                |(result, changed)| Input::ClosingCommitted {
                    seq,
                    result,
                    changed,
                },
            ),
            Command::Record(record) => {
                let earlier = self.earlier_runs(&recorder.journal.store);
                perform::record(self, record, &earlier).map(|()| Input::Recorded { seq })
            }
            Command::FinalCheck(order) => {
                let asleep = self.context.processes.asleep.clone();
                let watch = asleep.stopwatch();
                perform::final_check(self, order, recorder.observer).map(|results| {
                    Input::FinallyChecked {
                        seq,
                        results,
                        took_ms: millis(watch.elapsed()),
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
                let processes = &self.context.processes;
                match processes.stop.sleep_until(*until) {
                    Some(asleep) => {
                        processes.asleep.note(asleep);
                        let asleep_ms = millis(asleep.total());
                        Ok(Input::Waited { seq, asleep_ms })
                    }
                    None => Err(PerformError::Stopped),
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
    /// Someone keeps saving the file; the edit stays pending.
    Contended(String),
    /// It would fail the same way again.
    Broken(String),
}

impl PerformError {
    /// Returns the answer for the engine.
    pub(crate) fn answer(self, seq: CommandSeq) -> Input {
        match self {
            Self::Stopped => Input::Halted { seq },
            Self::Contended(why) => Input::Contended { seq, why },
            Self::Broken(why) => Input::Broken { seq, why },
        }
    }

    /// Joins an error and all its causes, outermost first.
    pub(crate) fn broken(error: &dyn Error) -> Self {
        let causes = std::iter::successors(Some(error), |error| (*error).source());
        let mut words: Vec<String> = causes.map(ToString::to_string).collect();
        // A transparent error, or one that quotes its cause, would repeat it.
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

/// Conversions from errors that mean a broken setup.
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
