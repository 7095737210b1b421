use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use regreen_model::{
    AttemptClass, AttemptReport, Event, Experience, Failure, FailureRecord, Inspection,
    PersonAnswer, PlanChanges, PromptKind, Regression, RepairResult, RunOutcome, ServiceChange,
    ServiceReport, TaskFailure, TaskKey, Timestamp, Verdict,
};
use regreen_overview::task_of;
use regreen_reporters::{Status, kind_and_place};
use regreen_runtime::SpecPaths;
use regreen_store::{AttemptKey, Run, StepNo};
use regreen_workspace::open_file;

use super::changes::Changes;
use super::page::Page;
use super::{name, tell_choice};
use crate::arguments::Why;
use crate::history::RecordedEvent;
use crate::plan::{Plan, SelectedTask};
use crate::spec_context::SpecContext;

/// How much of a log is read for its last lines.
const END_OF_LOG: u64 = 8 * 1024;

/// What happened to one task in one run.
pub(super) struct RunStory<'a> {
    places: &'a SpecPaths,
    plan: &'a Plan,
    selected: &'a SelectedTask,
    run: &'a Run,
    asked: &'a Why,
    changes: Changes,
    /// This is the last run that attempted the task, so commands need not name it.
    pub(super) is_newest: bool,
    /// The current Verify is the second one.
    again: bool,
    /// Why the last Verify failed, because a failure with the same message adds nothing.
    red: Option<String>,
    /// The last line is about an attempt, or about a Verify that may finish the task.
    is_attempted: bool,
    /// How its Verify is judged, if not by exit code 0 alone.
    judged_by: Vec<String>,
}

impl<'a> RunStory<'a> {
    pub(super) fn new(
        context: &'a SpecContext,
        plan: &'a Plan,
        selected: &'a SelectedTask,
        run: &'a Run,
        asked: &'a Why,
    ) -> Self {
        Self {
            places: &context.places,
            plan,
            selected,
            run,
            asked,
            changes: Changes::new(&context.places.root, asked.diff),
            is_newest: false,
            again: false,
            red: None,
            is_attempted: false,
            judged_by: Vec::new(),
        }
    }

    pub(super) fn tell(&mut self, events: &[RecordedEvent], page: &mut Page) {
        let mut is_last = false;
        let mut step = StepNo::NONE;
        for RecordedEvent {
            step: next,
            at,
            event,
        } in events
        {
            // What is left out doesn't name the task: the run has turned to others.
            is_last &= next.0 <= step.0 + 1;
            step = *next;
            match event {
                Event::TaskPicked { task } => {
                    is_last = self.is_it(&task.task);
                    if is_last {
                        self.judged_by = task.judged_by();
                    }
                }
                Event::RunEnded { outcome } if is_last => {
                    page.entry(Status::End, &end_reason(outcome));
                }
                Event::RunResumed { .. } if is_last => page.entry(Status::Resume, ""),
                event if concerns(self.plan, self.selected, event) => {
                    is_last &= !matches!(event, Event::TaskDone { .. });
                    self.tell_event(*at, event, page);
                }
                _ => {}
            }
        }
    }

    fn is_it(&self, key: &TaskKey) -> bool {
        self.plan.is(self.selected, key)
    }

