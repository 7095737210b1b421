mod figures;
mod text;

use std::collections::BTreeSet;

use regreen_model::{
    ChoiceKind, Event, Mark, OutlineRow, PersonAnswer, PersonChoice, PlanChanges, PromptKind,
    RunOutcome, TaskKey, Timestamp,
};
use serde::{Serialize, Serializer};

pub use figures::{Attempts, Figures, Fixes, Originals, PlanFigures, Tokens, Waits};

use crate::outline::Outline;
use crate::reporter::Reporter;
use crate::tally::Tally;

/// What a run came to: a fold of its events, those of before a pause or a crash included.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    tally: Tally,
    outline: Outline,
    attempts: u32,
    waits: u32,
    /// The wait that has not ended.
    waiting_since: Option<Timestamp>,
    active_ms: u64,
    last: Timestamp,
    /// The last thing that happened is that a person was asked.
    is_asking: bool,
    /// Tasks that passed with something to be said about them, in that order.
    marked: Vec<(TaskKey, BTreeSet<Mark>)>,
    skipped: Vec<TaskKey>,
    failed: Option<TaskKey>,
    /// Tasks that a person was asked about and has not decided about.
    waiting: Vec<TaskKey>,
    plan: PlanHistory,
    warnings: u32,
    outcome: Option<RunOutcome>,
}

/// What agents did to the plan, each task once.
#[derive(Clone, Debug, Default)]
struct PlanHistory {
    added: Vec<TaskKey>,
    edited: Vec<TaskKey>,
    put_back: Vec<TaskKey>,
    taken_back: Vec<TaskKey>,
}

impl Summary {
    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The plan as it was last read, with what was done since.
    pub(crate) fn rows(&self) -> &[OutlineRow] {
        self.outline.rows()
    }

    /// Whether the plan differs from what was known.
    pub(crate) fn replace_outline(&mut self, rows: &[OutlineRow]) -> bool {
        self.outline.replace(rows)
    }

    /// The same, for both what happens and what happened.
    fn apply(&mut self, now: Timestamp, event: &Event) {
        self.tally.apply(event);
        self.outline.apply(event);
        self.count_time(now, event);
        match event {
            Event::RunStarted { .. } => self.begin(now),
            Event::RunResumed { .. } => self.outcome = None,
            Event::Chosen { choice } => self.choose(choice),
            Event::TaskPicked { task } => self.reopen(&task.task),
            Event::PersonAsked { task, .. } => add(&mut self.waiting, [task]),
            Event::PersonAnswered { task, answer } => self.answer(task, answer),
            Event::AttemptStarted { task, prompt, .. } => {
                self.waiting.retain(|waiting| waiting != task);
                // A reminder is part of the attempt before it.
                self.attempts += u32::from(*prompt != PromptKind::Reminder);
            }
            Event::AttemptEnded { report, .. } => self.plan.note(&report.plan),
            Event::ClaimsJudged { taken_back, .. } => add(&mut self.plan.taken_back, taken_back),
            Event::TaskFailed { task, .. } => self.failed = Some(task.clone()),
            Event::TaskDone { task, marks, .. } => self.done(task, marks),
            Event::TaskSkipped { task } => add(&mut self.skipped, [task]),
            Event::WaitStarted { since, .. } => self.wait(*since),
            Event::WaitEnded { .. } => self.waiting_since = None,
            Event::Warned { .. } => self.warnings += 1,
            Event::RunEnded { outcome } => self.outcome = Some(outcome.clone()),
            _ => {}
        }
    }

    fn begin(&mut self, now: Timestamp) {
        *self = Self {
            tally: self.tally.clone(),
            outline: self.outline.clone(),
            last: now,
            ..Self::default()
        };
    }

    /// Nobody worked on it between the last event of one process and the first of the next,
    /// nor while a person was asked.
    fn count_time(&mut self, now: Timestamp, event: &Event) {
        if !matches!(event, Event::RunResumed { .. }) && !self.is_asking {
            self.active_ms = self.active_ms.saturating_add(now.since(self.last));
        }
        self.is_asking = matches!(event, Event::PersonAsked { .. });
        self.last = now;
    }

    /// What was said about a task holds no more when it is worked on again.
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
        self.reopen(task);
        if !marks.is_empty() {
            self.marked.push((task.clone(), marks.clone()));
        }
        self.failed.take_if(|failed| failed == task);
    }

    /// A wait that goes on after a crash is the same wait.
    fn wait(&mut self, since: Timestamp) {
        if self.waiting_since != Some(since) {
            self.waits += 1;
        }
        self.waiting_since = Some(since);
    }

    fn waited_ms(&self) -> u64 {
        let unfinished = self.waiting_since.map_or(0, |since| self.last.since(since));
        self.tally.waited_ms.saturating_add(unfinished)
    }
}

impl PlanHistory {
    fn note(&mut self, changes: &PlanChanges) {
        add(&mut self.added, &changes.added);
        add(&mut self.edited, &changes.edited);
        add(&mut self.put_back, &changes.put_back);
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
