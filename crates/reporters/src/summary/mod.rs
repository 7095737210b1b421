mod figures;
mod text;

use std::collections::BTreeSet;

use regreen_model::{
    ChoiceKind, Event, Mark, NotRepeated, OutlineRow, PersonAnswer, PersonChoice, PlanChanges,
    PromptKind, RunOutcome, TaskKey, Timestamp,
};
use serde::{Serialize, Serializer};

pub use figures::{
    Attempts, Figures, Fixes, Originals, PlanFigures, PublicNotRepeated, PublicTask, Tokens, Waits,
};

use crate::reporter::Reporter;
use crate::totals::{Outline, RunTotals};

/// The result of a run: a fold of its events, including those before a pause or a crash.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The command line that continues the run.
    run_command: Option<String>,
    totals: RunTotals,
    outline: Outline,
    attempts: u32,
    waits: u32,
    /// When the current wait started.
    waiting_since: Option<Timestamp>,
    active_ms: u64,
    last: Timestamp,
    /// The last event was a question to a person.
    is_asking: bool,
    /// Tasks that passed.
    done: BTreeSet<TaskKey>,
    /// Tasks that passed with a mark, in the order in which they passed.
    marked: Vec<(TaskKey, BTreeSet<Mark>)>,
    skipped: Vec<TaskKey>,
    /// Fixes that were ticked without being run.
    superseded: Vec<TaskKey>,
    failed: Option<TaskKey>,
    /// Tasks that a person was asked about and has not decided yet.
    waiting: Vec<TaskKey>,
    plan: PlanHistory,
    /// Tasks that had passed but failed at the end, each once.
    regressed: Vec<TaskKey>,
    /// The checks that the last final check left out.
    not_repeated: Vec<NotRepeated>,
    warnings: Vec<PastWarning>,
    /// How many results have been reported.
    results: u32,
    outcome: Option<RunOutcome>,
}

/// After this many results, a warning has scrolled off most screens.
const RESULTS_ON_SCREEN: u32 = 10;

/// A warning, and how many results had been reported before it.
#[derive(Clone, Debug)]
struct PastWarning {
    message: String,
    results: u32,
}

/// Agents' changes to the plan, each task once.
#[derive(Clone, Debug, Default)]
struct PlanHistory {
    added: Vec<TaskKey>,
    edited: Vec<TaskKey>,
    put_back: Vec<TaskKey>,
    taken_back: Vec<TaskKey>,
    reverted: Vec<TaskKey>,
}

impl Summary {
    /// Creates a summary that names this command if the run can be continued.
    #[must_use]
    pub fn new(run_command: String) -> Self {
        Self {
            run_command: Some(run_command),
            ..Self::default()
        }
    }

    pub(crate) fn totals(&self) -> &RunTotals {
        &self.totals
    }

    /// Returns the plan as last read, with the tasks that were done since.
    pub(crate) fn rows(&self) -> &[OutlineRow] {
        self.outline.rows()
    }

    /// Replaces the plan, and returns whether it has changed.
    pub(crate) fn replace_outline(&mut self, rows: &[OutlineRow]) -> bool {
        self.outline.replace(rows)
    }

    fn apply(&mut self, now: Timestamp, event: &Event) {
        self.totals.apply(event);
        self.outline.apply(event);
        self.count_time(now, event);
        match event {
            Event::RunStarted { .. } => self.begin(now),
            Event::RunResumed { .. } => {
                self.outcome = None;
                // What an earlier process has printed may be gone.
                self.results += RESULTS_ON_SCREEN;
            }
            Event::Chosen { choice } => self.choose(choice),
            Event::TaskPicked { task } => {
                self.reopen(&task.task);
                self.superseded.retain(|fix| *fix != task.task);
            }
            Event::FixesSuperseded { fixes, .. } => add(&mut self.superseded, fixes),
            Event::PersonAsked { task, .. } => add(&mut self.waiting, [task]),
            Event::PersonAnswered { task, answer } => self.answer(task, answer),
            Event::AttemptStarted { task, prompt, .. } => {
                self.waiting.retain(|waiting| waiting != task);
                // A reminder is part of the attempt before it.
                self.attempts += u32::from(*prompt != PromptKind::Reminder);
            }
            Event::AttemptEnded { report, .. } => self.plan.note(&report.plan),
            Event::PlanReviewed { changes, .. } => {
                self.plan.note(changes);
                let ticked = changes.claims.iter().map(|claim| &claim.task);
                add(&mut self.plan.taken_back, ticked);
            }
            Event::ClaimsJudged { taken_back, .. } => add(&mut self.plan.taken_back, taken_back),
            Event::TaskFailed { task, .. } => {
                self.results += 1;
                self.failed = Some(task.clone());
            }
            Event::TaskDone { task, marks, .. } => self.done(task, marks),
            Event::TaskReopened { task } => add(&mut self.regressed, [task]),
            Event::FinalCheckEnded {
                flaky,
                known_failures,
                not_repeated,
                ..
            } => {
                self.not_repeated.clone_from(not_repeated);
                for task in flaky {
                    self.mark(task, Mark::Flaky);
                }
                for task in known_failures {
                    self.mark(task, Mark::KnownFailures);
                }
            }
            Event::TaskSkipped { task } => add(&mut self.skipped, [task]),
            Event::WaitStarted { since, .. } => self.wait(*since),
            Event::WaitEnded { .. } => self.waiting_since = None,
            Event::Warned { message } => self.warnings.push(PastWarning {
                message: message.clone(),
                results: self.results,
            }),
            Event::RunEnded { outcome } => self.outcome = Some(outcome.clone()),
            _ => {}
        }
    }

