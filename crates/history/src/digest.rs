//! What one run or delegation shows: its tasks, its failures, and what was done about them.

mod aftermath;

use std::collections::BTreeMap;

use regreen_diagnosis::reported_blocker;
use regreen_model::{
    AttemptClass, AttemptReport, Event, Experience, FailureRecord, TaskFeatures, TaskKey,
    UsageLedger,
};
use regreen_store::Delegation;
use serde::{Deserialize, Serialize};

use crate::Response;

/// The kind of an undiagnosed failure.
const UNDIAGNOSED: &str = "error";
/// A line that is longer says nothing more.
const MAX_LINE: usize = 300;
/// Enough of a title to recognize a task.
const MAX_TITLE: usize = 80;

/// Where a run or delegation took place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspace {
    /// The folder.
    pub path: String,
}

/// What kept the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DigestSource {
    /// A run of a spec.
    Run,
    /// A delegation.
    Delegation,
}

/// What one run or delegation shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// What kept the record.
    pub source: DigestSource,
    /// Its id, unique in its workspace.
    pub id: String,
    /// How much of it is known: a later digest of the same run has a larger number.
    pub steps: u64,
    /// The spec; empty for a delegation.
    pub spec: String,
    /// The agent.
    pub agent: String,
    /// When it started.
    pub started_ms: i64,
    /// When it ended, or its last step.
    pub ended_ms: i64,
    /// The tasks that were attempted, without fixes.
    pub tasks: Vec<TaskDigest>,
    /// Every failed attempt.
    pub failures: Vec<FailureDigest>,
}

/// How an original task went, its fixes included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskDigest {
    /// Its id.
    pub id: String,
    /// The beginning of its title.
    pub title: String,
    /// When it was last attempted.
    pub at_ms: i64,
    /// Attempts of the agent at the task and its fixes.
    pub attempts: u32,
    /// Whether it passed without a failure.
    pub first_pass: bool,
    /// Whether it passed in the end.
    pub passed: bool,
    /// The time of attempts and checks.
    pub time_ms: u64,
    /// The cost, if the agent reports it.
    pub cost_micro_usd: Option<u64>,
    /// What its text shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features: Option<TaskFeatures>,
    /// Its first attempt, unless something other than the task or its time limit ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_attempt: Option<FirstAttempt>,
    /// The time of its first check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify_ms: Option<u64>,
}

/// How long an agent worked on a task until it first ended by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstAttempt {
    /// Its time.
    pub time_ms: u64,
    /// Whether a time limit ended it even at last, so that it would have taken longer.
    pub timed_out: bool,
}

/// A failed attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureDigest {
    /// The id of the task that failed, which may be a fix.
    pub task: String,
    /// When it failed.
    pub at_ms: i64,
    /// The category.
    pub category: String,
    /// The kind.
    pub kind: String,
    /// The line that blocked it.
    pub line: String,
    /// The time of the attempt and its check.
    pub lost_ms: u64,
    /// The cost of the attempt, if the agent reports it.
    pub lost_micro_usd: Option<u64>,
    /// What was done about it.
    pub response: Option<String>,
    /// Whether that helped: the task passed next (yes), or failed in the same way (no). `None` if
    /// neither.
    pub helped: Option<bool>,
    /// What the agent or the person said, if it helped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Whether earlier failures with the same cause were known; `None` if it wasn't looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<bool>,
    /// What the next prompts said had helped before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<String>,
}

/// Digests the events of a run, each with its time in milliseconds. `None` if nothing was attempted.
#[must_use]
pub fn of_run(
    id: &str,
    steps: u64,
    spec: &str,
    started_ms: i64,
    events: &[(i64, Event)],
) -> Option<Digest> {
    let mut run = RunDigester::default();
    for (at, event) in events {
        run.take(*at, event);
    }
    let failures = run.failures(events);
    // A task that was interrupted, and a group that was only checked, say nothing yet.
    let is_known = |task: &TaskDigest| task.attempts > 0 && (task.passed || !task.first_pass);
    let tasks: Vec<TaskDigest> = run.tasks.into_values().filter(is_known).collect();
    (!tasks.is_empty()).then(|| Digest {
        source: DigestSource::Run,
        id: id.to_owned(),
        steps,
        spec: spec.to_owned(),
        agent: run.agent,
        started_ms,
        ended_ms: events.last().map_or(started_ms, |(at, _)| *at),
        tasks,
        failures,
    })
}

