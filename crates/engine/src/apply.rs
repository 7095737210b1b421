//! Folds events into the state. Nothing is decided here.

mod final_check;
mod services;
mod test_review;

use std::collections::BTreeSet;

use regreen_model::{
    AttemptClass, AttemptReport, ChoiceKind, Event, Failure, FailureRecord, Mark, PersonAnswer,
    PersonChoice, PickedTask, PlanChanges, PlannedRepair, PromptKind, RepairResult, RunConfig,
    Spending, StopSignal, TaskId, TaskKey, Verdict,
};

use crate::recovery::MAX_TIME_FACTOR;
use crate::state::{AutomaticFix, FinalCheckPhase, PassedCheck, Phase, State, TaskState};

impl State {
    /// Applies an event. Any event can be applied to any state.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::RunStarted {
                run,
                config,
                after_limit,
                lost,
                earlier,
                environment,
            } => {
                let lost: BTreeSet<TaskKey> = lost.iter().cloned().collect();
                *self = Self {
                    put_back: lost.clone(),
                    lost,
                    earlier_checks: earlier.clone(),
                    environment: environment.clone(),
                    run: run.clone(),
                    config: config.clone(),
                    after_limit: *after_limit,
                    fold: Self::FOLD,
                    ..Self::default()
                };
            }
            Event::RunResumed { config, at } => {
                if let Some(config) = config {
                    self.change_config(config);
                }
                self.outcome = None;
                self.stopping = None;
                self.stops_after_task = false;
                self.reading = None;
                self.closing = None;
                self.parked.clear();
                self.lose_services();
                self.resumed_at = *at;
                self.steps += 1;
                if let FinalCheckPhase::Checking { .. } = self.final_check.phase {
                    self.final_check.phase = FinalCheckPhase::Idle;
                }
            }
            Event::Chosen { choice } => self.record_choice(choice),
            Event::PlanAsked { seq } => {
                self.reading = Some(*seq);
                self.next_seq = seq + 1;
                self.suspend_questions();
            }
            Event::LimitSettled { max_iterations } => self.max_iterations = Some(*max_iterations),
            Event::TaskPicked { task } => self.pick(task),
            Event::AttemptStarted {
                seq,
                task,
                attempt,
                prompt,
                ..
            } => {
                let phase = Phase::Attempting {
                    seq: *seq,
                    attempt: *attempt,
                };
                self.begin_step(task, *attempt);
                self.enter(task, *seq, phase, |task| {
                    task.session = task
                        .session
                        .take()
                        .filter(|_| task.continues_session(*prompt));
                    task.attempts = *attempt;
                    task.reminded = *prompt == PromptKind::Reminder;
                    task.noops += u32::from(*prompt == PromptKind::NoOp);
                    task.was_fixed = false;
                    task.asked_to_split = *prompt == PromptKind::Split;
                    if *prompt == PromptKind::Enriched {
                        task.was_enriched = true;
                        task.prompt = PromptKind::Enriched;
                    }
                });
                self.outdate_namesakes(task);
            }
            Event::SessionSeen { task, session, .. } => {
                self.with(task, |task| task.session = Some(session.clone()));
            }
            Event::AttemptPostponed { task, prompt } => {
                self.with(task, |task| task.prompt = *prompt);
            }
            Event::AttemptEnded {
                task,
                charged,
                counted,
                report,
                ..
            } => self.end_attempt(task, *charged, counted.unwrap_or(*charged), report),
            Event::PlanReviewed { changes, .. } => self.note_removed(changes),
            Event::ServiceChanged { report } => self.change_service(report),
            Event::ClaimsAsked { seq, task } => {
                self.enter(task, *seq, Phase::JudgingClaims { seq: *seq }, |_| {});
            }
            Event::ClaimsJudged { task, kept, .. } => {
                self.keep_claims(task, kept);
                self.with(task, TaskState::settle);
            }
            Event::VerifyStarted {
                seq,
                task,
                again,
                first,
                ..
            } => {
                self.enter(
                    task,
                    *seq,
                    Phase::Verifying {
                        seq: *seq,
                        again: *again,
                        first: *first,
                    },
                    |task| task.regressed_at = None,
                );
            }
            Event::VerifyEnded {
                task,
                verdict,
                diagnosis,
                tests,
                took_ms,
                ..
            } => {
                self.spend(task, |spent| spent.add_time(*took_ms));
                let passed = PassedCheck {
                    at: self.steps,
                    took_ms: *took_ms,
                };
                self.with(task, |task| {
                    task.note_red_tests(tests.as_deref());
                    task.verified(verdict, diagnosis.as_deref(), passed);
                });
            }
            Event::TestReviewStarted {
                seq, task, first, ..
            } => {
                let phase = Phase::ReviewingTests {
                    seq: *seq,
                    first: *first,
                };
                self.enter(task, *seq, phase, |_| {});
            }
            Event::TestsReviewed {
                task,
                review,
                took_ms,
                ..
            } => self.review_tests(task, review, *took_ms),
            Event::RepeatPlanned { task } => self.with(task, TaskState::repeat_planned),
            Event::OpinionAsked { seq, task } => {
                self.enter(task, *seq, Phase::AskingOpinion { seq: *seq }, |_| {});
            }
            Event::OpinionGiven {
                task,
                diagnosis,
                usage,
                took_ms,
            } => {
                self.spend(task, |spent| {
                    spent.add_time(*took_ms);
                    if let Some(usage) = usage {
                        spent.add_usage(usage);
                    }
                });
                self.with(task, |task| task.hear_opinion(diagnosis.as_deref()));
            }
            Event::InspectionAsked { seq, task } => {
                self.enter(task, *seq, Phase::Inspecting { seq: *seq }, |_| {});
            }
            Event::RepairInspected { task, .. } | Event::FixPostponed { task } => {
                self.with(task, |task| task.phase = Phase::Open);
            }
            Event::BudgetAsked { seq, task, repair } => {
                self.enter(task, *seq, Phase::Budgeting { seq: *seq }, |task| {
                    task.plan_repair(None, repair.as_ref());
                });
            }
            Event::FixPlanned {
                seq,
                task,
                fix,
                again,
                repair,
            } => {
                let phase = Phase::Inserting {
                    seq: *seq,
                    fix: fix.clone(),
                    again: *again,
                };
                self.enter(task, *seq, phase, |task| {
                    task.plan_repair(Some(fix), repair.as_ref());
                });
            }
            Event::FixInserted { task, fix } => self.with(task, |task| task.fix_inserted(fix)),
            Event::RepairStarted {
                seq, task, attempt, ..
            } => {
                self.begin_step(task, *attempt);
                self.enter(task, *seq, Phase::Repairing { seq: *seq }, |task| {
                    task.attempts = *attempt;
                });
            }
            Event::RepairEnded { task, result } => self.end_repair(task, result),
            Event::ModificationAsked { seq, task } => {
                self.enter(task, *seq, Phase::Modifying { seq: *seq }, |_| {});
            }
            Event::PlanModified { task, added } => self.with(task, |task| task.rows_added(added)),
            Event::ModificationRefused { task, why } => {
                self.with(task, |task| task.rows_refused(why));
            }
            Event::SupersedeAsked { seq, task } => {
                self.enter(task, *seq, Phase::Superseding { seq: *seq }, |_| {});
            }
            Event::FixesSuperseded { seq, task, fixes } => {
                let phase = Phase::TickingFixes {
                    seq: *seq,
                    fixes: fixes.clone(),
                };
                self.enter(task, *seq, phase, |task| task.superseded.clone_from(fixes));
                self.superseded.extend(fixes.iter().cloned());
                for fix in fixes {
                    self.with(fix, |fix| {
                        fix.phase = Phase::Closed;
                        fix.result = Some(true);
                    });
                }
            }
            Event::HistoryAsked { seq, task, message } => {
                let phase = Phase::Noting {
                    seq: *seq,
                    message: message.clone(),
                };
                self.enter(task, *seq, phase, |_| {});
            }
            Event::PersonAsked {
                seq,
                task,
                why,
                repair,
            } => {
                let phase = Phase::Asking {
                    seq: Some(*seq),
                    why: why.clone(),
                    repair: repair.clone(),
                };
                self.enter(task, *seq, phase, |_| {});
            }
            Event::PersonAnswered { task, answer } => {
                if *answer == PersonAnswer::Edit {
                    self.mark_edited(task);
                }
                self.steps += 1;
                self.with(task, |task| task.person_answered(answer));
            }
            Event::TaskParked { task, .. } => {
                self.parked.insert(task.clone());
            }
            Event::TaskFailed {
                task,
                attempt,
                failure,
                only_red,
            } => self.with(task, |task| {
                task.is_stalled = task.has_stalled(failure);
                task.only_red = *only_red;
                task.failure = Some(failure.clone());
                task.failed_attempt = Some(*attempt);
                task.prompt = PromptKind::Retry;
                task.result = Some(false);
                task.reminded = false;
                task.regressed_at = None;
                task.marks.clear();
                task.settle();
            }),
            Event::TickAsked { seq, task, done } => {
                self.enter(
                    task,
                    *seq,
                    Phase::Ticking {
                        seq: *seq,
                        done: *done,
                    },
                    |_| {},
                );
            }
            Event::CommitAsked { seq, task } => {
                self.enter(task, *seq, Phase::Committing { seq: *seq }, |_| {});
            }
            Event::CommitRefused { task, output } => {
                self.commits += 1;
                self.with(task, |task| task.refusal = Some(output.clone()));
            }
            Event::Marked { task, mark } => self.with(task, |task| {
                task.marks.insert(*mark);
            }),
            Event::Committed { task, hash } => {
                self.commits += 1;
                self.has_committed |= hash.is_some();
                self.with(task, |task| task.hash.clone_from(hash));
            }
            Event::RecordAsked { seq, task } => {
                self.enter(task, *seq, Phase::Recording { seq: *seq }, |_| {});
            }
            Event::TaskDone { task, marks, hash } => {
                self.forget_spending(task);
                self.with(task, |task| {
                    task.phase = Phase::Closed;
                    task.choice = None;
                    task.result = Some(true);
                    task.marks.clone_from(marks);
                    task.hash.clone_from(hash);
                });
            }
            Event::TaskGone { task } => self.with(task, |task| {
                task.phase = Phase::Closed;
                task.result = None;
            }),
            Event::TaskSkipped { task } => {
                self.lost.insert(task.clone());
                self.skipped.insert(task.clone());
                self.with(task, |task| task.phase = Phase::Closed);
            }
            Event::WaitStarted {
                seq,
                task,
                since,
                until,
                repeats,
                ..
            } => {
                let phase = Phase::Waiting {
                    seq: *seq,
                    since: *since,
                    until: *until,
                    repeats: *repeats,
                };
                self.waits += u32::from(!repeats);
                self.enter(task, *seq, phase, |_| {});
            }
            Event::WaitEnded { task, waited_ms } => {
                self.spent.add_time(self.driven_ms(task, *waited_ms));
                if !self.is_repeating(task) {
                    self.waited_ms = self.waited_ms.saturating_add(*waited_ms);
                }
                self.with(task, |task| task.phase = Phase::Open);
            }
            Event::FinalCheckStarted { seq, .. } => {
                self.reading = None;
                self.next_seq = seq + 1;
                self.final_check.phase = FinalCheckPhase::Checking { seq: *seq };
            }
            Event::FinalCheckEnded {
                flaky,
                known_failures,
                regressed,
                not_repeated,
                took_ms,
                ..
            } => {
                self.mark_all(known_failures, Mark::KnownFailures);
                self.mark_all(flaky, Mark::Flaky);
                self.end_final_check(regressed, not_repeated, *took_ms);
            }
            Event::ReopenAsked { seq, .. } => {
                self.next_seq = seq + 1;
                self.final_check.phase = FinalCheckPhase::Reopening { seq: *seq };
            }
            Event::TaskReopened { task } => self.reopen(task),
            Event::ClosingCommitAsked { seq } => {
                self.reading = None;
                self.next_seq = seq + 1;
                self.closing = Some(*seq);
            }
            Event::ClosingCommitted { changed, .. } => {
                if *changed {
                    self.final_check.passed_at = None;
                }
                self.commits += 1;
                self.closing = None;
                self.closed_at = Some(self.steps);
            }
            Event::Warned { .. } => {}
            Event::StopAsked {
                signal: StopSignal::AfterTask,
            } => self.stops_after_task = true,
            Event::StopAsked { signal } => self.stopping = Some(*signal),
            Event::RunEnded { outcome } => {
                self.outcome = Some(outcome.clone());
                self.reading = None;
                self.closing = None;
            }
        }
    }

    /// Replaces the settings. The limit on attempts is determined again only if it changed.
    fn change_config(&mut self, config: &RunConfig) {
        if config.limits.global_iterations != self.config.limits.global_iterations {
            self.max_iterations = None;
        }
        self.config = config.clone();
    }

    /// Stops asking people; their questions stay open.
    fn suspend_questions(&mut self) {
        for task in self.tasks.values_mut() {
            if let Phase::Asking { seq, .. } = &mut task.phase {
                *seq = None;
            }
        }
    }

    fn with(&mut self, task: &TaskKey, change: impl FnOnce(&mut TaskState)) {
        if let Some(task) = self.tasks.get_mut(task) {
            change(task);
        }
    }

    /// Makes a task wait for a new command.
    fn enter(
        &mut self,
        task: &TaskKey,
        seq: u64,
        phase: Phase,
        change: impl FnOnce(&mut TaskState),
    ) {
        self.next_seq = seq + 1;
        self.with(task, |task| {
            task.phase = phase;
            change(task);
        });
    }

    /// In a list without ids, a task's number changes as soon as rows are added above it. This
    /// attempt is therefore also the last one of the same task under its other numbers.
    fn outdate_namesakes(&mut self, attempted: &TaskKey) {
        for (key, task) in &mut self.tasks {
            if key != attempted && key.title == attempted.title {
                task.was_fixed = false;
            }
        }
    }

    /// A person who edits a fix may edit the task it fixes as well.
    fn mark_edited(&mut self, task: &TaskKey) {
        let root = self.tasks.get(task).map(|task| task.picked.root.clone());
        for task in self.tasks.values_mut() {
            task.edited |= Some(&task.picked.root) == root.as_ref();
        }
    }

    /// Once a task was tried, keeps it as it was first picked, unless a person has edited it. A
    /// closed task that is picked again was reopened by a person and starts over.
    fn pick(&mut self, picked: &PickedTask) {
        self.reading = None;
        self.total_tasks = picked.total;
        self.current = Some(picked.task.clone());
        self.renew_restarts();
        // Someone has put its row back.
        self.lost.remove(&picked.task);
        self.superseded.remove(&picked.task);
        self.forget_passed(&picked.task);
        let regression = self.regression_of(&picked.task).cloned();
        let task = self
            .tasks
            .entry(picked.task.clone())
            .or_insert_with(|| TaskState::new_or_regressed(picked.clone(), regression));
        if task.phase == Phase::Closed {
            task.start_afresh();
            self.spent_on.retain(|(root, _)| *root != picked.task);
        }
        if std::mem::take(&mut task.edited) || task.report.is_none() {
            task.picked = picked.clone();
        }
        // Rows above it may have added or ended services.
        task.picked.services.clone_from(&picked.services);
        task.picked.index = picked.index;
        task.picked.total = picked.total;
    }

    /// Records a choice. A skip holds until a later choice ends it, even if the task never ran.
    fn record_choice(&mut self, choice: &PersonChoice) {
        self.choices_seen = choice.number;
        match choice.what {
            ChoiceKind::Skip => {
                // The choice settles the row that an agent removed.
                self.put_back.remove(&choice.task);
                self.lost.remove(&choice.task);
                self.skipped.insert(choice.task.clone())
            }
            ChoiceKind::Done | ChoiceKind::Retry => self.skipped.remove(&choice.task),
        };
        self.with(&choice.task, |task| task.record_choice(choice.what));
        if choice.what == ChoiceKind::Retry {
            self.forget_spending(&self.root_of(&choice.task));
        }
        if choice.what != ChoiceKind::Skip {
            for task in self.tasks.values_mut() {
                task.drop_claim(&choice.task);
            }
        }
    }

    /// Whether the task waits before a repeat.
    fn is_repeating(&self, task: &TaskKey) -> bool {
        let phase = self.tasks.get(task).map(|task| &task.phase);
        matches!(phase, Some(Phase::Waiting { repeats: true, .. }))
    }

    fn end_repair(&mut self, fix: &TaskKey, result: &RepairResult) {
        let root = self.tasks.get(fix).map(|fix| fix.picked.root.clone());
        let is_owner = |task: &&mut TaskState| {
            Some(&task.picked.root) == root.as_ref() && task.owns_automatic_fix(&fix.id)
        };
        for task in self.tasks.values_mut().filter(is_owner) {
            task.repaired
                .extend(task.automatic_fix.take().map(|own| own.repair.action));
        }
        if let RepairResult::Done { environment, .. } = result {
            for (name, value) in environment {
                self.environment.retain(|(set, _)| set != name);
                self.environment.push((name.clone(), value.clone()));
            }
        }
        self.with(fix, |fix| fix.repair_ended(result));
    }

    fn end_attempt(&mut self, key: &TaskKey, charged: bool, counted: bool, report: &AttemptReport) {
        if counted {
            self.iterations += 1;
        }
        if !matches!(report.class, AttemptClass::Transient { .. }) {
            self.waits = 0;
        }
        self.note_removed(&report.plan);
        self.spend_on_attempt(key, report);
        self.with(key, |task| task.attempt_ended(charged, report));
    }

    /// In a list without ids, a row that is removed again may have another number by then.
    fn note_removed(&mut self, changes: &PlanChanges) {
        let removed = changes.put_back.iter().chain(&changes.skipped);
        self.put_back.extend(removed.cloned());
    }

    /// Every attempt costs something, however it ended.
    fn spend_on_attempt(&mut self, key: &TaskKey, report: &AttemptReport) {
        let mut used = None;
        self.with(key, |task| {
            let session = report.session.as_deref();
            let usage = report.usage.as_ref();
            used = usage.map(|usage| task.sessions.count(session, usage));
        });
        self.spend(key, |spent| {
            spent.add_time(report.ending.duration_ms);
            if let Some(used) = &used {
                spent.add_usage(used);
            }
        });
    }

    /// Charges the run and the task's original.
    fn spend(&mut self, key: &TaskKey, spend: impl Fn(&mut Spending)) {
        spend(&mut self.spent);
        let root = self.root_of(key);
        match self.spent_on.iter_mut().find(|(task, _)| *task == root) {
            Some((_, spent)) => spend(spent),
            None => {
                let mut spent = Spending::default();
                spend(&mut spent);
                self.spent_on.push((root, spent));
            }
        }
    }

    /// Called when the original is done, or when a person has it start over.
    fn forget_spending(&mut self, root: &TaskKey) {
        self.spent_on.retain(|(task, _)| task != root);
    }

    fn root_of(&self, key: &TaskKey) -> TaskKey {
        let task = self.tasks.get(key);
        task.map_or(key, |task| &task.picked.root).clone()
    }

    /// Returns how much of a wait passed while this process was running.
    fn driven_ms(&self, key: &TaskKey, waited_ms: u64) -> u64 {
        let phase = self.tasks.get(key).map(|task| &task.phase);
        match (phase, self.resumed_at) {
            (Some(Phase::Waiting { since, .. }), Some(resumed)) => {
                waited_ms.min(since.plus(waited_ms).since(resumed))
            }
            _ => waited_ms,
        }
    }
}

