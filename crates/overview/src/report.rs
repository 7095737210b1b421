//! What a run has done, for someone who wasn't there.

use regreen_model::{Mark, RunOutcome, Spending, TaskKey, Timestamp};
use serde::Serialize;

use crate::run_view::RunView;
use crate::task_view::TaskView;

/// More attempts than this are worth a look.
const MANY_ATTEMPTS: u32 = 3;

/// The report about one run. Tasks are named by their originals: what their fixes used counts for
/// them.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The version of this format.
    pub v: u8,
    /// The id of the run.
    pub run: String,
    /// The name of the spec.
    pub spec: String,
    /// The agent.
    pub agent: String,
    /// When the run started.
    pub started: String,
    /// When it ended or paused; `null` while it is active, or if it was killed.
    pub ended: Option<String>,
    /// How it ended or paused.
    pub outcome: Option<&'static str>,
    /// Whether a process is working on it.
    pub is_active: bool,
    /// What the run has used.
    pub spent: Spending,
    /// How long it has waited.
    pub waited_ms: u64,
    /// The originals that are done.
    pub done: Vec<ReportedTask>,
    /// The originals that the run turned to, and that are still open.
    pub open: Vec<ReportedTask>,
    /// The originals that passed after fixes.
    pub healed: Vec<Healed>,
    /// Tasks that wait for a person.
    pub questions: Vec<ReportedQuestion>,
    /// Rows in which changes or ticks of an agent were taken back.
    pub taken_back: Vec<ReportedTask>,
    /// Tasks that no longer passed in the final check.
    pub regressed: Vec<ReportedTask>,
    /// Tasks that were ticked before the spec's first run, so that regreen never checked them.
    pub ticked_before: Vec<ReportedTask>,
    /// All warnings, in full.
    pub warnings: Vec<String>,
    /// What to look at first, most important first.
    pub review_first: Vec<ReviewReason>,
}

/// One task in a report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReportedTask {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The number of attempts, those of its fixes included.
    pub attempts: u32,
    /// What it used, its fixes included.
    pub spent: Spending,
    /// The remarks about it.
    pub marks: Vec<Mark>,
    /// The hashes of its commits, those of its fixes first.
    pub commits: Vec<String>,
    /// Why it failed last, if it is open.
    pub failure: Option<String>,
}

/// A task that passed after fixes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Healed {
    /// The id of the task.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The causes with the fixes for them, in order.
    pub fixes: Vec<CauseAndFix>,
}

/// Why a task had failed, and what was done about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CauseAndFix {
    /// The cause.
    pub cause: String,
    /// The id of the fix task.
    pub fix: String,
    /// The title of the fix task.
    pub title: String,
    /// The commit of the fix.
    pub commit: Option<String>,
}

/// A task that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportedQuestion {
    /// The id of the task.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Why a person has to decide.
    pub why: String,
    /// When it was asked.
    pub asked: String,
}

/// A task that is worth a look, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReviewReason {
    /// The id of the task.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The reasons.
    pub why: Vec<String>,
}

impl Report {
    /// Reports about a run.
    #[must_use]
    pub fn new(view: &RunView, spec: &str, is_active: bool) -> Self {
        let originals = || {
            let tasks = view.tasks.iter();
            tasks.filter(|task| !task.is_fix() && !task.is_group)
        };
        let outcome = view.outcome.as_ref().filter(|_| !is_active);
        let named = |keys: &[TaskKey]| keys.iter().map(ReportedTask::named).collect();
        let regressed = view.regressed.iter();
        let regressed: Vec<TaskKey> = regressed.map(|found| found.task.clone()).collect();
        let mut taken_back = view.taken_back.clone();
        taken_back.sort();
        taken_back.dedup();
        Self {
            v: 1,
            run: view.run.clone(),
            spec: spec.to_owned(),
            agent: view.agent().to_string(),
            started: view.started.iso8601(),
            ended: view.ended.map(Timestamp::iso8601),
            outcome: outcome.map(RunOutcome::name),
            is_active,
            spent: view.spent,
            waited_ms: view.waited_ms,
            done: originals()
                .filter(|task| task.done)
                .map(|task| ReportedTask::of(view, task))
                .collect(),
            open: originals()
                .filter(|task| !task.done)
                .map(|task| ReportedTask::of(view, task))
                .collect(),
            healed: originals()
                .filter_map(|task| Healed::of(view, task))
                .collect(),
            questions: view
                .questions()
                .map(|(task, question)| ReportedQuestion {
                    id: task.key.id.to_string(),
                    title: task.key.title.clone(),
                    why: question.why.clone(),
                    asked: question.asked.iso8601(),
                })
                .collect(),
            taken_back: named(&taken_back),
            regressed: named(&regressed),
            ticked_before: named(&ticked_before(view)),
            warnings: view.warnings.clone(),
            review_first: review_first(view, &taken_back),
        }
    }

