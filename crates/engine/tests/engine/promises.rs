//! What must hold for every run, whatever happened in it.

use std::collections::{BTreeMap, BTreeSet};

use regreen_documents::TaskFile;
use regreen_model::{
    AttemptReport, ChoiceKind, Event, PersonChoice, RunOutcome, Task, TaskId, TaskKey, Verdict,
};

use crate::world::{World, open_tasks};

pub(crate) fn check(seed: u64, world: &World) {
    let ticked_before = ticked(&world.tasks_before);
    let mut told = Told {
        seed,
        limit: world.state.config.limits.task_iterations,
        done: ticked_before.iter().collect(),
        fixes_allowed: world.state.config.limits.fixes_per_task,
        ..Told::default()
    };
    for event in &world.events {
        told.hear(event);
    }
    told.check_boxes(world);
    assert!(
        world.state.waited_ms <= world.state.config.max_wait_ms + 1_000,
        "seed {seed}: waited too long"
    );
    let open = open_tasks(&world.tasks).len();
    match world.state.outcome {
        Some(RunOutcome::AllGreen) => assert_eq!(
            open, 0,
            "seed {seed}: green with open tasks\n{}",
            world.tasks
        ),
        Some(RunOutcome::Skipped) => {
            assert!(!told.skipped.is_empty(), "seed {seed}: nobody skipped");
        }
        _ => {}
    }
}

/// What the events have told so far.
#[derive(Default)]
struct Told<'e> {
    seed: u64,
    limit: u32,
    /// By regreen or by people.
    done: BTreeSet<&'e TaskKey>,
    skipped: BTreeSet<&'e TaskKey>,
    choice: u64,
    /// The number of the last attempt, and whether it is still being made.
    attempts: BTreeMap<&'e TaskKey, (u32, bool)>,
    /// Charged since the task was last asked to be tried again.
    charged: BTreeMap<&'e TaskKey, u32>,
    passed: BTreeMap<&'e TaskKey, bool>,
    signalled: BTreeMap<&'e TaskKey, bool>,
    /// Tasks that repair others.
    fixes: BTreeSet<&'e TaskKey>,
    /// The fixes that were made, by the task they repair.
    made: BTreeMap<&'e TaskKey, Vec<&'e TaskId>>,
    fixes_allowed: u32,
}

impl<'e> Told<'e> {
    fn hear(&mut self, event: &'e Event) {
        match event {
            Event::Chosen { choice } => self.hear_choice(choice),
            Event::AttemptStarted { task, attempt, .. } => self.hear_start(task, *attempt),
            Event::AttemptEnded {
                task,
                attempt,
                charged,
                report,
            } => self.hear_end(task, *attempt, *charged, report),
            Event::VerifyEnded { task, verdict, .. } => {
                self.passed
                    .insert(task, !matches!(verdict, Verdict::Red { .. }));
            }
            Event::TickAsked {
                task, done: true, ..
            } => self.hear_tick(task),
            Event::TaskDone { task, .. } => {
                self.done.insert(task);
            }
            Event::TaskPicked { task } if task.is_fix() => {
                self.fixes.insert(&task.task);
            }
            Event::FixInserted { task, fix } => self.hear_fix(task, fix),
            Event::FixesSuperseded { fixes, .. } => self.done.extend(fixes),
            _ => {}
        }
    }

    fn hear_choice(&mut self, choice: &'e PersonChoice) {
        let (seed, task) = (self.seed, &choice.task);
        assert!(
            choice.number > self.choice,
            "seed {seed}: a choice was heard twice"
        );
        self.choice = choice.number;
        match choice.what {
            ChoiceKind::Skip => {
                self.skipped.insert(task);
            }
            ChoiceKind::Done => {
                self.skipped.remove(task);
                self.done.insert(task);
            }
            ChoiceKind::Retry => {
                self.skipped.remove(task);
                self.done.remove(task);
                self.charged.remove(task);
            }
        }
    }

    fn hear_start(&mut self, task: &'e TaskKey, attempt: u32) {
        let seed = self.seed;
        assert!(
            !self.done.contains(task),
            "seed {seed}: {task} ran again after it was done"
        );
        assert!(
            !self.skipped.contains(task),
            "seed {seed}: {task} ran though it is skipped"
        );
        let (last, is_open) = self.attempts.get(task).copied().unwrap_or_default();
        assert!(
            attempt == last + 1 && !is_open,
            "seed {seed}: attempt {attempt} of {task} follows {last}"
        );
        self.attempts.insert(task, (attempt, true));
        self.passed.insert(task, false);
    }

    fn hear_end(&mut self, task: &'e TaskKey, attempt: u32, charged: bool, report: &AttemptReport) {
        let seed = self.seed;
        let count = self.charged.entry(task).or_default();
        *count += u32::from(charged);
        assert!(
            *count <= self.limit,
            "seed {seed}: more attempts than allowed"
        );
        self.attempts.insert(task, (attempt, false));
        self.signalled.insert(
            task,
            report.signalled && !report.reports_failure && report.contradiction.is_none(),
        );
    }

    fn hear_fix(&mut self, task: &'e TaskKey, fix: &'e TaskId) {
        let seed = self.seed;
        let made = self.made.entry(task).or_default();
        assert!(!made.contains(&fix), "seed {seed}: {fix} was made twice");
        made.push(fix);
        let count = u32::try_from(made.len()).unwrap_or(u32::MAX);
        assert!(
            count <= self.fixes_allowed,
            "seed {seed}: {task} got {count} fixes"
        );
    }

    fn hear_tick(&self, task: &TaskKey) {
        let seed = self.seed;
        // The task that a fix is for is the judge of it.
        assert!(
            self.fixes.contains(task) || self.passed.get(task).copied().unwrap_or(false),
            "seed {seed}: {task} ticked without evidence"
        );
        assert!(
            self.signalled.get(task).copied().unwrap_or(true),
            "seed {seed}: {task} ticked without a signal"
        );
    }

    /// A box is ticked if, and only if, somebody may say so; and no attempt is left without
    /// its end.
    fn check_boxes(&self, world: &World) {
        let seed = self.seed;
        for key in TaskFile::read(world.tasks.as_str())
            .tasks()
            .iter()
            .filter_map(Task::key)
        {
            let is_ticked = ticked(&world.tasks).contains(&key);
            let is_done = self.done.contains(&key);
            assert_eq!(is_ticked, is_done, "seed {seed}: {key}\n{}", world.tasks);
        }
        assert!(
            self.attempts.values().all(|(_, is_open)| !is_open),
            "seed {seed}: an attempt has no end"
        );
    }
}

fn ticked(tasks: &str) -> BTreeSet<TaskKey> {
    let tasks = TaskFile::read(tasks).tasks();
    let done = tasks.iter().filter(|task| task.done);
    done.filter_map(Task::key).collect()
}