impl TaskState {
    /// Starts over as if nothing had run, but keeps counting attempts, because logs are named after
    /// them.
    fn start_afresh(&mut self) {
        let picked = PickedTask {
            failed_before: None,
            ..self.picked.clone()
        };
        *self = Self {
            attempts: self.attempts,
            ..Self::new(picked)
        };
    }

    /// Puts a person's choice into effect, once nothing of the task is pending.
    fn settle(&mut self) {
        self.phase = Phase::Open;
        match self.choice.take() {
            None => {}
            Some(ChoiceKind::Skip) => self.phase = Phase::Closed,
            Some(ChoiceKind::Done) => {
                self.phase = Phase::Closed;
                self.result = Some(true);
            }
            Some(ChoiceKind::Retry) => self.retry(),
        }
    }

    /// Prepares another attempt, whose prompt has the last failure and what a person said about it.
    fn retry(&mut self) {
        // A failure from before the task was done doesn't matter.
        let failure = self.failure.take().filter(|_| self.result != Some(true));
        let context = std::mem::take(&mut self.context);
        self.start_afresh();
        self.context = context;
        if failure.is_some() {
            self.prompt = PromptKind::Retry;
            self.failure = failure;
        }
    }

    fn record_choice(&mut self, what: ChoiceKind) {
        self.choice = Some(what);
        if !self.phase.outlasts(what) {
            self.settle();
        }
    }

