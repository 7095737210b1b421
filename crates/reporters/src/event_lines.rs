//! Formats events as lines for people: one line for a pass, two or three for a failure, none if a
//! later line says the same.

use std::collections::{BTreeMap, BTreeSet};

use regreen_diagnosis::CONTRADICTION;
use regreen_model::{
    Advice, AttemptClass, AttemptReport, ChoiceKind, ERROR_CHARS, Event, Experience, FailureRecord,
    Inspection, Mark, PersonAnswer, PersonChoice, PickedTask, PlanChanges, PlannedRepair,
    PromptKind, RepairResult, RunOutcome, ServiceChange, ServiceReport, Span, StopSignal, TaskId,
    TaskKey, Timestamp, Verdict,
};

use crate::failure_text::{headline, headline_of, kind_and_place};
use crate::status_line::{Status, StatusLine, Tone};
use crate::text::{attempt_words, one_line, reason, task_name};
use crate::totals::RunTotals;

const NAME_CHARS: usize = 100;
const HASH_CHARS: usize = 12;

/// Formats the events of a run one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventFormatter {
    totals: RunTotals,
    /// When the current attempt started, or else when its task was picked.
    task_began: BTreeMap<TaskKey, Timestamp>,
    /// The first line is held back until the first task, which has the number of tasks; warnings
    /// are held back until the first line.
    heading: Option<Status>,
    waiting: Vec<StatusLine>,
    /// The current verification comes before another prompt to the agent.
    verify_is_first: bool,
    /// Why the Verify of a fix failed, until the fix itself is reported.
    fix_verify_failure: Option<String>,
    /// A commit hook has just refused a commit.
    commit_refused: bool,
    /// The repairs behind fix tasks.
    repairs: BTreeMap<TaskId, PlannedRepair>,
    /// The tasks that no longer pass, with the tasks that have run since they passed.
    regressed: BTreeMap<TaskKey, Vec<TaskKey>>,
    /// The line that reported the last failure.
    last_cause: String,
    is_resumed: bool,
    /// A person has just answered, so the choice that follows is part of the answer.
    is_answered: bool,
    /// The tasks of which people know that nothing has ever helped against their failure.
    hopeless: BTreeSet<TaskKey>,
}

impl EventFormatter {
    /// Notes an event without formatting it.
    pub(crate) fn recall(&mut self, event: &Event) {
        self.totals.apply(event);
        if let Event::FixPlanned { fix, repair, .. } = event {
            let repair = repair.clone();
            self.repairs
                .extend(repair.map(|repair| (fix.clone(), repair)));
        }
        if let Event::FinalCheckEnded { regressed, .. } = event {
            let regressed = regressed.iter();
            let regressed = regressed.map(|one| (one.task.clone(), one.since.clone()));
            self.regressed = regressed.collect();
        }
    }

    /// Returns the lines that report an event.
    pub(crate) fn format(&mut self, now: Timestamp, event: &Event) -> Vec<StatusLine> {
        self.recall(event);
        self.note(now, event);
        let mut lines = match event {
            Event::AttemptEnded { task, report, .. } => attempt_end(task, report),
            Event::PlanReviewed { changes, .. } => plan_changes(changes),
            event => self.line(now, event).into_iter().collect(),
        };
        self.is_answered = matches!(event, Event::PersonAnswered { .. });
        if self.heading.is_none() {
            return lines;
        }
        let is_news = match event {
            Event::Warned { .. } | Event::Chosen { .. } => false,
            Event::TaskPicked { .. } => true,
            _ => !lines.is_empty(),
        };
        self.waiting.append(&mut lines);
        if is_news { self.flush() } else { Vec::new() }
    }

    /// Returns the lines that are still held back; nothing else follows.
    pub(crate) fn flush(&mut self) -> Vec<StatusLine> {
        let heading = self.heading.take().map(|status| self.heading(status));
        let waiting = std::mem::take(&mut self.waiting);
        heading.into_iter().chain(waiting).collect()
    }

