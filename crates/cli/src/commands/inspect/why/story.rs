use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use regreen_model::{
    AttemptClass, AttemptReport, Event, Failure, FailureRecord, Inspection, PersonAnswer,
    PlanChanges, PromptKind, RepairResult, RunOutcome, Span, TaskFailure, TaskKey, Timestamp,
    Verdict,
};
use regreen_runtime::SpecPaths;
use regreen_store::{AttemptKey, Run};

use super::changes::Changes;
use super::page::Page;
use super::{Events, name, said};
use crate::arguments::Why;
use crate::plan::{Plan, SelectedTask};
use crate::spec_context::SpecContext;

/// So much of a log is looked at for its last lines.
const END_OF_LOG: u64 = 8 * 1024;

/// What happened to one task in one run.
pub(super) struct RunStory<'a> {
    places: &'a SpecPaths,
    plan: &'a Plan,
    selected: &'a SelectedTask,
    run: &'a Run,
    asked: &'a Why,
    changes: Changes,
    /// It is the last run that tried the task, so that nobody needs to name it.
    pub(super) is_newest: bool,
    /// The Verify that runs is the second look.
    again: bool,
    /// Why the last Verify was red: a failure that says the same adds nothing.
    red: Option<String>,
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
        }
    }

    pub(super) fn tell(&mut self, events: &Events, page: &mut Page) {
        page.line(0, "");
        page.line(0, &format!("run {}{}", self.run.id, agent(events)));
        let mut is_last = false;
        for (at, event) in events {
            match event {
                Event::TaskPicked { task } => is_last = self.is_it(&task.task),
                Event::RunEnded { outcome } if is_last => {
                    page.line(1, &format!("the run ended: {}", fate(outcome)));
                }
                Event::RunResumed { .. } if is_last => page.line(1, "the run goes on"),
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
            Event::Chosen { choice } => page.line(1, said(choice.what)),
            Event::AttemptStarted {
                attempt, prompt, ..
            } => {
                page.line(0, "");
                let (told, log) = (told(*prompt), self.way("log", *attempt));
                let at = moment(at);
                page.line(1, &format!("attempt {attempt}{told}, {at}: `{log}`"));
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
            } => self.tell_mention(task, *attempt, &report.plan, page),
            Event::ClaimsJudged {
                task,
                kept,
                taken_back,
            } => self.tell_claims(task, kept, taken_back, page),
            Event::VerifyStarted { again, first, .. } => {
                self.again = *again;
                if *first {
                    page.line(0, "");
                    page.line(1, "fixed perhaps, so Verify runs before the agent");
                }
            }
            Event::VerifyEnded { verdict, .. } => self.tell_verdict(verdict, page),
            Event::TaskFailed { failure, .. } => self.tell_failure(failure, page),
            Event::FixInserted { fix, .. } => {
                page.line(
                    2,
                    &format!("fix {fix} was made for it: `regreen why {fix}`"),
                );
            }
            Event::RepairInspected { inspection, .. } => tell_inspection(inspection, page),
            Event::RepairStarted {
                attempt, repair, ..
            } => {
                page.line(0, "");
                let (does, log) = (&repair.does, self.way("log", *attempt));
                page.line(1, &format!("regreen repairs it itself: {does}: `{log}`"));
            }
            Event::RepairEnded { result, .. } => match result {
                RepairResult::Done { did, .. } => page.line(2, &format!("done: {did}")),
                RepairResult::Failed { why } => page.line(2, &format!("that failed: {why}")),
            },
            Event::PlanModified { task, .. } if !self.is_it(task) => {
                page.line(1, &format!("the agent asked for it in task {}", task.id));
            }
            Event::PlanModified { added, .. } => {
                let added: Vec<String> = added.iter().map(name).collect();
                let added = added.join("; ");
                page.line(2, &format!("plan: added at the agent's request: {added}"));
            }
            Event::ModificationRefused { why, .. } => {
                page.line(
                    2,
                    &format!("plan: the agent's request is not honoured: {why}"),
                );
            }
            Event::FixesSuperseded { task, .. } if !self.is_it(task) => {
                page.line(1, &format!("superseded: {} passed without it", task.id));
            }
            Event::PersonAsked { why, .. } => {
                page.line(1, &format!("a person must decide: {why}"));
            }
            Event::PersonAnswered { answer, .. } => tell_answer(answer, page),
            Event::TaskParked { .. } => page.line(1, "put aside, while others go on"),
            Event::CommitRefused { output, .. } => {
                page.line(2, "a commit hook refused it:");
                page.quote(3, output);
            }
            Event::Committed {
                hash: Some(hash), ..
            } => page.line(2, &format!("commit {hash}")),
            Event::TaskDone { marks, .. } => {
                let marks: String = marks.iter().map(|mark| format!(", {mark}")).collect();
                page.line(1, &format!("done{marks}"));
            }
            Event::TaskSkipped { .. } => page.line(1, "skipped"),
            Event::TaskGone { .. } => {
                page.line(1, "somebody took it out of the file, or ticked it");
            }
            Event::WaitStarted { why, until, .. } => {
                page.line(2, &format!("waits until {}: {why}", moment(*until)));
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
        page.line(2, &ending(report));
        let has_passed = report.signalled && !report.reports_failure;
        if !has_passed || report.contradiction.is_some() {
            let log = self.places.log(self.run.id.as_str(), task, number);
            self.quote_log(&log, page);
        }
        if let Some(words) = &report.contradiction {
            page.line(2, &format!("its answer contradicts that: {words}"));
        }
        Self::tell_plan(&report.plan, page);
        let attempt = AttemptKey {
            run: self.run.id.clone(),
            task: task.clone(),
            number,
        };
        let way = self.way("diff", number);
        self.changes
            .tell(page, &attempt, report.files_changed, &way);
    }

    /// What it said last.
    fn quote_log(&self, log: &Path, page: &mut Page) {
        match end_of_file(log) {
            Ok(end) if end.trim().is_empty() => page.line(2, "printed nothing"),
            Ok(end) => {
                page.line(2, "printed:");
                page.quote(3, &end);
            }
            Err(_) => page.line(2, "its log is not there any more"),
        }
    }

    /// The command that shows more of an attempt.
    fn way(&self, command: &str, number: u32) -> String {
        let mut way = format!("regreen {command} {} {number}", self.asked.which.task);
        if !self.is_newest {
            way.push_str(&format!(" --run {}", self.run.id));
        }
        if let Some(line) = self.asked.which.line {
            way.push_str(&format!(" --line {line}"));
        }
        if let Some(spec) = &self.asked.which.spec {
            way.push_str(&format!(" --spec {spec}"));
        }
        way
    }

    fn tell_plan(plan: &PlanChanges, page: &mut Page) {
        for warning in &plan.warnings {
            page.line(2, &format!("plan: {warning}"));
        }
        for claim in &plan.claims {
            let task = name(&claim.task);
            page.line(2, &format!("plan: the agent ticked {task} as well"));
        }
        for row in &plan.added {
            page.line(2, &format!("plan: the agent added {}", name(row)));
        }
        for row in &plan.edited {
            page.line(2, &format!("plan: the agent changed {}", name(row)));
        }
    }

    /// What the agent did to this task while it worked on another.
    fn tell_mention(&self, task: &TaskKey, number: u32, plan: &PlanChanges, page: &mut Page) {
        let claims = plan.claims.iter().map(|claim| &claim.task);
        let is_named =
            |mut keys: Box<dyn Iterator<Item = &TaskKey> + '_>| keys.any(|key| self.is_it(key));
        let deeds = [
            (is_named(Box::new(claims)), "ticked it"),
            (is_named(Box::new(plan.added.iter())), "added it"),
            (is_named(Box::new(plan.edited.iter())), "changed it"),
            (
                is_named(Box::new(plan.put_back.iter())),
                "removed it, and it was put back",
            ),
            (
                is_named(Box::new(plan.skipped.iter())),
                "removed it again, so it counts as skipped",
            ),
        ];
        for (_, deed) in deeds.iter().filter(|(is_so, _)| *is_so) {
            page.line(1, &format!("attempt {number} of task {} {deed}", task.id));
        }
    }

    fn tell_claims(&self, task: &TaskKey, kept: &[TaskKey], back: &[TaskKey], page: &mut Page) {
        let is_own = self.is_it(task);
        for (keys, fate) in [
            (kept, "was verified and stays ticked"),
            (back, "could not be verified and is open again"),
        ] {
            for key in keys.iter().filter(|key| is_own || self.is_it(key)) {
                match is_own {
                    true => page.line(2, &format!("plan: {} {fate}", key.id)),
                    false => page.line(1, &format!("it {fate}")),
                }
            }
        }
    }

    fn tell_verdict(&mut self, verdict: &Verdict, page: &mut Page) {
        let once_more = if self.again { " once more" } else { "" };
        match verdict {
            Verdict::Green if self.again => page.line(2, "Verify once more: green, so it is flaky"),
            Verdict::Green => page.line(2, "Verify: green"),
            Verdict::Unverified => page.line(2, "Verify: there is nothing to run"),
            Verdict::Red { error } if self.red.as_ref() == Some(error) => {
                page.line(2, &format!("Verify{once_more}: red again"));
            }
            Verdict::Red { error } => {
                let (what, printed) = error.split_once('\n').unwrap_or((error, ""));
                let what = what.strip_prefix("Verify failed: ").unwrap_or(what);
                page.line(2, &format!("Verify{once_more}: red: {what}"));
                page.quote(3, printed);
                if self.plan.is_fix(&self.selected.key) {
                    page.line(2, "the task that it repairs is the judge");
                }
                self.red = Some(error.clone());
            }
        }
    }

    fn tell_failure(&self, failure: &FailureRecord, page: &mut Page) {
        if self.red.as_ref() != Some(&failure.error) {
            let (what, more) = failure
                .error
                .split_once('\n')
                .unwrap_or((failure.error.as_str(), ""));
            page.line(2, &format!("failed: {what}"));
            page.quote(3, more);
        }
        if let Some(found) = failure.told() {
            self.tell_diagnosis(found, page);
        }
        let fix = failure.attempted_fix.as_str();
        if !matches!(fix, "" | TaskFailure::NO_ATTEMPTED_FIX) {
            page.line(2, &format!("attempted fix: {fix}"));
        }
    }

    fn tell_diagnosis(&self, found: &Failure, page: &mut Page) {
        let blocker = found.blocked_on.as_deref();
        let blocker = blocker.map(|line| format!(", {line}")).unwrap_or_default();
        page.line(2, &format!("diagnosis: {}{blocker}", found.kind.words()));
        for action in &found.suggested_actions {
            page.line(3, &format!("may help: {action}"));
        }
    }
}

fn tell_inspection(inspection: &Inspection, page: &mut Page) {
    match inspection {
        Inspection::Allowed(repair) => {
            page.line(2, &format!("may be repaired: {}", repair.does));
        }
        Inspection::Ask { repair, why } => {
            page.line(
                2,
                &format!("a person may allow this: {} ({why})", repair.does),
            );
        }
        Inspection::Refused { why } => page.line(2, &format!("not repaired: {why}")),
        Inspection::Nothing => {}
    }
}

/// What follows from it is told with the choice.
fn tell_answer(answer: &PersonAnswer, page: &mut Page) {
    match answer {
        PersonAnswer::Edit => page.line(1, "a person edited it"),
        PersonAnswer::Context { text } => {
            page.line(1, "a person said: try it again, and tell the agent:");
            page.quote(2, text);
        }
        PersonAnswer::Repair => page.line(1, "a person said: repair it so"),
        PersonAnswer::Fix => page.line(1, "a person said: make a fix for it"),
        PersonAnswer::Skip => {}
        PersonAnswer::Stop => page.line(1, "a person did not decide yet"),
    }
}

/// Whether an event is part of a task's story.
pub(super) fn concerns(plan: &Plan, selected: &SelectedTask, event: &Event) -> bool {
    let is_it = |key: &TaskKey| plan.is(selected, key);
    let is_named = match event {
        Event::AttemptEnded { report, .. } => {
            let plan = &report.plan;
            let claims = plan.claims.iter().map(|claim| &claim.task);
            let rows = [&plan.added, &plan.edited, &plan.put_back, &plan.skipped];
            claims.chain(rows.into_iter().flatten()).any(is_it)
        }
        Event::ClaimsJudged {
            kept, taken_back, ..
        } => kept.iter().chain(taken_back).any(is_it),
        Event::PlanModified { added: named, .. } | Event::FixesSuperseded { fixes: named, .. } => {
            named.iter().any(is_it)
        }
        _ => false,
    };
    is_named || crate::history::task_of(event).is_some_and(is_it)
}

/// The agent as the run was begun with it.
fn agent(events: &Events) -> String {
    let agent = events.iter().find_map(|(_, event)| match event {
        Event::RunStarted { config, .. } => Some(&config.agent),
        _ => None,
    });
    agent.map_or(String::new(), |agent| format!(", agent {agent}"))
}

fn ending(report: &AttemptReport) -> String {
    let ending = &report.ending;
    let how = match (ending.timed_out, ending.exit_code, ending.signal) {
        (true, ..) => "ended by the time limit".to_owned(),
        (_, Some(code), _) => format!("exit code {code}"),
        (_, _, Some(signal)) => format!("ended by signal {signal}"),
        (false, None, None) => return "cut off: regreen or the machine ended meanwhile".to_owned(),
    };
    let took = Span::from_millis(ending.duration_ms);
    let said = match (&report.class, report.signalled, report.reports_failure) {
        (AttemptClass::Ordinary, _, true) => "reported failure".to_owned(),
        (AttemptClass::Ordinary, true, _) => "claimed completion".to_owned(),
        (AttemptClass::Ordinary, false, _) => "gave no signal".to_owned(),
        (AttemptClass::Interrupted, ..) => "cut off".to_owned(),
        (AttemptClass::Transient { why, .. }, ..) => format!("its service is out of reach: {why}"),
        (AttemptClass::Fatal { why }, ..) => format!("it would fail again: {why}"),
        (AttemptClass::Session { why }, ..) => format!("its session is of no more use: {why}"),
    };
    format!("{how} after {took}, {said}")
}

fn told(prompt: PromptKind) -> &'static str {
    match prompt {
        PromptKind::First => "",
        PromptKind::Retry => ", told how it failed before",
        PromptKind::Reminder => ", reminded that only the signal is missing",
        PromptKind::NoOp => ", told that the last one changed nothing",
        PromptKind::Interrupted => ", told that the last one was cut off",
        PromptKind::NewSession => ", in a new session",
        PromptKind::Enriched => ", told what the last one was missing",
        PromptKind::Split => ", asked to split the task",
    }
}

fn fate(outcome: &RunOutcome) -> String {
    let words = match outcome {
        RunOutcome::AllGreen => "all tasks are done",
        RunOutcome::OnlyDone => "what was asked for is done",
        RunOutcome::Skipped => "open tasks were left out",
        RunOutcome::Limit { message } => message,
        RunOutcome::NeedsPerson { why }
        | RunOutcome::TryLater { why }
        | RunOutcome::SetUp { why } => why,
        RunOutcome::Stopped { .. } => "somebody stopped it",
    };
    words.to_owned()
}

fn moment(at: Timestamp) -> String {
    format!("{} {} UTC", at.utc_date(), at.utc_time())
}

fn end_of_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let start = file.metadata()?.len().saturating_sub(END_OF_LOG);
    file.seek(SeekFrom::Start(start))?;
    let mut end = Vec::new();
    file.take(END_OF_LOG).read_to_end(&mut end)?;
    Ok(String::from_utf8_lossy(&end).into_owned())
}