    /// Records the answer. `Stop` leaves the question open.
    fn person_answered(&mut self, answer: &PersonAnswer) {
        match answer {
            PersonAnswer::Stop => return,
            PersonAnswer::Context { text } => self.context.push(text.clone()),
            PersonAnswer::Repair => self.agree(),
            PersonAnswer::Edit | PersonAnswer::Fix | PersonAnswer::Skip => {}
        }
        self.settle();
    }

    /// Records that the person allows the suggested repair.
    fn agree(&mut self) {
        if let Phase::Asking { repair, .. } = &self.phase {
            self.automatic_fix = repair.clone().map(|repair| AutomaticFix {
                fix: None,
                repair,
                agreed: true,
            });
        }
    }

    /// Whether the same thing was missing or forbidden as in the previous attempt, with no file
    /// changed since. The next attempt would fail the same way.
    fn has_stalled(&self, failure: &FailureRecord) -> bool {
        let last = self
            .failure
            .as_ref()
            .filter(|_| self.failed_attempt.is_some());
        let (Some(last), Some(found)) = (
            last.and_then(FailureRecord::confident_diagnosis),
            failure.confident_diagnosis(),
        ) else {
            return false;
        };
        found.kind.is_of_environment()
            && (found.kind, &found.fingerprint) == (last.kind, &last.fingerprint)
            && !self.changed_files
    }