/// A failure, and where the events after it begin.
struct Failed {
    task: TaskKey,
    timeout_ms: u64,
    next: usize,
    digest: FailureDigest,
}

/// An attempt so far.
#[derive(Default)]
struct Current {
    started_ms: i64,
    timeout_ms: u64,
    time_ms: u64,
    cost: Option<u64>,
}

#[derive(Default)]
struct RunDigester {
    agent: String,
    roots: BTreeMap<TaskKey, TaskKey>,
    features: BTreeMap<TaskKey, TaskFeatures>,
    tasks: BTreeMap<TaskKey, TaskDigest>,
    ledger: UsageLedger,
    current: Current,
    failed: Vec<Failed>,
    seen: usize,
    reads_prompts: bool,
}

impl RunDigester {
    fn take(&mut self, at: i64, event: &Event) {
        self.seen += 1;
        match event {
            Event::RunStarted { config, .. } => {
                config.agent.name().clone_into(&mut self.agent);
                self.reads_prompts = config.agent.reads_prompts();
            }
            Event::TaskPicked { task } => {
                self.roots.insert(task.task.clone(), task.root.clone());
                if let Some(features) = task.features.as_ref().filter(|_| !task.is_fix()) {
                    self.features.insert(task.task.clone(), features.clone());
                }
            }
            Event::AttemptStarted {
                task, timeout_ms, ..
            } => {
                self.current = Current {
                    started_ms: at,
                    timeout_ms: *timeout_ms,
                    ..Current::default()
                };
                let digest = self.task(task);
                digest.attempts += 1;
                digest.at_ms = at;
            }
            Event::AttemptEnded { task, report, .. } => {
                let time = u64::try_from(at - self.current.started_ms).unwrap_or(0);
                let used = report.usage.as_ref();
                let used = used.map(|usage| self.ledger.count(report.session.as_deref(), usage));
                let cost = used.and_then(|usage| usage.cost_micro_usd);
                self.spend(task, time, cost);
                self.time_first_attempt(task, report);
            }
            Event::VerifyEnded { task, took_ms, .. } => {
                self.spend(task, *took_ms, None);
                if self.is_original(task) {
                    self.task(task).verify_ms.get_or_insert(*took_ms);
                }
            }
            Event::TestsReviewed { task, took_ms, .. } => self.spend(task, *took_ms, None),
            Event::TaskFailed { task, failure, .. } => self.fail(at, task, failure),
            Event::TaskDone { task, .. } => {
                let is_original = self.is_original(task);
                if let Some(done) = self.tasks.get_mut(task).filter(|_| is_original) {
                    done.passed = true;
                }
            }
            Event::TaskReopened { task } => {
                if let Some(open) = self.tasks.get_mut(task) {
                    open.passed = false;
                    open.first_pass = false;
                }
            }
            _ => {}
        }
    }

    fn is_original(&self, task: &TaskKey) -> bool {
        self.roots.get(task).is_none_or(|root| root == task)
    }

    /// Keeps the time of the first attempt. One that was interrupted says nothing about the task,
    /// and the one after it has only the rest to do.
    fn time_first_attempt(&mut self, task: &TaskKey, report: &AttemptReport) {
        let is_original = self.is_original(task);
        let digest = self.task(task);
        if !is_original || report.class != AttemptClass::Ordinary {
            return;
        }
        let before_ms = match digest.first_attempt {
            None if digest.attempts == 1 => 0,
            // It continues with more time.
            Some(first) if first.timed_out => first.time_ms,
            _ => return,
        };
        digest.first_attempt = Some(FirstAttempt {
            time_ms: before_ms.saturating_add(report.ending.duration_ms),
            timed_out: report.ending.timed_out,
        });
    }

