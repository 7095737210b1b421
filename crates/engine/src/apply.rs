//! Folding events into the state. Nothing is decided here.

mod final_check;
mod services;

use std::collections::BTreeSet;

use regreen_model::{
    AttemptClass, AttemptReport, ChoiceKind, Event, FailureRecord, Mark, PersonAnswer,
    PersonChoice, PickedTask, PlanChanges, PlannedRepair, PromptKind, RepairResult, RunConfig,
    Spending, StopSignal, TaskId, TaskKey, Verdict,
};

use crate::recovery::MAX_TIME_FACTOR;
use crate::state::{AutomaticFix, FinalCheckPhase, PassedCheck, Phase, State, TaskState};

impl State {
    /// The state after an event. Any event can be applied to any state.
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
                    task.was_enriched |= *prompt == PromptKind::Enriched;
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
                took_ms,
                ..
            } => {
                self.spend(task, |spent| spent.add_time(*took_ms));
                let passed = PassedCheck {
                    at: self.steps,
                    took_ms: *took_ms,
                };
                self.with(task, |task| task.verified(verdict, passed));
            }
            Event::RepeatPlanned { task } => self.with(task, TaskState::repeat_planned),
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
                regressed,
                not_repeated,
                took_ms,
                ..
            } => self.end_final_check(flaky, regressed, not_repeated, *took_ms),
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
            Event::ClosingCommitted { .. } => {
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

    /// A limit that was changed is settled anew; one that was not stays as it was.
    fn change_config(&mut self, config: &RunConfig) {
        if config.limits.global_iterations != self.config.limits.global_iterations {
            self.max_iterations = None;
        }
        self.config = config.clone();
    }

    /// No one is being asked; the questions stay open.
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

    /// In a list without ids a task has another number as soon as rows are added above it: this
    /// attempt is also the last one of the task under its other numbers.
    fn outdate_namesakes(&mut self, attempted: &TaskKey) {
        for (key, task) in &mut self.tasks {
            if key != attempted && key.title == attempted.title {
                task.was_fixed = false;
            }
        }
    }

    /// A person who edits a fix may edit what it repairs as well.
    fn mark_edited(&mut self, task: &TaskKey) {
        let root = self.tasks.get(task).map(|task| task.picked.root.clone());
        for task in self.tasks.values_mut() {
            task.edited |= Some(&task.picked.root) == root.as_ref();
        }
    }

    /// Keeps the definition frozen when a task was first picked once it was tried, unless a person
    /// has edited it; a closed task that is picked again was reopened by a person and starts
    /// afresh.
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
        // Rows above it may have declared some, or ended them.
        task.picked.services.clone_from(&picked.services);
        task.picked.index = picked.index;
        task.picked.total = picked.total;
    }

    /// A skip stands until a later choice ends it, also where nothing of the task was run yet.
    fn record_choice(&mut self, choice: &PersonChoice) {
        self.choices_seen = choice.number;
        match choice.what {
            ChoiceKind::Skip => {
                // A row that an agent removed is settled.
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

    /// Where tasks are called after their place, the second time it may have another name.
    fn note_removed(&mut self, changes: &PlanChanges) {
        let removed = changes.put_back.iter().chain(&changes.skipped);
        self.put_back.extend(removed.cloned());
    }

    /// Every attempt costs, however it ended.
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

    /// Charges the run, and the original that the task is or repairs.
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

    /// The original is done, or a person has it tried as if for the first time.
    fn forget_spending(&mut self, root: &TaskKey) {
        self.spent_on.retain(|(task, _)| task != root);
    }

    fn root_of(&self, key: &TaskKey) -> TaskKey {
        let task = self.tasks.get(key);
        task.map_or(key, |task| &task.picked.root).clone()
    }

    /// How much of a wait this process was there for.
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
    /// As if nothing of it had been run, but for the number of the next attempt: logs are
    /// named by it.
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

    /// Nothing of it is pending: a person's choice takes effect.
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

    /// The next prompt tells what went wrong last, and what a person had to say about it.
    fn retry(&mut self) {
        // A failure from before it was done does not matter.
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

    /// An answer to stop leaves the question open.
    fn person_answered(&mut self, answer: &PersonAnswer) {
        match answer {
            PersonAnswer::Stop => return,
            PersonAnswer::Context { text } => self.context.push(text.clone()),
            PersonAnswer::Repair => self.agree(),
            PersonAnswer::Edit | PersonAnswer::Fix | PersonAnswer::Skip => {}
        }
        self.settle();
    }

    /// The person allows the repair that the question named.
    fn agree(&mut self) {
        if let Phase::Asking { repair, .. } = &self.phase {
            self.automatic_fix = repair.clone().map(|repair| AutomaticFix {
                fix: None,
                repair,
                agreed: true,
            });
        }
    }

    /// Whether the same thing was missing, or forbidden, as at the attempt before, and no file was
    /// changed since: the next attempt would find it so as well.
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

    /// The attempt is charged to the repeats, not to the task. Where only Verify failed, no
    /// attempt is repeated.
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

    /// A fix that regreen could not make is left to the agent, which is told so.
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

    /// The box that an agent ticked is by now as a person wants it.
    fn drop_claim(&mut self, claimed: &TaskKey) {
        if let Some(report) = &mut self.report {
            report.plan.claims.retain(|claim| claim.task != *claimed);
        }
    }

    fn attempt_ended(&mut self, charged: bool, report: &AttemptReport) {
        self.iterations += u32::from(charged);
        // A reminder only asks for the signal: what the attempt did before still counts.
        self.changed_files = report.files_changed > 0 || (self.reminded && self.changed_files);
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
            AttemptClass::Ordinary
            | AttemptClass::Transient { .. }
            | AttemptClass::Fatal { .. } => {}
        }
        // A request to split that was interrupted is made again.
        if self.asked_to_split && report.class != AttemptClass::Ordinary {
            self.prompt = PromptKind::Split;
        }
        if report.plan.claims.is_empty() {
            self.settle();
        } else {
            // The claims come first, also where a person has decided about the task.
            self.phase = Phase::Open;
        }
    }

    /// An agent that asked for other rows is told at the next attempt that they are there.
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

    /// An agent that asked for other rows instead of finishing is told why there are none.
    fn rows_refused(&mut self, why: &str) {
        self.phase = Phase::Open;
        if let Some(report) = &mut self.report
            && !report.signalled
            && !report.reports_failure
        {
            report.failure.error = format!("{}: {why}", report.failure.error);
        }
    }

    /// A fix stands in the file that was made for the last failure.
    fn fix_inserted(&mut self, fix: &TaskId) {
        self.phase = Phase::Open;
        self.was_fixed = true;
        if !self.fixes.iter().any(|(made, _)| made == fix) {
            let failure = self.failure.clone().unwrap_or_default();
            self.fixes.push((fix.clone(), failure.cause().to_owned()));
            self.fixed_blocker = failure.diagnosis.map(|found| found.fingerprint);
        }
    }

    fn verified(&mut self, verdict: &Verdict, passed: PassedCheck) {
        self.passed_check = (*verdict == Verdict::Green).then_some(passed);
        let again = matches!(self.phase, Phase::Verifying { again: true, .. });
        let after_fix = matches!(self.phase, Phase::Verifying { first: true, .. });
        if *verdict == Verdict::Green && self.picked.is_partly_checked() {
            self.marks
                .extend([Mark::Unverified, Mark::ExpectationNotChecked]);
        }
        // The task that it fixes says nothing about a check that someone wrote for the fix itself.
        if matches!(verdict, Verdict::Red { .. })
            && self.picked.is_fix()
            && self.picked.has_own_verify
        {
            self.marks.extend([Mark::Unverified, Mark::VerifyFailed]);
        }
        match verdict {
            // The next attempt is told how it fails now, not how it failed before the fix.
            Verdict::Red { error } if after_fix => {
                let failure = self.failure.take().unwrap_or_default();
                self.failure = Some(FailureRecord {
                    error: error.clone(),
                    diagnosis: None,
                    ..failure
                });
            }
            Verdict::Green if again => {
                self.marks.insert(Mark::Flaky);
            }
            // A group is what its rows are.
            Verdict::Unverified if !self.picked.is_group => {
                self.marks.insert(Mark::Unverified);
            }
            Verdict::Green | Verdict::Red { .. } | Verdict::Unverified => {}
        }
        self.phase = Phase::Open;
    }
}