    /// Charges the attempt to the repeats instead of the task. If only Verify failed, the attempt
    /// itself isn't repeated.
    fn repeat_planned(&mut self) {
        self.repeats += 1;
        if !self.only_red {
            self.iterations = self.iterations.saturating_sub(1);
        }
    }

    fn plan_repair(&mut self, fix: Option<&TaskId>, repair: Option<&PlannedRepair>) {
        let agreed = self.automatic_fix.as_ref().is_some_and(|own| own.agreed);
        self.automatic_fix = repair.map(|repair| AutomaticFix {
            fix: fix.cloned(),
            repair: repair.clone(),
            agreed,
        });
    }

    pub(crate) fn owns_automatic_fix(&self, fix: &TaskId) -> bool {
        let own = self.automatic_fix.as_ref();
        own.is_some_and(|own| own.fix.as_ref() == Some(fix))
    }

    /// Records the result. A fix that regreen could not make is left to the agent, whose prompt
    /// says so.
    fn repair_ended(&mut self, result: &RepairResult) {
        self.settle();
        if let RepairResult::Failed { why } = result {
            self.prompt = PromptKind::Retry;
            self.failure = Some(FailureRecord {
                error: why.clone(),
                ..FailureRecord::default()
            });
        }
    }

    /// Forgets a claim: a person has set the box by now.
    fn drop_claim(&mut self, claimed: &TaskKey) {
        if let Some(report) = &mut self.report {
            report.plan.claims.retain(|claim| claim.task != *claimed);
        }
    }