    fn note(&mut self, now: Timestamp, event: &Event) {
        match event {
            Event::RunStarted { .. } => {
                self.heading = Some(Status::Start);
            }
            Event::RunResumed { .. } => {
                self.heading = Some(Status::Resume);
                self.is_resumed = true;
            }
            Event::TaskPicked { task } => {
                self.task_began.insert(task.task.clone(), now);
                self.fix_verify_failure = None;
            }
            Event::AttemptStarted { task, prompt, .. } if *prompt != PromptKind::Reminder => {
                self.task_began.insert(task.clone(), now);
            }
            Event::VerifyStarted { first, .. } => self.verify_is_first = *first,
            Event::VerifyEnded { task, verdict, .. } if self.totals.original_of(task).is_some() => {
                self.fix_verify_failure = match verdict {
                    Verdict::Red { error } => Some(verify_cause(error)),
                    Verdict::Green | Verdict::Unverified => None,
                };
            }
            Event::CommitRefused { .. } => self.commit_refused = true,
            _ => {}
        }
    }

    /// Says what earlier failures show, if anything helped or, once per task, if nothing ever did.
    fn recalled(&mut self, task: &TaskKey, known: &Experience) -> Option<StatusLine> {
        if let Some(warning) = known.warning() {
            let is_news = self.hopeless.insert(task.clone());
            return is_news.then(|| about(Status::Warn, task, &warning));
        }
        let line = about(Status::Fix, task, "a failure like this was healed before");
        let words = known.advice.first().map(Advice::words)?;
        Some(line.wrapped_detail(reason(&words)))
    }