    /// Returns the done tasks with a mark.
    pub fn marked(&self, mark: Mark) -> impl Iterator<Item = &ReportedTask> {
        let done = self.done.iter();
        done.filter(move |task| task.marks.contains(&mark))
    }
}

impl ReportedTask {
    fn named(key: &TaskKey) -> Self {
        Self {
            id: key.id.to_string(),
            title: key.title.clone(),
            ..Self::default()
        }
    }

    fn of(view: &RunView, task: &TaskView) -> Self {
        let mut found = Self {
            marks: task.marks.iter().copied().collect(),
            failure: task
                .failure
                .as_ref()
                .filter(|_| !task.done)
                .map(|failure| failure.cause().to_owned()),
            ..Self::named(&task.key)
        };
        let parts = view.tasks.iter().filter(|other| other.root == task.key);
        for part in parts.clone() {
            found.attempts += part.attempts;
            found.spent = sum(found.spent, part.spent);
        }
        let (fixes, own): (Vec<_>, Vec<_>) = parts.partition(|part| part.is_fix());
        let commits = fixes.iter().chain(&own);
        found.commits = commits.filter_map(|part| part.commit.clone()).collect();
        found.commits.dedup();
        found
    }
}

impl Healed {
    fn of(view: &RunView, task: &TaskView) -> Option<Self> {
        let family = view.tasks.iter().filter(|other| other.root == task.key);
        let fixes: Vec<CauseAndFix> = family
            .flat_map(|part| &part.fixes)
            .filter_map(|fix| {
                let done = view.tasks.iter().find(|other| other.key.id == fix.id);
                let done = done.filter(|other| other.done && !other.superseded)?;
                Some(CauseAndFix {
                    cause: fix
                        .cause
                        .as_ref()
                        .map(|cause| cause.cause().to_owned())
                        .unwrap_or_default(),
                    fix: fix.id.to_string(),
                    title: done.key.title.clone(),
                    commit: done.commit.clone(),
                })
            })
            .collect();
        (task.done && !fixes.is_empty()).then(|| Self {
            id: task.key.id.to_string(),
            title: task.key.title.clone(),
            fixes,
        })
    }
}

fn sum(mut one: Spending, more: Spending) -> Spending {
    one.input_tokens = one.input_tokens.saturating_add(more.input_tokens);
    one.output_tokens = one.output_tokens.saturating_add(more.output_tokens);
    one.add_time(more.time_ms);
    let costs = [one.cost_micro_usd, more.cost_micro_usd];
    one.cost_micro_usd = costs.into_iter().flatten().reduce(u64::saturating_add);
    one
}

/// Returns the tasks that were ticked before the first run and that this one didn't do.
fn ticked_before(view: &RunView) -> Vec<TaskKey> {
    let is_done_by_run =
        |key: &TaskKey| view.tasks.iter().any(|task| task.done && task.key == *key);
    let ticked = view.config.ticked_before.iter();
    ticked.filter(|key| !is_done_by_run(key)).cloned().collect()
}

/// Returns the done tasks that deserve a look, those with the most reasons first.
fn review_first(view: &RunView, taken_back: &[TaskKey]) -> Vec<ReviewReason> {
    let done = view.tasks.iter();
    let done = done.filter(|task| task.done && !task.is_group && !task.superseded);
    let mut found: Vec<ReviewReason> = done
        .filter_map(|task| {
            let why = reasons(task, taken_back);
            (!why.is_empty()).then(|| ReviewReason {
                id: task.key.id.to_string(),
                title: task.key.title.clone(),
                why,
            })
        })
        .collect();
    found.sort_by_key(|reason| std::cmp::Reverse(reason.why.len()));
    found
}