    fn tell_event(&mut self, at: Timestamp, event: &Event, page: &mut Page) {
        match event {
            Event::Chosen { choice } => tell_choice(choice.what, page),
            Event::AttemptStarted {
                attempt, prompt, ..
            } => {
                page.entry(Status::Run, &format!("attempt {attempt} · {}", moment(at)));
                if let Some(reason) = prompt_reason(*prompt) {
                    page.detail(reason);
                }
            }
            Event::AttemptEnded {
                task,
                attempt,
                report,
                ..
            } if self.is_it(task) => self.tell_attempt(task, *attempt, report, page),
            Event::AttemptEnded {
                task,
                attempt,
                report,
                ..
            } => {
                let when = format!("in attempt {attempt} of {}", task.id);
                self.tell_mention(&when, &report.plan, page);
            }
            Event::PlanReviewed { task, changes } => {
                let of = task.as_ref().map(|task| format!(" of {}", task.id));
                let when = format!("during checks{}", of.unwrap_or_default());
                self.tell_mention(&when, changes, page);
            }
            Event::ServiceChanged { report } => tell_service(report, page),
            Event::ClaimsJudged {
                task,
                kept,
                taken_back,
            } => self.tell_claims(task, kept, taken_back, page),
            Event::VerifyStarted { again, first, .. } => {
                self.again = *again;
                if *first {
                    self.is_attempted = true;
                    page.entry(Status::Run, "Verify before the next attempt");
                }
            }
            Event::VerifyEnded { verdict, .. } => self.tell_verdict(verdict, page),
            Event::TestsReviewed { review, .. } => {
                for line in review.lines() {
                    page.detail(&line);
                }
            }
            Event::TaskFailed { failure, .. } => self.tell_failure(failure, page),
            Event::FixInserted { fix, .. } => {
                let why = self.in_spec(format!("regreen why {fix}"));
                page.entry(Status::Fix, &format!("{fix} added: `{why}`"));
            }
            Event::OpinionGiven {
                diagnosis: Some(found),
                ..
            } => page.detail(&format!("the agent names the cause: {}", found.message)),
            Event::Recalled {
                experience: Some(known),
                ..
            } => tell_experience(known, page),
            Event::TemplateApplied {
                template,
                owner,
                strategy,
                ..
            } => page.detail(&strategy.applied_words(*owner, template)),
            Event::RepairInspected { inspection, .. } => tell_inspection(inspection, page),
            Event::RepairStarted {
                attempt, repair, ..
            } => {
                page.entry(Status::Fix, &repair.does);
                page.detail(&format!("log: {}", self.way("log", *attempt)));
            }
            Event::RepairEnded { result, .. } => match result {
                RepairResult::Done { did, .. } => page.detail(did),
                RepairResult::Failed { why } => {
                    page.becomes(Status::Fail);
                    page.detail(why);
                }
            },
            Event::PlanModified { task, .. } if !self.is_it(task) => {
                page.entry(
                    Status::Plan,
                    &format!("requested by the agent in task {}", task.id),
                );
            }
            Event::PlanModified { added, .. } => {
                let added: Vec<String> = added.iter().map(name).collect();
                let added = added.join("; ");
                page.entry(Status::Plan, &format!("agent asked for {added}"));
            }
            Event::ModificationRefused { why, .. } => {
                page.entry(Status::Warn, "plan unchanged");
                page.detail(why);
            }
            Event::FixesSuperseded { task, .. } if !self.is_it(task) => {
                page.entry(Status::Skip, &format!("superseded: {} passed", task.id));
            }
            Event::PersonAsked { why, .. } => page.entry(Status::Ask, why),
            Event::PersonAnswered { answer, .. } => tell_answer(answer, page),
            Event::AnswerGiven { .. } => {
                page.entry(Status::Ask, "someone answered at another terminal");
            }
            Event::TaskParked { .. } => {
                page.entry(Status::Park, "the run continued with the other tasks");
            }
            Event::CommitRefused { output, .. } => {
                page.detail("a commit hook refused the commit");
                page.quote(output);
            }
            Event::Committed {
                hash: Some(hash), ..
            } => page.trailing(hash),
            Event::TaskDone { marks, .. } => {
                if self.is_attempted {
                    page.becomes(Status::Pass);
                } else {
                    page.entry(Status::Pass, "");
                }
                self.is_attempted = false;
                for mark in marks {
                    page.trailing(&mark.to_string());
                }
            }
            Event::TaskSkipped { .. } => page.entry(Status::Skip, ""),
            Event::FinalCheckEnded { regressed, .. } => {
                let own = regressed.iter().filter(|one| self.is_it(&one.task));
                own.for_each(|regression| tell_regression(regression, page));
            }
            Event::TaskGone { .. } => {
                page.entry(Status::Skip, "removed or ticked by someone else");
            }
            Event::WaitStarted { why, until, .. } => {
                page.entry(Status::Wait, &format!("until {}", moment(*until)));
                page.detail(why);
            }
            _ => {}
        }
    }

