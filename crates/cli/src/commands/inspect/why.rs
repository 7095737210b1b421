//! `regreen why`: the story of a task, from its first attempt on.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use regreen_model::{
    AttemptClass, AttemptReport, Event, PlainLine, TaskId, TaskKey, Timestamp, Verdict,
};
use regreen_reporters::Span;
use regreen_runtime::Places;
use regreen_store::Run;
use regreen_workspace::Git;

use super::log::verify_logs;
use super::{spans, task_id};
use crate::arguments::OneTask;
use crate::exit::Exit;
use crate::history::{History, task_of};
use crate::output;
use crate::problem::Problem;
use crate::workplace::Workplace;

/// How much of an output is quoted.
const QUOTED_LINES: usize = 12;
const LINE_CHARS: usize = 300;
const FILES: usize = 20;

pub fn run(arguments: &OneTask) -> Result<Exit, Problem> {
    let workplace = Workplace::find(arguments.spec.as_deref())?;
    let task = task_id(&arguments.task)?;
    let history = History::open(&workplace.places)?;
    let mut story = Story {
        places: &workplace.places,
        git: Git::open(&workplace.places.root).ok(),
        task,
        again: false,
        page: String::new(),
    };
    for run in history.runs()? {
        story.tell_run(&history, &run)?;
    }
    if story.page.is_empty() {
        return Err(Problem::NoAttempt {
            task: arguments.task.clone(),
            number: None,
            known: Vec::new(),
        });
    }
    output::print(&output::printable(&story.page))?;
    Ok(Exit::AllGreen)
}

/// What happened to one task, written down run by run.
struct Story<'a> {
    places: &'a Places,
    git: Option<Git>,
    task: TaskId,
    /// The Verify that runs is the second look.
    again: bool,
    page: String,
}