    /// Whether the agent couldn't finish its last attempt: a kill, its service or a time limit ended
    /// it.
    fn was_cut_short(&self) -> bool {
        self.report
            .as_ref()
            .is_some_and(|report| report.class != AttemptClass::Ordinary || report.ending.timed_out)
    }

    fn attempt_ended(&mut self, charged: bool, report: &AttemptReport) {
        self.iterations += u32::from(charged);
        // The changes made before a reminder, and before an attempt was cut short, still count.
        let is_continued = self.reminded || self.was_cut_short();
        self.changed_files = report.files_changed > 0 || (is_continued && self.changed_files);
        if report.ending.timed_out && report.progressed {
            self.time_factor = (self.time_factor * 2).min(MAX_TIME_FACTOR);
        }
        self.session = report.session.clone().or_else(|| self.session.take());
        self.report = Some(Box::new(report.clone()));
        match report.class {
            AttemptClass::Interrupted => {
                self.interruptions += 1;
                self.prompt = PromptKind::Interrupted;
            }
            AttemptClass::Session { .. } => {
                self.lost_sessions += 1;
                self.session = None;
                self.prompt = PromptKind::NewSession;
            }
            AttemptClass::Ordinary if self.prompt == PromptKind::Enriched => {
                self.prompt = PromptKind::Retry;
            }
            // An agent whose service is down has not read its prompt: it gets the same one again.
            AttemptClass::Ordinary
            | AttemptClass::Transient { .. }
            | AttemptClass::Fatal { .. } => {}
        }
        // An interrupted request to split the task is made again.
        if self.asked_to_split && report.class != AttemptClass::Ordinary {
            self.prompt = PromptKind::Split;
        }
        if report.plan.claims.is_empty() {
            self.settle();
        } else {
            // The claims are judged first, even if a person has decided about the task.
            self.phase = Phase::Open;
        }
    }

