//! A run as JUnit XML: a test per task, with its failed attempts as reruns.
//!
//! A report must not look greener than the run. What nothing verified counts as skipped, and a run
//! that didn't end well has a test of its own that says why.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use quick_junit::{
    NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestRerun, TestSuite,
};
use regreen_model::{
    Event, FailureRecord, Mark, OutlineKind, OutlineRow, RunOutcome, TaskKey, Timestamp,
};

use crate::failure_text::{headline, kind_and_place};
use crate::reporter::Reporter;

/// Returns the log of an attempt, if there is one.
pub type AttemptLog<'a> = &'a dyn Fn(&TaskKey, u32) -> Option<String>;

/// Collects a run's events for a report in JUnit's format.
#[derive(Debug, Default)]
pub struct Junit {
    spec: String,
    run: String,
    plan: Vec<OutlineRow>,
    tasks: BTreeMap<TaskKey, TaskResult>,
    outcome: Option<RunOutcome>,
}

#[derive(Debug, Default)]
struct TaskResult {
    attempts: Vec<AttemptResult>,
    end: Option<TaskEnd>,
    marks: BTreeSet<Mark>,
}

/// What happened to a task, other than that its attempts failed.
#[derive(Debug)]
enum TaskEnd {
    Done,
    Skipped,
    Superseded,
    NeedsPerson(String),
    Regressed(FailureRecord),
}

#[derive(Debug)]
struct AttemptResult {
    number: u32,
    started: Timestamp,
    ended: Timestamp,
    failure: Option<FailureRecord>,
}

impl Junit {
    /// Starts the report of a run of this spec. Without events, it says that the run hasn't ended.
    #[must_use]
    pub fn new(spec: impl Into<String>) -> Self {
        Self {
            spec: spec.into(),
            ..Self::default()
        }
    }

    /// Returns the report as XML. Control characters and colours are left out.
    #[must_use]
    pub fn to_xml(&self, log: AttemptLog<'_>) -> String {
        let mut suite = TestSuite::new(self.spec.as_str());
        suite.add_property(Property::new("run", self.run.as_str()));
        let rows = self.plan.iter().filter(|row| self.is_shown(row));
        suite.add_test_cases(rows.map(|row| self.task_case(row, log)));
        suite.add_test_cases(self.run_case());
        let mut report = Report::new("regreen");
        report.add_test_suite(suite);
        // Writing to a string can't fail.
        report.to_string().unwrap_or_default()
    }

    /// Groups are ticked when their tasks are done; they are shown if something of their own failed.
    fn is_shown(&self, row: &OutlineRow) -> bool {
        row.kind != OutlineKind::Group || self.tasks.contains_key(&row.key)
    }

    fn task_case(&self, row: &OutlineRow, log: AttemptLog<'_>) -> TestCase {
        let none = TaskResult::default();
        let result = self.tasks.get(&row.key).unwrap_or(&none);
        let log = |number| log(&row.key, number);
        let status = result.status(row, &log);
        let mut case = TestCase::new(format!("{} {}", row.key.id, row.key.title), status);
        case.set_classname(self.spec.as_str());
        if let Some(last) = result.attempts.last() {
            let all = result.attempts.iter().map(AttemptResult::duration);
            case.set_time(all.sum());
            if let Some(log) = log(last.number) {
                case.set_system_out(log);
            }
        }
        let marks = result.marks.iter();
        case.add_properties(marks.map(|mark| Property::new("mark", mark.to_string())));
        case
    }

    /// Returns a test that fails if the run itself did.
    fn run_case(&self) -> Option<TestCase> {
        let message = match &self.outcome {
            Some(RunOutcome::AllGreen | RunOutcome::OnlyDone) => return None,
            Some(outcome) => run_message(outcome),
            None => "the run has not ended".to_owned(),
        };
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(message);
        status.set_type(self.outcome.as_ref().map_or("unfinished", RunOutcome::name));
        let mut case = TestCase::new("run", status);
        case.set_classname(self.spec.as_str());
        Some(case)
    }

    fn task(&mut self, key: &TaskKey) -> &mut TaskResult {
        self.tasks.entry(key.clone()).or_default()
    }

    fn add(&mut self, now: Timestamp, event: &Event) {
        match event {
            Event::RunStarted { run, .. } => self.run.clone_from(run),
            Event::RunResumed { .. } => self.outcome = None,
            Event::RunEnded { outcome } => self.outcome = Some(outcome.clone()),
            Event::AttemptStarted { task, attempt, .. }
            | Event::RepairStarted { task, attempt, .. } => self.task(task).start(*attempt, now),
            Event::AttemptEnded { task, .. } | Event::VerifyEnded { task, .. } => {
                self.task(task).extend(now);
            }
            Event::TaskFailed {
                task,
                attempt,
                failure,
                ..
            } => self.task(task).fail(*attempt, now, failure),
            Event::TaskDone { task, marks, .. } => {
                let task = self.task(task);
                task.marks.clone_from(marks);
                task.end = Some(TaskEnd::Done);
            }
            Event::TaskSkipped { task } => self.task(task).end = Some(TaskEnd::Skipped),
            Event::FixesSuperseded { fixes, .. } => {
                for fix in fixes {
                    self.task(fix).end = Some(TaskEnd::Superseded);
                }
            }
            Event::PersonAsked { task, why, .. } | Event::TaskParked { task, why } => {
                self.task(task).end = Some(TaskEnd::NeedsPerson(why.clone()));
            }
            Event::PersonAnswered { task, .. } => self.task(task).end = None,
            Event::FinalCheckEnded { regressed, .. } => {
                for found in regressed {
                    let failure = found.failure.clone();
                    self.task(&found.task).end = Some(TaskEnd::Regressed(failure));
                }
            }
            _ => {}
        }
    }
}