impl Story<'_> {
    fn tell_run(&mut self, history: &History, run: &Run) -> Result<(), Problem> {
        let events = history.events(run)?;
        let is_ours = |event: &Event| task_of(event).is_some_and(|key| key.id == self.task);
        let ours: Vec<_> = events.iter().filter(|(_, event)| is_ours(event)).collect();
        if ours.is_empty() {
            return Ok(());
        }
        if !self.page.is_empty() {
            self.page.push('\n');
        }
        let _ = writeln!(
            self.page,
            "run {}, {}",
            run.id,
            moment(ours.first().map(|(at, _)| *at))
        );
        for (at, event) in ours {
            self.tell(run, *at, event);
        }
        Ok(())
    }

    fn tell(&mut self, run: &Run, at: Timestamp, event: &Event) {
        match event {
            Event::TaskPicked { task } => {
                self.line(0, &format!("{} {}", task.task.id, task.task.title));
            }
            Event::AttemptStarted {
                task,
                attempt,
                prompt,
                ..
            } => {
                self.line(0, "");
                let why = prompt.name();
                self.line(
                    1,
                    &format!("attempt {attempt} ({why}), {}", moment(Some(at))),
                );
                let log = self.places.log(run.id.as_str(), task, *attempt);
                self.line(2, &format!("log: {}", self.places.shown(&log)));
            }
            Event::AttemptEnded {
                task,
                attempt,
                report,
                ..
            } => {
                self.tell_end(report);
                self.tell_files(run, task, *attempt);
            }
            Event::VerifyStarted { again, .. } => self.again = *again,
            Event::VerifyEnded {
                task,
                attempt,
                verdict,
            } => {
                let log = self.places.log(run.id.as_str(), task, *attempt);
                self.tell_verdict(verdict, &log);
            }
            Event::TaskFailed { failure, .. } => {
                self.line(2, &format!("failed: {}", first_line(&failure.error)));
                self.line(
                    2,
                    &format!("attempted fix: {}", first_line(&failure.attempted_fix)),
                );
            }
            Event::CommitRefused { output, .. } => {
                self.line(2, "a commit hook refused it:");
                self.quote(output);
            }
            Event::Committed {
                hash: Some(hash), ..
            } => self.line(2, &format!("committed as {hash}")),
            Event::TaskDone { marks, .. } => {
                let marks: Vec<String> = marks.iter().map(|mark| format!(", {mark}")).collect();
                self.line(1, &format!("done{}", marks.concat()));
            }
            Event::TaskSkipped { .. } => self.line(1, "skipped"),
            Event::TaskGone { .. } => self.line(1, "taken out of the file"),
            Event::WaitStarted { why, until, .. } => {
                let until = moment(Some(*until));
                self.line(2, &format!("waiting until {until}: {}", first_line(why)));
            }
            _ => {}
        }
    }

    fn tell_end(&mut self, report: &AttemptReport) {
        let ending = &report.ending;
        let how = match (ending.timed_out, ending.exit_code, ending.signal) {
            (true, ..) => "ended by the time limit".to_owned(),
            (_, Some(code), _) => format!("exit code {code}"),
            (_, _, Some(signal)) => format!("signal {signal}"),
            (false, None, None) => "cut off".to_owned(),
        };
        let took = Span::from_millis(ending.duration_ms);
        let said = match (&report.class, report.signalled, report.reports_failure) {
            (AttemptClass::Ordinary, _, true) => "reported failure",
            (AttemptClass::Ordinary, true, _) => "claimed completion",
            (AttemptClass::Ordinary, false, _) => "gave no signal",
            (class, ..) => class.name(),
        };
        self.line(2, &format!("{how} after {took}, {said}"));
        if let Some(words) = &report.contradiction {
            self.line(2, &format!("but said: {}", first_line(words)));
        }
        for warning in &report.plan.warnings {
            self.line(2, &format!("plan: {}", first_line(warning)));
        }
    }

    fn tell_files(&mut self, run: &Run, task: &TaskKey, attempt: u32) {
        let Some(git) = &self.git else { return };
        let spans = spans(git, run.id.as_str(), task, Some(attempt));
        let Some(span) = spans.ok().and_then(|spans| spans.into_iter().next()) else {
            return;
        };
        let changes = git
            .changed_files(&span.before, &span.after)
            .unwrap_or_default();
        let mut names: Vec<String> = changes
            .iter()
            .map(|change| change.path.to_string())
            .collect();
        let more = names.len().saturating_sub(FILES);
        names.truncate(FILES);
        match (names.as_slice(), more) {
            ([], _) => self.line(2, "changed no file"),
            (names, 0) => self.line(2, &format!("changed: {}", names.join(", "))),
            (names, more) => {
                self.line(2, &format!("changed: {} and {more} more", names.join(", ")));
            }
        }
    }

    fn tell_verdict(&mut self, verdict: &Verdict, log: &Path) {
        match verdict {
            Verdict::Green if self.again => self.line(2, "Verify: green this time"),
            Verdict::Green => self.line(2, "Verify: green"),
            Verdict::Unverified => self.line(2, "Verify: nothing to run"),
            Verdict::Red { .. } if !self.again => {
                self.line(2, "Verify: red, so it runs once more");
            }
            Verdict::Red { error } => {
                self.line(2, &format!("Verify: red: {}", first_line(error)));
                let printed = verify_logs(log).pop().and_then(|log| fs::read(log).ok());
                self.quote(&String::from_utf8_lossy(&printed.unwrap_or_default()));
            }
        }
    }

    /// The last lines of a text.
    fn quote(&mut self, text: &str) {
        let lines: Vec<&str> = text.lines().collect();
        let from = lines.len().saturating_sub(QUOTED_LINES);
        for line in lines.get(from..).unwrap_or_default() {
            self.line(3, &format!("| {}", PlainLine::flatten(line, LINE_CHARS)));
        }
    }

    fn line(&mut self, depth: usize, text: &str) {
        let text = text.trim_end();
        let indent = if text.is_empty() { 0 } else { depth };
        let _ = writeln!(self.page, "{}{text}", "  ".repeat(indent));
    }
}

fn first_line(text: &str) -> PlainLine {
    PlainLine::flatten(text.lines().next().unwrap_or_default(), LINE_CHARS)
}

fn moment(at: Option<Timestamp>) -> String {
    at.map(|at| format!("{} {} UTC", at.utc_date(), at.utc_time()))
        .unwrap_or_default()
}