    /// Notes for the next prompt that the rows the agent asked for now exist.
    fn rows_added(&mut self, added: &[TaskKey]) {
        self.phase = Phase::Open;
        if self.report.as_ref().is_some_and(|report| report.signalled) {
            return;
        }
        let rows: Vec<String> = added.iter().map(ToString::to_string).collect();
        let rows = rows.join(", ");
        self.prompt = PromptKind::Retry;
        self.failure = Some(FailureRecord {
            error: format!(
                "The task is not done yet: an attempt asked for other rows in the plan ({rows}). They stand there now. Do what is left of this task"
            ),
            attempted_fix: String::new(),
            ..FailureRecord::default()
        });
    }

    /// Notes for the next prompt why the agent, which asked for rows instead of finishing, didn't
    /// get them.
    fn rows_refused(&mut self, why: &str) {
        self.phase = Phase::Open;
        if let Some(report) = &mut self.report
            && !report.signalled
            && !report.reports_failure
        {
            report.failure.error = format!("{}: {why}", report.failure.error);
        }
    }

    /// Replaces the cause of the last failure with the one that the agent names, if it names one.
    fn hear_opinion(&mut self, diagnosis: Option<&Failure>) {
        self.phase = Phase::Open;
        if let (Some(failure), Some(found)) = (&mut self.failure, diagnosis) {
            failure.diagnosis = Some(Box::new(found.clone()));
        }
    }

