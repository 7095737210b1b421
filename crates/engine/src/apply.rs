//! Folds events into the state. Nothing is decided here.

mod asking;
mod attempting;
mod final_check;
mod healing;
mod services;
mod spending;
mod test_review;
mod verifying;

use std::collections::BTreeSet;

use regreen_model::{
    Event, Mark, PersonAnswer, PickedTask, PromptKind, RunConfig, StopSignal, TaskKey,
};

use crate::state::{FinalCheckPhase, PassedCheck, Phase, State, TaskState};

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
                self.awaiting = None;
                self.awaiting_since = None;
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
                self.awaiting = None;
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
            Event::PlanReviewed { changes, .. } => self.note_changes(changes),
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
            Event::RecallAsked { seq, task } => {
                self.enter(task, *seq, Phase::Recalling { seq: *seq }, |_| {});
            }
            Event::Recalled { task, experience } => self.with(task, |task| {
                task.phase = Phase::Open;
                task.experience.clone_from(experience);
            }),
            Event::TemplateApplied {
                task,
                template,
                step,
                ..
            } => self.apply_template(task, template, *step),
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
                    is_answered: false,
                };
                self.enter(task, *seq, phase, |_| {});
            }
            Event::AnswerGiven { task } => self.note_answer(task),
            Event::AnswersAwaited { seq, since, .. } => {
                self.reading = None;
                self.next_seq = seq + 1;
                self.awaiting = Some(*seq);
                self.awaiting_since = Some(*since);
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
                task.experience = None;
                task.guidance = None;
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
}