    fn tell_attempt(
        &mut self,
        task: &TaskKey,
        number: u32,
        report: &AttemptReport,
        page: &mut Page,
    ) {
        self.red = None;
        self.is_attempted = true;
        page.took(report.ending.duration_ms);
        page.detail(&ending(report));
        let has_passed = report.signalled && !report.reports_failure;
        if !has_passed || report.contradiction.is_some() {
            let log = self.places.log(self.run.id.as_str(), task, number);
            self.quote_log(&log, page);
        }
        if let Some(words) = &report.contradiction {
            page.detail(&format!("its message contradicts that: {words}"));
        }
        for process in &report.left_running {
            page.detail(&format!("left running, and ended by regreen: {process}"));
        }
        Self::tell_plan(&report.plan, page);
        let attempt = AttemptKey {
            run: self.run.id.clone(),
            task: task.clone(),
            number,
        };
        let way = self.way("diff", number);
        let is_seen = report.class != AttemptClass::Interrupted || report.files_changed > 0;
        let counted = is_seen.then_some(report.files_changed);
        self.changes.tell(page, &attempt, counted, &way);
        page.detail(&format!("log: {}", self.way("log", number)));
    }

    /// Quotes the end of a log.
    fn quote_log(&self, log: &Path, page: &mut Page) {
        match end_of_file(log) {
            Ok(end) if end.trim().is_empty() => page.detail("printed nothing"),
            Ok(end) => page.quote(&end),
            Err(_) => page.detail("its log is missing"),
        }
    }

    /// Returns the command that shows more of an attempt.
    fn way(&self, command: &str, number: u32) -> String {
        let mut way = format!("regreen {command} {} {number}", self.asked.which.task);
        if !self.is_newest {
            way.push_str(&format!(" --run {}", self.run.id));
        }
        if let Some(line) = self.asked.which.line {
            way.push_str(&format!(" --line {line}"));
        }
        self.in_spec(way)
    }

    /// Adds the spec to a command, if the user named one.
    fn in_spec(&self, command: String) -> String {
        match &self.asked.which.spec {
            Some(spec) => format!("{command} --spec {spec}"),
            None => command,
        }
    }

    fn tell_plan(plan: &PlanChanges, page: &mut Page) {
        for warning in &plan.warnings {
            page.detail(&format!("plan: {warning}"));
        }
        for claim in &plan.claims {
            let task = name(&claim.task);
            page.detail(&format!("plan: agent ticked {task}"));
        }
        for row in &plan.added {
            page.detail(&format!("plan: agent added {}", name(row)));
        }
        for row in &plan.edited {
            page.detail(&format!("plan: agent changed {}", name(row)));
        }
    }

    /// Shows what the agent did to this task while it worked on another.
    fn tell_mention(&self, when: &str, plan: &PlanChanges, page: &mut Page) {
        let claims = plan.claims.iter().map(|claim| &claim.task);
        let is_named =
            |mut keys: Box<dyn Iterator<Item = &TaskKey> + '_>| keys.any(|key| self.is_it(key));
        let findings = [
            (is_named(Box::new(claims)), "ticked by the agent"),
            (is_named(Box::new(plan.added.iter())), "added by the agent"),
            (
                is_named(Box::new(plan.edited.iter())),
                "changed by the agent",
            ),
            (
                is_named(Box::new(plan.put_back.iter())),
                "removed by the agent and put back",
            ),
            (
                is_named(Box::new(plan.reverted.iter())),
                "changed by the agent, and the change reverted,",
            ),
            (
                is_named(Box::new(plan.skipped.iter())),
                "removed again by the agent, so skipped,",
            ),
        ];
        for (_, finding) in findings.iter().filter(|(is_so, _)| *is_so) {
            let text = format!("{finding} {when}");
            page.entry(Status::Plan, &text);
        }
    }

    fn tell_claims(&self, task: &TaskKey, kept: &[TaskKey], back: &[TaskKey], page: &mut Page) {
        let is_own = self.is_it(task);
        for (keys, fate) in [
            (kept, "verified, stays ticked"),
            (back, "not verified, open again"),
        ] {
            for key in keys.iter().filter(|key| is_own || self.is_it(key)) {
                match is_own {
                    true => page.detail(&format!("plan: {} {fate}", key.id)),
                    false => page.detail(fate),
                }
            }
        }
    }