    fn begin(&mut self, now: Timestamp) {
        *self = Self {
            run_command: self.run_command.take(),
            totals: self.totals.clone(),
            outline: self.outline.clone(),
            last: now,
            ..Self::default()
        };
    }

    /// Counts the elapsed time, except between two processes and while a person is asked.
    fn count_time(&mut self, now: Timestamp, event: &Event) {
        if !matches!(event, Event::RunResumed { .. }) && !self.is_asking {
            self.active_ms = self.active_ms.saturating_add(now.since(self.last));
        }
        self.is_asking = matches!(event, Event::PersonAsked { .. });
        self.last = now;
    }

    /// Forgets the marks of a task that is worked on again.
    fn reopen(&mut self, task: &TaskKey) {
        self.marked.retain(|(marked, _)| marked != task);
        self.skipped.retain(|skipped| skipped != task);
    }

    fn answer(&mut self, task: &TaskKey, answer: &PersonAnswer) {
        if *answer != PersonAnswer::Stop {
            self.waiting.retain(|waiting| waiting != task);
        }
    }

    fn choose(&mut self, choice: &PersonChoice) {
        self.waiting.retain(|waiting| *waiting != choice.task);
        match choice.what {
            ChoiceKind::Skip => add(&mut self.skipped, [&choice.task]),
            ChoiceKind::Done | ChoiceKind::Retry => self.reopen(&choice.task),
        }
    }

    fn done(&mut self, task: &TaskKey, marks: &BTreeSet<Mark>) {
        self.results += 1;
        self.reopen(task);
        self.done.insert(task.clone());
        if !marks.is_empty() {
            self.marked.push((task.clone(), marks.clone()));
        }
        self.failed.take_if(|failed| failed == task);
    }

    fn mark(&mut self, task: &TaskKey, mark: Mark) {
        match self.marked.iter_mut().find(|(marked, _)| marked == task) {
            Some((_, marks)) => drop(marks.insert(mark)),
            None => self.marked.push((task.clone(), BTreeSet::from([mark]))),
        }
    }

    /// Counts a wait. One that continues after a crash is the same wait.
    fn wait(&mut self, since: Timestamp) {
        if self.waiting_since != Some(since) {
            self.waits += 1;
        }
        self.waiting_since = Some(since);
    }

    /// Returns the warnings that people no longer see on their screen.
    fn past_warnings(&self) -> impl Iterator<Item = String> {
        let warnings = self.warnings.iter();
        let is_past = |warning: &&PastWarning| self.results - warning.results >= RESULTS_ON_SCREEN;
        warnings
            .filter(is_past)
            .map(|warning| warning.message.clone())
    }

    fn waited_ms(&self) -> u64 {
        let unfinished = self.waiting_since.map_or(0, |since| self.last.since(since));
        self.totals.waited_ms.saturating_add(unfinished)
    }
}

impl PlanHistory {
    fn note(&mut self, changes: &PlanChanges) {
        add(&mut self.added, &changes.added);
        add(&mut self.edited, &changes.edited);
        add(&mut self.put_back, &changes.put_back);
        add(&mut self.reverted, &changes.reverted);
    }
}

fn add<'a>(list: &mut Vec<TaskKey>, tasks: impl IntoIterator<Item = &'a TaskKey>) {
    for task in tasks {
        if !list.contains(task) {
            list.push(task.clone());
        }
    }
}

impl Reporter for Summary {
    fn outline(&mut self, rows: &[OutlineRow]) {
        self.replace_outline(rows);
    }

    fn recall(&mut self, at: Timestamp, event: &Event) {
        self.apply(at, event);
    }

    fn event(&mut self, now: Timestamp, event: &Event) {
        self.apply(now, event);
    }

    fn finish(&mut self, _now: Timestamp) {}
}

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.figures().serialize(serializer)
    }
}