    /// Returns the original that a task belongs to.
    fn task(&mut self, task: &TaskKey) -> &mut TaskDigest {
        let root = self.roots.get(task).unwrap_or(task).clone();
        let id = root.id.to_string();
        let title = short_title(&root.title);
        let features = self.features.get(&root).cloned();
        self.tasks.entry(root).or_insert_with(|| TaskDigest {
            id,
            title,
            features,
            first_pass: true,
            ..TaskDigest::default()
        })
    }

    fn spend(&mut self, task: &TaskKey, time_ms: u64, cost: Option<u64>) {
        self.current.time_ms = self.current.time_ms.saturating_add(time_ms);
        self.current.cost = sum(self.current.cost, cost);
        let digest = self.task(task);
        digest.time_ms = digest.time_ms.saturating_add(time_ms);
        digest.cost_micro_usd = sum(digest.cost_micro_usd, cost);
    }

    fn fail(&mut self, at: i64, task: &TaskKey, failure: &FailureRecord) {
        self.task(task).first_pass = false;
        let (kind, line) = kind_and_line(failure);
        let found = failure.diagnosis.as_deref();
        let spent = std::mem::take(&mut self.current);
        self.failed.push(Failed {
            task: task.clone(),
            timeout_ms: spent.timeout_ms,
            next: self.seen,
            digest: FailureDigest {
                task: task.id.to_string(),
                at_ms: at,
                category: found.map_or("", |found| found.category.name()).to_owned(),
                kind: kind.to_owned(),
                line,
                lost_ms: spent.time_ms,
                lost_micro_usd: spent.cost,
                response: None,
                helped: None,
                note: None,
                known: None,
                advice: Vec::new(),
            },
        });
    }

    /// Completes the failures with what happened after them.
    fn failures(&mut self, events: &[(i64, Event)]) -> Vec<FailureDigest> {
        let failed = std::mem::take(&mut self.failed);
        let reads_prompts = self.reads_prompts;
        failed
            .into_iter()
            .map(|failed| {
                let after = events.get(failed.next..).unwrap_or_default();
                let after: Vec<&Event> = after.iter().map(|(_, event)| event).collect();
                aftermath::complete(
                    failed.digest,
                    &failed.task,
                    failed.timeout_ms,
                    reads_prompts,
                    &after,
                )
            })
            .collect()
    }
}

/// Returns the kind of a failure, and the line that shows it.
pub(crate) fn kind_and_line(failure: &FailureRecord) -> (&'static str, String) {
    let found = failure.diagnosis.as_deref();
    let line = found.and_then(reported_blocker);
    (
        found.map_or(UNDIAGNOSED, |found| found.kind.name()),
        one_line(line.as_deref().unwrap_or(&failure.error)),
    )
}

/// Digests the attempts of one delegation. `None` until all of them have ended.
#[must_use]
pub fn of_delegation(attempts: &[Delegation]) -> Option<Digest> {
    let (first, last) = (attempts.first()?, attempts.last()?);
    if attempts.iter().any(|attempt| attempt.outcome.is_none()) {
        return None;
    }
    let time = |attempt: &Delegation| attempt.duration_ms.unwrap_or(0);
    let ended = |attempt: &Delegation| attempt.at_ms.saturating_add_unsigned(time(attempt));
    let passed = last.outcome.as_deref() == Some("completed");
    let failed = attempts.iter().filter(|attempt| attempt.kind.is_some());
    Some(Digest {
        source: DigestSource::Delegation,
        id: first.id.clone(),
        steps: attempts.len() as u64,
        spec: String::new(),
        agent: first.agent.clone(),
        started_ms: first.at_ms,
        ended_ms: ended(last),
        tasks: vec![TaskDigest {
            id: first.id.clone(),
            title: String::new(),
            at_ms: last.at_ms,
            attempts: u32::try_from(attempts.len()).unwrap_or(u32::MAX),
            first_pass: passed && attempts.len() == 1,
            passed,
            time_ms: attempts.iter().map(time).sum(),
            cost_micro_usd: None,
            ..TaskDigest::default()
        }],
        failures: failed
            .map(|attempt| FailureDigest {
                task: first.id.clone(),
                at_ms: ended(attempt),
                category: attempt.category.clone().unwrap_or_default(),
                kind: attempt.kind.clone().unwrap_or_default(),
                line: one_line(delegated_line(attempt)),
                lost_ms: time(attempt),
                lost_micro_usd: None,
                response: attempt
                    .tried
                    .as_deref()
                    .and_then(Response::from_words)
                    .map(|response| response.as_str().to_owned()),
                helped: attempt.helped,
                note: None,
                known: None,
                advice: attempt
                    .tried
                    .as_deref()
                    .and_then(|words| words.split(';').find_map(Experience::advised_in))
                    .unwrap_or_default(),
            })
            .collect(),
    })
}