    fn tell_verdict(&mut self, verdict: &Verdict, page: &mut Page) {
        if *verdict == Verdict::Green {
            page.detail(if self.again {
                "Verify passed the second time: flaky"
            } else {
                "Verify passed"
            });
            for judged in &self.judged_by {
                page.detail(&format!("judged by: {judged}"));
            }
        }
        match verdict {
            Verdict::Green => {}
            Verdict::Unverified => page.detail("no Verify to run"),
            Verdict::Red { error } if self.red.as_ref() == Some(error) => {
                page.detail("Verify failed again");
            }
            Verdict::Red { error } => {
                let (what, printed) = error.split_once('\n').unwrap_or((error, ""));
                let what = what.strip_prefix("Verify failed: ").unwrap_or(what);
                let again = if self.again { " again" } else { "" };
                page.detail(&format!("Verify failed{again}: {what}"));
                page.quote(printed);
                if self.plan.is_fix(&self.selected.key) {
                    page.detail("the task that it fixes decides whether it worked");
                }
                self.red = Some(error.clone());
            }
        }
    }

    fn tell_failure(&mut self, failure: &FailureRecord, page: &mut Page) {
        page.becomes(Status::Fail);
        self.is_attempted = false;
        if self.red.as_ref() != Some(&failure.error) {
            let error = failure.error.as_str();
            let (what, more) = error.split_once('\n').unwrap_or((error, ""));
            page.detail(what);
            page.quote(more);
        }
        if let Some(kind) = kind_and_place(failure) {
            page.detail(&kind);
        }
        for action in failure
            .confident_diagnosis()
            .map(Failure::advice)
            .unwrap_or_default()
        {
            page.detail(&format!("may help: {action}"));
        }
        let fix = failure.attempted_fix.as_str();
        if !matches!(fix, "" | TaskFailure::NO_ATTEMPTED_FIX) {
            page.detail(&format!("attempted fix: {fix}"));
        }
    }
}

fn tell_experience(known: &Experience, page: &mut Page) {
    if let Some(warning) = known.warning() {
        page.detail(&warning);
    }
    for advice in &known.advice {
        page.detail(&format!("known from before: {}", advice.words()));
        for note in &advice.notes {
            page.detail(&format!("said then: {note}"));
        }
    }
    for useless in &known.useless {
        page.detail(&format!("never helped before: {useless}"));
    }
}

fn tell_inspection(inspection: &Inspection, page: &mut Page) {
    match inspection {
        Inspection::Allowed(_) | Inspection::Nothing => {}
        Inspection::Ask { repair, why } => {
            page.entry(Status::Fix, &format!("possible repair: {}", repair.does));
            page.detail(why);
        }
        Inspection::Refused { why } => {
            page.entry(Status::Fix, "cannot be repaired automatically");
            page.detail(why);
        }
    }
}

fn tell_regression(regression: &Regression, page: &mut Page) {
    page.entry(Status::Retry, "no longer passed at the end of the run");
    page.detail(&format!("check: {}", regression.check));
    if !regression.since.is_empty() {
        let since: Vec<String> = regression.since.iter().map(name).collect();
        page.detail(&format!("ran since it passed: {}", since.join("; ")));
    }
}

/// The effect of an answer is shown with the choice.
fn tell_answer(answer: &PersonAnswer, page: &mut Page) {
    match answer {
        PersonAnswer::Edit => page.entry(Status::Retry, "edited by you"),
        PersonAnswer::Context { text } => {
            page.entry(Status::Retry, "with your context");
            page.quote(text);
        }
        PersonAnswer::Repair => page.entry(Status::Fix, "repair approved by you"),
        PersonAnswer::Fix => page.entry(Status::Fix, "fix task requested by you"),
        PersonAnswer::Skip => {}
        PersonAnswer::Stop => page.entry(Status::Stop, "not decided yet"),
    }
}

fn tell_service(report: &ServiceReport, page: &mut Page) {
    let command = &report.command;
    match &report.change {
        ServiceChange::Started { again: false, .. } => {
            page.entry(Status::Service, &format!("{command} · ready"));
        }
        ServiceChange::Started { again: true, .. } => {
            page.entry(Status::Service, &format!("{command} · restarted"));
        }
        ServiceChange::NotReady { why } => {
            page.entry(
                Status::Warn,
                &format!("service {command} is not ready: {why}"),
            );
        }
        ServiceChange::Died { why } => {
            page.entry(Status::Warn, &format!("service {command} died: {why}"));
        }
        ServiceChange::Ended => page.entry(Status::Service, &format!("{command} · ended")),
    }
    page.detail(&format!("log: {}", report.log));
}