    fn line(&mut self, now: Timestamp, event: &Event) -> Option<StatusLine> {
        match event {
            Event::AttemptStarted { task, prompt, .. } => attempt_start(task, *prompt),
            Event::VerifyEnded {
                task,
                verdict: Verdict::Red { error },
                ..
            } if self.verify_is_first => {
                Some(about(Status::Retry, task, "Verify still fails").detail(headline_of(error)))
            }
            Event::TaskFailed {
                task,
                attempt,
                failure,
                ..
            } => Some(self.failure(now, task, *attempt, failure)),
            Event::TaskDone { task, marks, hash } => {
                let marks: Vec<Mark> = marks.iter().copied().collect();
                Some(self.pass(now, task, &marks, hash.as_deref()))
            }
            Event::TestsReviewed { task, review, .. } => {
                let lines = review.lines();
                let (first, rest) = lines.split_first()?;
                let line = about(Status::Warn, task, first);
                Some(
                    rest.iter()
                        .fold(line, |line, more| line.wrapped_detail(more.clone())),
                )
            }
            Event::Chosen { choice } => self.choice(choice),
            Event::FixInserted { task, fix } => Some(self.fix(task, fix)),
            Event::OpinionGiven {
                task,
                diagnosis: Some(found),
                ..
            } => Some(
                about(Status::Fail, task, "the agent names the cause")
                    .wrapped_detail(reason(&found.message)),
            ),
            Event::Recalled {
                task,
                experience: Some(known),
            } => self.recalled(task, known),
            Event::TemplateApplied {
                task,
                template,
                owner,
                strategy,
                ..
            } => Some(about(
                Status::Fix,
                task,
                &reason(&strategy.applied_words(*owner, template)),
            )),
            Event::RepairInspected { task, inspection } => inspected(task, inspection),
            Event::RepairStarted { task, repair, .. } => self.repair_start(task, repair),
            Event::RepairEnded {
                task,
                result: RepairResult::Failed { why },
            } => Some(about(Status::Fail, task, "the repair failed").wrapped_detail(reason(why))),
            Event::PlanModified { task, added } => Some(about(
                Status::Plan,
                task,
                &format!("agent asked for {}", ids(added)),
            )),
            Event::ModificationRefused { task, why } => {
                Some(about(Status::Warn, task, "plan unchanged").wrapped_detail(reason(why)))
            }
            Event::FixesSuperseded { task, fixes, .. } => Some(StatusLine::new(
                Status::Skip,
                format!("{} superseded: {} passed", ids(fixes), task.id),
            )),
            // Someone at a terminal sees the whole question.
            Event::PersonAsked { .. } if self.totals.config.asks => None,
            Event::PersonAsked { task, why, .. } => {
                let line = StatusLine::new(Status::Ask, task_name(task));
                Some(line.wrapped_detail(reason(why)))
            }
            Event::PersonAnswered { task, answer } => Some(answered(task, answer)),
            Event::AnswersAwaited { tasks, until, .. } => Some(self.awaited(tasks, *until)),
            Event::TaskParked { task, .. } => Some(about(
                Status::Park,
                task,
                "waits for your decision; continuing with the other tasks",
            )),
            Event::TaskGone { task } => Some(
                StatusLine::new(Status::Skip, task_name(task))
                    .detail("removed or ticked by someone else"),
            ),
            Event::TaskSkipped { task } => Some(StatusLine::new(Status::Skip, task_name(task))),
            // Without recovery nothing is retried: the failure follows, and says why.
            Event::TaskReopened { task } => {
                let is_retried = self.totals.config.recovery;
                is_retried.then(|| self.reopened(task))
            }
            Event::WaitStarted {
                task,
                until,
                why,
                repeats,
                ..
            } => Some(self.wait(now, task, *until, why, *repeats)),
            Event::ServiceChanged { report } => Some(service(report)),
            // The failure that follows says the same.
            Event::Warned { message } if message == CONTRADICTION => None,
            Event::Warned { message } => Some(warning(message)),
            Event::StopAsked { signal } => Some(stop(*signal)),
            Event::RunEnded { outcome } => Some(self.end(outcome)),
            // Part of another line, or of no interest to people.
            Event::RunStarted { .. }
            | Event::RunResumed { .. }
            | Event::VerifyStarted { .. }
            | Event::VerifyEnded { .. }
            | Event::TestReviewStarted { .. }
            | Event::CommitRefused { .. }
            | Event::PlanAsked { .. }
            | Event::AnswerGiven { .. }
            | Event::RepeatPlanned { .. }
            | Event::OpinionAsked { .. }
            | Event::OpinionGiven {
                diagnosis: None, ..
            }
            | Event::RecallAsked { .. }
            | Event::Recalled {
                experience: None, ..
            }
            | Event::InspectionAsked { .. }
            | Event::RepairEnded { .. }
            | Event::BudgetAsked { .. }
            | Event::FixPostponed { .. }
            | Event::FixPlanned { .. }
            | Event::ModificationAsked { .. }
            | Event::SupersedeAsked { .. }
            | Event::HistoryAsked { .. }
            | Event::LimitSettled { .. }
            | Event::TaskPicked { .. }
            | Event::SessionSeen { .. }
            | Event::AttemptPostponed { .. }
            | Event::AttemptEnded { .. }
            | Event::PlanReviewed { .. }
            | Event::ClaimsAsked { .. }
            | Event::ClaimsJudged { .. }
            | Event::TickAsked { .. }
            | Event::CommitAsked { .. }
            | Event::Marked { .. }
            | Event::Committed { .. }
            | Event::RecordAsked { .. }
            | Event::FinalCheckStarted { .. }
            | Event::FinalCheckEnded { .. }
            | Event::ReopenAsked { .. }
            | Event::ClosingCommitAsked { .. }
            | Event::ClosingCommitted { .. }
            | Event::WaitEnded { .. } => None,
        }
    }

    fn heading(&self, status: Status) -> StatusLine {
        let config = &self.totals.config;
        let mut parts = vec![one_line(&config.spec, NAME_CHARS)];
        let picked = self.totals.picked.as_ref();
        parts.extend(picked.map(|picked| match picked.total {
            1 => "1 task".to_owned(),
            total => format!("{total} tasks"),
        }));
        if let Some(only) = &config.only {
            parts.push(format!("only {only}"));
        }
        parts.push(one_line(&config.agent.to_string(), NAME_CHARS));
        if config.recovery {
            parts.push("recovery on".to_owned());
        }
        if let Some(folder) = &config.folder {
            parts.push(format!("in {}", one_line(folder, NAME_CHARS)));
        }
        parts.retain(|part| !part.is_empty());
        StatusLine::new(status, parts.join(" · "))
    }