/// Returns the part of a title that is stored.
pub(crate) fn short_title(title: &str) -> String {
    title.chars().take(MAX_TITLE).collect()
}

fn delegated_line(attempt: &Delegation) -> &str {
    let line = attempt.blocked_on.as_ref().or(attempt.message.as_ref());
    line.map_or("", String::as_str)
}

fn one_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty());
    line.unwrap_or_default()
        .trim()
        .chars()
        .take(MAX_LINE)
        .collect()
}

fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    [one, other]
        .into_iter()
        .flatten()
        .reduce(u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use regreen_model::{
        Advice, AttemptReport, PlannedRepair, PromptKind, RepairAction, RepairResult, RunConfig,
        TaskId,
    };

    use super::*;

    fn key(id: &str) -> TaskKey {
        TaskKey {
            id: TaskId::parse(id).unwrap(),
            occurrence: 1,
            title: "Write it".to_owned(),
        }
    }

    fn started(id: &str, attempt: u32) -> Event {
        Event::AttemptStarted {
            seq: 1,
            task: key(id),
            attempt,
            prompt: PromptKind::Retry,
            timeout_ms: 1_000,
        }
    }

    fn ended(id: &str, attempt: u32) -> Event {
        Event::AttemptEnded {
            task: key(id),
            attempt,
            charged: true,
            counted: None,
            report: Box::new(AttemptReport::default()),
        }
    }

    fn failed(id: &str, attempt: u32, error: &str) -> Event {
        Event::TaskFailed {
            task: key(id),
            attempt,
            failure: FailureRecord::new(error),
            only_red: false,
        }
    }

    fn done(id: &str) -> Event {
        Event::TaskDone {
            task: key(id),
            marks: std::collections::BTreeSet::new(),
            hash: None,
        }
    }

    /// Digests events that happen ten seconds apart.
    fn digest(events: Vec<Event>) -> Option<Digest> {
        let times = (0..).step_by(10_000);
        let events: Vec<(i64, Event)> = times.zip(events).collect();
        of_run("a", 7, "login", 0, &events)
    }

    #[test]
    fn a_task_that_fails_twice_and_passes_was_helped_the_second_time() {
        let attempt = |n, error| [started("1.1", n), ended("1.1", n), failed("1.1", n, error)];
        let mut events = Vec::from(attempt(1, "boom 1"));
        events.extend(attempt(2, "boom 2"));
        events.extend([started("1.1", 3), ended("1.1", 3), done("1.1")]);
        let found = digest(events).unwrap();
        let task = &found.tasks[0];
        assert_eq!(
            (task.attempts, task.first_pass, task.passed),
            (3, false, true)
        );
        assert_eq!(task.time_ms, 30_000);
        let helped: Vec<Option<bool>> = found.failures.iter().map(|one| one.helped).collect();
        assert_eq!(helped, [Some(false), Some(true)]);
        let first = &found.failures[0];
        assert_eq!(first.response.as_deref(), Some("another attempt"));
        assert_eq!((first.lost_ms, first.line.as_str()), (10_000, "boom 1"));
    }

    #[test]
    fn the_first_attempt_is_over_when_the_agent_ends_by_itself() {
        let ended = |n, seconds: u64, timed_out, class: AttemptClass| {
            let mut report = AttemptReport {
                class,
                ..AttemptReport::default()
            };
            report.ending.duration_ms = seconds * 1_000;
            report.ending.timed_out = timed_out;
            Event::AttemptEnded {
                task: key("1.1"),
                attempt: n,
                charged: true,
                counted: None,
                report: Box::new(report),
            }
        };
        let first = |ends: &[(u64, bool, AttemptClass)]| {
            let ends = (1..).zip(ends);
            let mut events: Vec<Event> = ends
                .flat_map(|(n, (seconds, timed_out, class))| {
                    [
                        started("1.1", n),
                        ended(n, *seconds, *timed_out, class.clone()),
                    ]
                })
                .collect();
            events.push(done("1.1"));
            let first = digest(events).unwrap().tasks[0].first_attempt;
            first.map(|first| (first.time_ms / 1_000, first.timed_out))
        };
        let ordinary = AttemptClass::Ordinary;
        assert_eq!(first(&[(40, false, ordinary.clone())]), Some((40, false)));
        let continued = [(60, true, ordinary.clone()), (20, false, ordinary.clone())];
        assert_eq!(first(&continued), Some((80, false)));
        let failed = [(10, false, ordinary.clone()), (20, false, ordinary.clone())];
        assert_eq!(first(&failed), Some((10, false)));
        let interrupted = [
            (10, false, AttemptClass::Interrupted),
            (20, false, ordinary),
        ];
        assert_eq!(first(&interrupted), None);
    }

    #[test]
    fn another_failure_shows_neither() {
        let attempt = |n, error| [started("1.1", n), ended("1.1", n), failed("1.1", n, error)];
        let events = [attempt(1, "boom"), attempt(2, "something else")].concat();
        let found = digest(events).unwrap();
        let helped: Vec<Option<bool>> = found.failures.iter().map(|one| one.helped).collect();
        assert_eq!(helped, [None, None]);
        assert!(!found.tasks[0].passed);
    }

    fn recalled(id: &str, response: &str) -> Event {
        let advice = Advice {
            response: response.to_owned(),
            ..Advice::default()
        };
        let known = Experience {
            advice: vec![advice],
            ..Experience::default()
        };
        Event::Recalled {
            task: key(id),
            experience: Some(Box::new(known)),
        }
    }

    fn fix_planned(repair: Option<&str>) -> Event {
        let repair = repair.map(|package| PlannedRepair {
            does: String::new(),
            action: RepairAction::PipInstall {
                args: vec![package.to_owned()],
            },
        });
        Event::FixPlanned {
            seq: 2,
            task: key("1.1"),
            fix: TaskId::parse("1.1.1").unwrap(),
            again: false,
            repair,
        }
    }

    fn said(id: &str, words: &str) -> Event {
        let failure = FailureRecord {
            last_words: words.to_owned(),
            ..FailureRecord::default()
        };
        Event::AttemptEnded {
            task: key(id),
            attempt: 1,
            charged: true,
            counted: None,
            report: Box::new(AttemptReport {
                failure,
                ..AttemptReport::default()
            }),
        }
    }

    fn run_started() -> Event {
        let config = RunConfig {
            agent: "claude".to_owned().into(),
            ..RunConfig::default()
        };
        Event::RunStarted {
            run: "a".to_owned(),
            config,
            after_limit: false,
            lost: vec![],
            earlier: vec![],
            environment: vec![],
        }
    }

    /// A failure, and what follows it.
    fn first_failure(after: Vec<Event>) -> FailureDigest {
        let events = vec![run_started(), started("1.1", 1), failed("1.1", 1, "boom")];
        let found = digest([events, after].concat()).unwrap();
        found.failures[0].clone()
    }

    #[test]
    fn a_fix_that_helped_is_kept_with_what_its_agent_said() {
        let words = "Set LC_ALL\nin setup.cfg";
        let after = |end| {
            vec![
                fix_planned(None),
                started("1.1.1", 1),
                said("1.1.1", words),
                end,
            ]
        };
        let healed = first_failure(after(done("1.1")));
        assert_eq!(healed.response.as_deref(), Some("fix task"));
        assert_eq!(healed.note.as_deref(), Some("Set LC_ALL in setup.cfg"));
        let failed_again = first_failure(after(failed("1.1", 2, "boom")));
        assert_eq!(
            (failed_again.helped, failed_again.note),
            (Some(false), None)
        );
    }

    #[test]
    fn a_persons_words_are_kept_if_they_helped() {
        let asked = Event::PersonAsked {
            seq: 2,
            task: key("1.1"),
            why: String::new(),
            repair: None,
        };
        let answer = regreen_model::PersonAnswer::Context {
            text: "Use port 81".to_owned(),
        };
        let answered = Event::PersonAnswered {
            task: key("1.1"),
            answer,
        };
        let told = first_failure(vec![asked, answered, said("1.1", "Done"), done("1.1")]);
        assert_eq!(told.response.as_deref(), Some("a person"));
        assert_eq!(told.note.as_deref(), Some("Use port 81"));
    }

    #[test]
    fn a_repair_that_could_not_be_made_says_nothing_about_the_repair() {
        let ended = |result| Event::RepairEnded {
            task: key("1.1.1"),
            result,
        };
        let repair = |result| {
            let again = failed("1.1", 1, "boom");
            first_failure(vec![fix_planned(Some("PyYAML")), ended(result), again])
        };
        let done = repair(RepairResult::Done {
            did: String::new(),
            environment: vec![],
        });
        assert_eq!(done.response.as_deref(), Some("repair pip_install PyYAML"));
        assert_eq!(done.helped, Some(false));
        let failed = repair(RepairResult::Failed { why: String::new() });
        assert_eq!(failed.response.as_deref(), Some("fix task"));
    }

    #[test]
    fn advice_counts_as_given_only_if_a_prompt_followed() {
        let advice = |response| {
            let after = vec![recalled("1.1", "more time"), response, done("1.1")];
            let failure = first_failure(after);
            (failure.known, failure.advice)
        };
        let given = advice(fix_planned(None));
        assert_eq!(given, (Some(true), vec!["more time".to_owned()]));
        assert_eq!(advice(fix_planned(Some("PyYAML"))), (Some(true), vec![]));
        let unknown = Event::Recalled {
            task: key("1.1"),
            experience: None,
        };
        let after = vec![unknown, started("1.1", 2), done("1.1")];
        assert_eq!(first_failure(after).known, Some(false));
        assert_eq!(first_failure(vec![done("1.1")]).known, None);
    }

    #[test]
    fn a_task_that_was_interrupted_says_nothing_yet() {
        assert_eq!(digest(vec![started("1.1", 1), ended("1.1", 1)]), None);
        assert_eq!(digest(Vec::new()), None);
    }

    #[test]
    fn a_delegation_counts_once_all_its_attempts_have_ended() {
        let attempt = |number, outcome: Option<&str>, kind: Option<&str>| Delegation {
            id: "child-1".to_owned(),
            number,
            at_ms: i64::from(number) * 1_000,
            agent: "claude".to_owned(),
            outcome: outcome.map(str::to_owned),
            duration_ms: Some(500),
            kind: kind.map(str::to_owned),
            message: kind.map(str::to_owned),
            tried: Some("tried again with the failure explained, within 600s".to_owned()),
            helped: Some(true),
            ..Delegation::default()
        };
        let first = attempt(1, Some("failed"), Some("test_failure"));
        assert_eq!(
            of_delegation(&[first.clone(), attempt(2, None, None)]),
            None
        );
        let found = of_delegation(&[first, attempt(2, Some("completed"), None)]).unwrap();
        let task = &found.tasks[0];
        assert_eq!(
            (task.attempts, task.first_pass, task.passed),
            (2, false, true)
        );
        assert_eq!(task.time_ms, 1_000);
        assert_eq!(
            found.failures[0].response.as_deref(),
            Some("another attempt")
        );
        assert_eq!(found.failures.len(), 1);
    }
}