/// Whether an event is part of a task's history.
pub(super) fn concerns(plan: &Plan, selected: &SelectedTask, event: &Event) -> bool {
    let is_it = |key: &TaskKey| plan.is(selected, key);
    let is_named = match event {
        Event::AttemptEnded { report, .. } => named_in(&report.plan).any(is_it),
        Event::PlanReviewed { changes, .. } => named_in(changes).any(is_it),
        Event::ClaimsJudged {
            kept, taken_back, ..
        } => kept.iter().chain(taken_back).any(is_it),
        Event::PlanModified { added: named, .. } | Event::FixesSuperseded { fixes: named, .. } => {
            named.iter().any(is_it)
        }
        Event::FinalCheckEnded { regressed, .. } => {
            regressed.iter().map(|one| &one.task).any(is_it)
        }
        _ => false,
    };
    is_named || task_of(event).is_some_and(is_it)
}

fn named_in(plan: &PlanChanges) -> impl Iterator<Item = &TaskKey> {
    let claims = plan.claims.iter().map(|claim| &claim.task);
    let (changed, removed) = (plan.edited.iter(), plan.put_back.iter());
    let changed = changed.chain(&plan.added).chain(&plan.reverted);
    claims.chain(changed).chain(removed).chain(&plan.skipped)
}

fn ending(report: &AttemptReport) -> String {
    let ending = &report.ending;
    let how = match (ending.timed_out, ending.exit_code, ending.signal) {
        (true, ..) => "time limit reached".to_owned(),
        (_, Some(code), _) => format!("exit code {code}"),
        (_, _, Some(signal)) => format!("signal {signal}"),
        (false, None, None) => {
            return "interrupted: regreen or the machine stopped".to_owned();
        }
    };
    let said = match (&report.class, report.signalled, report.reports_failure) {
        (AttemptClass::Ordinary, _, true) => "reported failure".to_owned(),
        (AttemptClass::Ordinary, true, _) => "signalled completion".to_owned(),
        (AttemptClass::Ordinary, false, _) => "no completion signal".to_owned(),
        (AttemptClass::Interrupted, ..) => "interrupted".to_owned(),
        (AttemptClass::Transient { why, .. }, ..) => format!("its service is unavailable: {why}"),
        (AttemptClass::Fatal { why }, ..) => format!("it would fail again: {why}"),
        (AttemptClass::Session { why }, ..) => format!("its session cannot be continued: {why}"),
    };
    format!("{how}, {said}")
}

/// Returns what the prompt of an attempt adds to a first prompt.
fn prompt_reason(prompt: PromptKind) -> Option<&'static str> {
    Some(match prompt {
        PromptKind::First => return None,
        PromptKind::Retry => "prompted with the last failure",
        PromptKind::Reminder => "reminded of the completion signal",
        PromptKind::NoOp => "prompted that the last attempt changed nothing",
        PromptKind::Interrupted => "prompted that the last attempt was interrupted",
        PromptKind::NewSession => "in a new session",
        PromptKind::Enriched => "prompted with missing context",
        PromptKind::Split => "asked to split the task",
    })
}

fn end_reason(outcome: &RunOutcome) -> String {
    let words = match outcome {
        RunOutcome::AllGreen => "all tasks done",
        RunOutcome::OnlyDone => "the requested task is done",
        RunOutcome::Skipped => "open tasks were skipped",
        RunOutcome::Limit { message } | RunOutcome::Regressed { message } => message,
        RunOutcome::NeedsPerson { why }
        | RunOutcome::TryLater { why }
        | RunOutcome::SetUp { why } => why,
        RunOutcome::Stopped { .. } => "stopped",
    };
    words.to_owned()
}

fn moment(at: Timestamp) -> String {
    format!("{} {} UTC", at.utc_date(), at.utc_time())
}

fn end_of_file(path: &Path) -> io::Result<String> {
    let mut file = open_file(path)?;
    let start = file.metadata()?.len().saturating_sub(END_OF_LOG);
    file.seek(SeekFrom::Start(start))?;
    let mut end = Vec::new();
    file.take(END_OF_LOG).read_to_end(&mut end)?;
    Ok(String::from_utf8_lossy(&end).into_owned())
}