    /// The fix for the last failure is now in the file.
    fn fix_inserted(&mut self, fix: &TaskId) {
        self.phase = Phase::Open;
        self.was_fixed = true;
        if !self.fixes.iter().any(|(made, _)| made == fix) {
            let failure = self.failure.clone().unwrap_or_default();
            self.fixes.push((fix.clone(), failure.cause().to_owned()));
            self.fixed_blocker = failure.diagnosis.map(|found| found.fingerprint);
        }
    }

    fn verified(&mut self, verdict: &Verdict, diagnosis: Option<&Failure>, passed: PassedCheck) {
        self.passed_check = (*verdict == Verdict::Green).then_some(passed);
        let again = matches!(self.phase, Phase::Verifying { again: true, .. });
        let after_fix = matches!(self.phase, Phase::Verifying { first: true, .. });
        if *verdict == Verdict::Green && self.picked.is_partly_checked() {
            self.marks
                .extend([Mark::Unverified, Mark::ExpectationNotChecked]);
        }
        // The task it fixes doesn't cover a check that someone wrote for the fix itself.
        if matches!(verdict, Verdict::Red { .. })
            && self.picked.is_fix()
            && self.picked.has_own_verify
        {
            self.marks.extend([Mark::Unverified, Mark::VerifyFailed]);
        }
        match verdict {
            // The next prompt shows how the task fails now, not how it failed before the fix.
            Verdict::Red { error } if after_fix => {
                let failure = self.failure.take().unwrap_or_default();
                self.failure = Some(FailureRecord {
                    error: error.clone(),
                    diagnosis: diagnosis.cloned().map(Box::new),
                    ..failure
                });
            }
            Verdict::Green if again => {
                self.marks.insert(Mark::Flaky);
            }
            // A group has nothing of its own to verify: its rows count.
            Verdict::Unverified if !self.picked.is_group => {
                self.marks.insert(Mark::Unverified);
            }
            Verdict::Green | Verdict::Red { .. } | Verdict::Unverified => {}
        }
        self.phase = Phase::Open;
    }
}