    fn failure(
        &mut self,
        now: Timestamp,
        task: &TaskKey,
        attempt: u32,
        failure: &FailureRecord,
    ) -> StatusLine {
        let is_refused = std::mem::take(&mut self.commit_refused);
        let ran_since = self.ran_since_it_passed(task);
        let attempt = match self.totals.used_by(task) {
            // The final check found the failure, not an attempt.
            _ if ran_since.is_some() => "no longer passes".to_owned(),
            // A group has no attempts of its own.
            0 => String::new(),
            used => attempt_words(attempt, used, self.totals.limit_of_task()),
        };
        let kind = match is_refused {
            true => Some("a commit hook refused the commit".to_owned()),
            false => kind_and_place(failure),
        };
        self.last_cause = headline(failure);
        StatusLine::new(Status::Fail, task_name(task))
            .timed(self.elapsed(now, task))
            .trailing(attempt)
            .detail(kind.unwrap_or_default())
            .detail(self.last_cause.clone())
            .detail(ran_since.unwrap_or_default())
    }

    /// Returns the tasks that have run since a task passed, if the final check failed it: without
    /// recovery, no attempt follows the final check.
    fn ran_since_it_passed(&self, task: &TaskKey) -> Option<String> {
        let since = self.regressed.get(task);
        let since = since.filter(|_| !self.totals.config.recovery)?;
        Some(match since.is_empty() {
            true => String::new(),
            false => format!("ran since it passed: {}", ids(since)),
        })
    }

    fn pass(
        &mut self,
        now: Timestamp,
        task: &TaskKey,
        marks: &[Mark],
        hash: Option<&str>,
    ) -> StatusLine {
        self.commit_refused = false;
        let mut notes: Vec<String> = marks.iter().map(ToString::to_string).collect();
        notes.extend(hash.map(|hash| one_line(hash, HASH_CHARS)));
        let mut line = StatusLine::new(Status::Pass, task_name(task))
            .timed(self.elapsed(now, task))
            .trailing(notes.join(" · "));
        if !marks.is_empty() {
            line = line.toned(Tone::Warning);
        }
        let picked = self.totals.picked.as_ref();
        let picked = picked.filter(|picked| picked.task == *task);
        for judged in picked.map(PickedTask::judged_by).unwrap_or_default() {
            line = line.detail(format!(
                "Verify judged by: {}",
                one_line(&judged, NAME_CHARS)
            ));
        }
        match (
            self.fix_verify_failure.take(),
            self.totals.original_of(task),
        ) {
            (Some(cause), Some(original)) => line
                .detail(format!(
                    "Verify failed; {} decides whether the fix worked",
                    original.id
                ))
                .detail(cause),
            _ => line,
        }
    }

    /// Choices from before a run are already in the plan, except for skipped tasks.
    fn choice(&self, choice: &PersonChoice) -> Option<StatusLine> {
        let is_news = self.is_resumed || self.heading.is_none() || choice.what == ChoiceKind::Skip;
        let status = match choice.what {
            ChoiceKind::Skip => Status::Skip,
            ChoiceKind::Done => Status::Done,
            ChoiceKind::Retry => Status::Retry,
        };
        let line = StatusLine::new(status, task_name(&choice.task)).trailing("your choice");
        (is_news && !self.is_answered).then_some(line)
    }

    /// Says that only people can go on, and how.
    fn awaited(&self, tasks: &[TaskKey], until: Option<Timestamp>) -> StatusLine {
        let named: Vec<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
        let limit = until.map_or(String::new(), |until| {
            format!(" until {}", until.utc_time())
        });
        let line = StatusLine::new(
            Status::Wait,
            format!("for your answers{limit}: {}", named.join(", ")),
        );
        line.wrapped_detail(
            "`regreen answer ID CHOICE` answers, in any terminal; `regreen questions` lists them",
        )
    }

    fn fix(&self, task: &TaskKey, fix: &TaskId) -> StatusLine {
        let repair = self.repairs.get(fix);
        let repair = repair.map(|repair| format!(": {}", reason(&repair.does)));
        let repair = repair.unwrap_or_default();
        StatusLine::new(Status::Fix, format!("{fix} added for {}{repair}", task.id))
    }