impl TaskResult {
    fn start(&mut self, number: u32, now: Timestamp) {
        self.attempts.push(AttemptResult {
            number,
            started: now,
            ended: now,
            failure: None,
        });
    }

    fn extend(&mut self, now: Timestamp) {
        if let Some(last) = self.attempts.last_mut() {
            last.ended = now;
        }
    }

    /// Notes a failure. A check that runs before the agent fails without an attempt of its own.
    fn fail(&mut self, number: u32, now: Timestamp, failure: &FailureRecord) {
        if self
            .attempts
            .last()
            .is_none_or(|last| last.number != number)
        {
            self.start(number, now);
        }
        self.extend(now);
        if let Some(last) = self.attempts.last_mut() {
            last.failure = Some(failure.clone());
        }
        self.end = None;
    }

    fn status(&self, row: &OutlineRow, log: &dyn Fn(u32) -> Option<String>) -> TestCaseStatus {
        let last = self.attempts.last().and_then(|last| last.failure.as_ref());
        match &self.end {
            Some(TaskEnd::Done) if self.marks.contains(&Mark::Unverified) => {
                skipped("unverified: nothing checked the result")
            }
            Some(TaskEnd::Done) => with_reruns(TestCaseStatus::success(), &self.attempts, log),
            Some(TaskEnd::Skipped) => skipped("skipped"),
            Some(TaskEnd::Superseded) => skipped("superseded: the task that it fixes passed"),
            Some(TaskEnd::NeedsPerson(why)) => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
                status.set_message(why.as_str()).set_type("needs a person");
                with_reruns(status, &self.attempts, log)
            }
            Some(TaskEnd::Regressed(failure)) => with_reruns(failed(failure), &self.attempts, log),
            None => match last {
                Some(failure) => with_reruns(failed(failure), self.earlier(), log),
                None if row.done => skipped("done before this run"),
                None if row.optional => skipped("optional"),
                None if self.attempts.is_empty() => skipped("not run"),
                None => unfinished(),
            },
        }
    }

    /// Returns the attempts before the last one.
    fn earlier(&self) -> &[AttemptResult] {
        self.attempts
            .split_last()
            .map_or(&[], |(_, earlier)| earlier)
    }
}

/// Adds those of the attempts that failed.
fn with_reruns(
    mut status: TestCaseStatus,
    attempts: &[AttemptResult],
    log: &dyn Fn(u32) -> Option<String>,
) -> TestCaseStatus {
    let reruns = attempts.iter().filter_map(|attempt| {
        let mut rerun = failed_rerun(attempt.failure.as_ref()?);
        rerun.set_time(attempt.duration());
        if let Some(log) = log(attempt.number) {
            rerun.set_system_out(log);
        }
        Some(rerun)
    });
    status.add_reruns(reruns);
    status
}

impl AttemptResult {
    fn duration(&self) -> Duration {
        Duration::from_millis(self.ended.since(self.started))
    }
}

fn skipped(message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(message);
    status
}

/// An attempt that the run left before it was judged.
fn unfinished() -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_message("interrupted").set_type("unfinished");
    status
}

fn failed(failure: &FailureRecord) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status
        .set_message(headline(failure))
        .set_type(kind_and_place(failure).unwrap_or_else(|| "failed".to_owned()))
        .set_description(failure.error.as_str());
    status
}

fn failed_rerun(failure: &FailureRecord) -> TestRerun {
    let mut rerun = TestRerun::new(NonSuccessKind::Failure);
    rerun
        .set_message(headline(failure))
        .set_type(kind_and_place(failure).unwrap_or_else(|| "failed".to_owned()))
        .set_description(failure.error.as_str());
    rerun
}

/// Says how a run ended that isn't green.
fn run_message(outcome: &RunOutcome) -> String {
    match outcome {
        RunOutcome::AllGreen | RunOutcome::OnlyDone => String::new(),
        RunOutcome::Skipped => "all tasks that are left were skipped".to_owned(),
        RunOutcome::Stopped { .. } => "the run was stopped".to_owned(),
        RunOutcome::Limit { message } | RunOutcome::Regressed { message } => message.clone(),
        RunOutcome::NeedsPerson { why }
        | RunOutcome::TryLater { why }
        | RunOutcome::SetUp { why } => why.clone(),
    }
}

impl Reporter for Junit {
    fn outline(&mut self, rows: &[OutlineRow]) {
        self.plan = rows.to_vec();
    }

    fn recall(&mut self, at: Timestamp, event: &Event) {
        self.add(at, event);
    }

    fn event(&mut self, now: Timestamp, event: &Event) {
        self.add(now, event);
    }

    fn finish(&mut self, _now: Timestamp) {}
}