fn reasons(task: &TaskView, taken_back: &[TaskKey]) -> Vec<String> {
    let mut why: Vec<String> = task.marks.iter().map(ToString::to_string).collect();
    if taken_back.contains(&task.key) {
        why.push("changes of its row were taken back".to_owned());
    }
    match task.fixes.len() {
        0 => {}
        1 => why.push("passed after a fix".to_owned()),
        count => why.push(format!("passed after {count} fixes")),
    }
    if task.attempts > MANY_ATTEMPTS {
        why.push(format!("took {} attempts", task.attempts));
    }
    why
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use regreen_model::{
        AttemptReport, Event, FailureRecord, PickedTask, PromptKind, TaskId, Usage,
    };

    use super::*;

    fn key(id: &str) -> TaskKey {
        TaskKey {
            id: TaskId::parse(id).unwrap(),
            occurrence: 0,
            title: format!("Task {id}"),
        }
    }

    fn picked(id: &str, root: &str) -> Event {
        let task = PickedTask {
            task: key(id),
            root: key(root),
            index: 0,
            total: 1,
            is_verify: false,
            is_red: false,
            is_group: false,
            has_fixes: false,
            has_own_verify: false,
            verify: Vec::new(),
            commit: None,
            declines_commit: false,
            failed_before: None,
            services: Vec::new(),
            features: None,
        };
        Event::TaskPicked {
            task: Box::new(task),
        }
    }

    fn attempt(id: &str, cost: u64) -> [Event; 2] {
        let report = AttemptReport {
            usage: Some(Usage {
                cost_micro_usd: Some(cost),
                ..Usage::default()
            }),
            ..AttemptReport::default()
        };
        [
            Event::AttemptStarted {
                seq: 1,
                task: key(id),
                attempt: 1,
                prompt: PromptKind::First,
                timeout_ms: 1,
            },
            Event::AttemptEnded {
                task: key(id),
                attempt: 1,
                charged: true,
                counted: None,
                report: Box::new(report),
            },
        ]
    }

    fn done(id: &str, marks: &[Mark], hash: &str) -> Event {
        Event::TaskDone {
            task: key(id),
            marks: marks.iter().copied().collect::<BTreeSet<_>>(),
            hash: Some(hash.to_owned()),
        }
    }

    fn report() -> Report {
        let failed = Event::TaskFailed {
            task: key("1.1"),
            attempt: 1,
            failure: FailureRecord::new("no such file"),
            only_red: false,
        };
        let fix = Event::FixInserted {
            task: key("1.1"),
            fix: TaskId::parse("1.1.1").unwrap(),
        };
        let mut events = vec![picked("1.1", "1.1")];
        events.extend(attempt("1.1", 10));
        events.extend([failed, fix, picked("1.1.1", "1.1")]);
        events.extend(attempt("1.1.1", 5));
        events.extend([done("1.1.1", &[], "aaa"), done("1.1", &[], "bbb")]);
        events.push(picked("1.2", "1.2"));
        events.push(done("1.2", &[Mark::Unverified, Mark::Flaky], "ccc"));
        let mut view = RunView::default();
        for event in &events {
            view.apply(Timestamp::from_millis(1), event);
        }
        Report::new(&view, "demo", false)
    }

    #[test]
    fn a_healed_task_is_told_with_its_cause_and_its_fix() {
        let report = report();
        let healed = report.healed.first().unwrap();
        let fix = healed.fixes.first().unwrap();
        assert_eq!(healed.id, "1.1");
        assert_eq!(
            (fix.cause.as_str(), fix.fix.as_str()),
            ("no such file", "1.1.1")
        );
        assert_eq!(fix.commit.as_deref(), Some("aaa"));
    }

    #[test]
    fn what_fixes_use_counts_for_the_original() {
        let report = report();
        let first = report.done.first().unwrap();
        assert_eq!((first.id.as_str(), first.attempts), ("1.1", 2));
        assert_eq!(first.spent.cost_micro_usd, Some(15));
        assert_eq!(first.commits, ["aaa", "bbb"]);
    }

    #[test]
    fn the_task_with_the_most_reasons_is_reviewed_first() {
        let report = report();
        let order: Vec<&str> = report
            .review_first
            .iter()
            .map(|one| one.id.as_str())
            .collect();
        assert_eq!(order, ["1.2", "1.1"]);
        assert_eq!(report.marked(Mark::Flaky).count(), 1);
    }
}