    fn reopened(&self, task: &TaskKey) -> StatusLine {
        let line = about(Status::Retry, task, "no longer passes; open again");
        match self.regressed.get(task) {
            Some(since) if !since.is_empty() => {
                line.detail(format!("ran since it passed: {}", ids(since)))
            }
            _ => line,
        }
    }

    /// A repair is announced with its fix task, unless another process did that.
    fn repair_start(&mut self, task: &TaskKey, repair: &PlannedRepair) -> Option<StatusLine> {
        let is_known = self.repairs.contains_key(&task.id) && !self.is_resumed;
        (!is_known).then(|| about(Status::Fix, task, &reason(&repair.does)))
    }

    fn wait(
        &self,
        now: Timestamp,
        task: &TaskKey,
        until: Timestamp,
        why: &str,
        repeats: bool,
    ) -> StatusLine {
        let length = Span::left(until.since(now));
        let why = reason(why);
        if repeats {
            let text = format!("possibly transient; retrying in {length}");
            let line = about(Status::Retry, task, &text);
            // The failure has just been shown.
            return if why == self.last_cause {
                line
            } else {
                line.detail(why)
            };
        }
        let date = match until.utc_date() {
            date if date == now.utc_date() => String::new(),
            date => format!("{date} "),
        };
        let time = until.utc_time();
        about(
            Status::Wait,
            task,
            &format!("until {date}{time} UTC ({length})"),
        )
        .detail(why)
    }

    fn end(&self, outcome: &RunOutcome) -> StatusLine {
        let (done_tone, done) = self.totals.verified_share().outcome();
        let (tone, text) = match outcome {
            RunOutcome::AllGreen => (done_tone, done.as_str()),
            RunOutcome::OnlyDone => (Tone::Good, "the requested task is done"),
            RunOutcome::Skipped => (Tone::Warning, "open tasks were skipped"),
            RunOutcome::Limit { .. } => (Tone::Bad, "limit reached"),
            RunOutcome::Regressed { .. } => (Tone::Bad, "finished tasks no longer pass"),
            RunOutcome::NeedsPerson { .. } => (Tone::Question, "needs your decision"),
            RunOutcome::TryLater { .. } => (Tone::Warning, "try again later"),
            RunOutcome::SetUp { .. } => (Tone::Bad, "setup must be fixed"),
            RunOutcome::Stopped { .. } => (Tone::Warning, "stopped; progress is saved"),
        };
        let run = one_line(&self.totals.run, NAME_CHARS);
        let code = match outcome.exit_code() {
            0 => String::new(),
            code => format!(" · exit code {code}"),
        };
        StatusLine::new(Status::End, format!("{text}{code}"))
            .toned(tone)
            .trailing(run)
    }

    fn elapsed(&self, now: Timestamp, task: &TaskKey) -> Option<u64> {
        self.task_began.get(task).map(|began| now.since(*began))
    }
}

/// Returns why a Verify failed, without repeating that it did.
fn verify_cause(error: &str) -> String {
    let cause = headline_of(error);
    cause
        .strip_prefix("Verify failed: ")
        .map_or(cause.clone(), str::to_owned)
}

/// Returns a line about a task without its title: `1.2 the repair failed`.
fn about(status: Status, task: &TaskKey, text: &str) -> StatusLine {
    StatusLine::new(status, format!("{} {text}", task.id))
}

/// Reports a service that is ready, is not ready, has died, or was ended.
fn service(report: &ServiceReport) -> StatusLine {
    let command = one_line(&report.command, NAME_CHARS);
    let of = format!("of {}", report.task.id);
    let trouble = |what: &str, why: &str| {
        let why = one_line(why, ERROR_CHARS);
        StatusLine::new(
            Status::Warn,
            format!("service {command} {of} {what}: {why}"),
        )
        .wrapped()
        .wrapped_detail(format!("log: {}", one_line(&report.log, NAME_CHARS)))
    };
    match &report.change {
        ServiceChange::Started { again, took_ms } => {
            let again = if *again { "restarted" } else { "ready" };
            StatusLine::new(Status::Service, format!("{command} · {again} · {of}"))
                .timed(Some(*took_ms))
        }
        ServiceChange::NotReady { why } => trouble("is not ready", why),
        ServiceChange::Died { why } => trouble("died", why),
        ServiceChange::Ended => {
            StatusLine::new(Status::Service, format!("{command} · ended · {of}"))
        }
    }
}

pub(crate) fn warning(message: &str) -> StatusLine {
    StatusLine::new(Status::Warn, reason(message)).wrapped()
}

/// Reports an attempt only if it differs from the one before.
fn attempt_start(task: &TaskKey, prompt: PromptKind) -> Option<StatusLine> {
    let why = match prompt {
        PromptKind::First
        | PromptKind::Retry
        // Reported when the last attempt ended.
        | PromptKind::Interrupted
        | PromptKind::NewSession => return None,
        PromptKind::Reminder => "no completion signal; reminding the agent",
        PromptKind::NoOp => "the last attempt changed nothing",
        PromptKind::Enriched => "with the context that the last attempt was missing",
        PromptKind::Split => "no progress before the time limit; asking the agent to split it",
    };
    Some(about(Status::Retry, task, why))
}

/// Reports how an attempt ended, if no later event does, and its changes to the plan.
fn attempt_end(task: &TaskKey, report: &AttemptReport) -> Vec<StatusLine> {
    let ended = match &report.class {
        AttemptClass::Session { why } => {
            Some(about(Status::Retry, task, "in a new session").detail(reason(why)))
        }
        // Without an error, the attempt was interrupted by a stop that has been reported.
        AttemptClass::Interrupted if !report.failure.error.trim().is_empty() => Some(
            about(Status::Retry, task, "the attempt was interrupted")
                .detail(reason(&report.failure.error)),
        ),
        AttemptClass::Interrupted
        | AttemptClass::Ordinary
        | AttemptClass::Transient { .. }
        | AttemptClass::Fatal { .. } => None,
    };
    ended
        .into_iter()
        .chain(plan_changes(&report.plan))
        .collect()
}

/// Reports the changes to the plan that stay. The others get a warning.
fn plan_changes(plan: &PlanChanges) -> Vec<StatusLine> {
    let changes = [("added", &plan.added), ("changed", &plan.edited)];
    let changes = changes.into_iter().flat_map(|(what, rows)| {
        rows.iter().map(move |row| {
            StatusLine::new(Status::Plan, format!("agent {what} {}", task_name(row)))
        })
    });
    changes.collect()
}

fn inspected(task: &TaskKey, inspection: &Inspection) -> Option<StatusLine> {
    match inspection {
        Inspection::Allowed(_) | Inspection::Nothing => None,
        Inspection::Ask { repair, why } => {
            let text = format!("possible repair: {}", reason(&repair.does));
            Some(about(Status::Fix, task, &text).wrapped_detail(reason(why)))
        }
        Inspection::Refused { why } => Some(
            about(Status::Fix, task, "cannot be repaired automatically")
                .wrapped_detail(reason(why)),
        ),
    }
}

fn answered(task: &TaskKey, answer: &PersonAnswer) -> StatusLine {
    let (status, text) = match answer {
        PersonAnswer::Edit => (Status::Retry, "edited; starting over"),
        PersonAnswer::Context { text } => {
            return about(Status::Retry, task, "with your context").wrapped_detail(reason(text));
        }
        PersonAnswer::Repair => (Status::Fix, "repair approved"),
        PersonAnswer::Fix => (Status::Fix, "fix task requested"),
        PersonAnswer::Skip => (Status::Skip, "skipped by you"),
        PersonAnswer::Stop => (Status::Stop, "not decided yet"),
    };
    about(status, task, text)
}

fn stop(signal: StopSignal) -> StatusLine {
    let text = match signal {
        StopSignal::Interrupt => "stopping; press Ctrl-C again to kill",
        StopSignal::Terminate => "stopping on request",
        StopSignal::AfterTask => "stopping after this task, on request",
    };
    StatusLine::new(Status::Stop, text)
}

fn ids(tasks: &[TaskKey]) -> String {
    let ids: Vec<String> = tasks.iter().map(|task| task.id.to_string()).collect();
    ids.join(", ")
}
