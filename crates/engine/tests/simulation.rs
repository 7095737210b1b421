//! Runs in a world made of numbers: agents that pass, fail, lie, time out and vanish,
//! crashes between any two steps, and what must hold whatever happens.
#![expect(clippy::panic, reason = "a promise that is broken ends the test")]

use std::collections::{BTreeMap, VecDeque};

use regreen_documents::{Next, Pick, TaskFile, commit_message, verify_commands};
use regreen_engine::{Command, CommitResult, Input, Issued, NextStep, Plan, State, decide};
use regreen_model::{
    AttemptClass, AttemptReport, Ending, Event, PickedTask, RunConfig, RunOutcome, StopSignal,
    TaskKey, Timestamp, Verdict,
};

/// A small generator of numbers that look random and can be repeated.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % sides
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.roll(n) == 0
    }
}

/// Everything outside the engine.
struct World {
    dice: Dice,
    now: Timestamp,
    tasks: String,
    state: State,
    pending: VecDeque<Issued>,
    events: Vec<Event>,
    journal: Vec<(Timestamp, Input, Vec<Event>)>,
    /// Whether a task's work is really done, as a Verify would see it.
    works: BTreeMap<String, bool>,
    trouble: u64,
    crashes: u32,
}

const PLANS: [&str; 4] = [
    "- [ ] 1.1 a\n  - **Verify**: `true`\n  - **Commit**: `feat: a`\n- [x] 1.2 b\n- [ ] 1.3 c\n  - **Verify**: `true`\n",
    "- [ ] a\n- [ ] b\n- [ ] c\n",
    "- [ ] 1. g\n  - [ ] 1.1 a\n  - [ ]* 1.2 b\n- [ ] 2. h\n  - [ ] 2.1 c\n    - **Verify**: `true`\n",
    "- [ ] T001 [P] a\r\n- [ ] T002 b\r\n\r\n## Later\r\n- [ ] T003 c",
];

impl World {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let plan = PLANS[usize::try_from(dice.roll(4)).unwrap_or(0)];
        let trouble = dice.roll(10);
        let mut world = Self {
            now: Timestamp::from_millis(1_000_000 + dice.roll(1000)),
            dice,
            tasks: plan.to_owned(),
            state: State::default(),
            pending: VecDeque::new(),
            events: Vec::new(),
            journal: Vec::new(),
            works: BTreeMap::new(),
            trouble,
            crashes: 0,
        };
        let config = RunConfig {
            max_wait_ms: 12_000,
            ..RunConfig::default()
        };
        let run = format!("run-{seed}");
        world.feed(Input::Start { run, config });
        world
    }

    fn feed(&mut self, input: Input) {
        let decision = decide(&self.state, self.now, &input);
        for event in &decision.events {
            self.state.apply(event);
        }
        self.events.extend(decision.events.iter().cloned());
        self.journal.push((self.now, input, decision.events));
        self.pending.extend(decision.commands);
    }

    /// Runs to the end; the steps are bounded, so a run that goes on for ever is seen.
    fn run(mut self) -> Self {
        for _ in 0..2_000 {
            self.now = self.now.plus(self.dice.roll(50));
            if self.crashes < 6 && self.dice.one_in(12) {
                self.crash();
            }
            if self.dice.one_in(200) {
                self.feed(Input::Stop {
                    signal: StopSignal::Interrupt,
                });
            }
            let Some(issued) = self.pending.pop_front() else {
                match &self.state.outcome {
                    Some(RunOutcome::Stopped { .. }) => self.feed(Input::Resume {
                        config: None,
                        interrupted: None,
                    }),
                    Some(_) => return self,
                    None => panic!(
                        "nothing is owed, and the run has not ended: {:?}",
                        self.state
                    ),
                }
                continue;
            };
            if let Some(input) = self.perform(&issued) {
                // Answers come late or twice: the second one must change nothing.
                let twice = self.dice.one_in(10).then(|| input.clone());
                self.feed(input);
                if let Some(again) = twice {
                    let before = self.state.clone();
                    self.feed(again);
                    assert_eq!(self.state, before, "a repeated answer changed something");
                }
            }
        }
        panic!("the run does not end");
    }

    /// The process is gone: what was only asked for is lost, what happened is not.
    fn crash(&mut self) {
        self.crashes += 1;
        self.pending.clear();
        let mut folded = State::default();
        for event in &self.events {
            folded.apply(event);
        }
        assert_eq!(folded, self.state, "events do not add up to the state");
        if self.state.outcome.as_ref().is_none_or(RunOutcome::is_pause) {
            self.feed(Input::Resume {
                config: None,
                interrupted: None,
            });
        }
    }

    fn perform(&mut self, issued: &Issued) -> Option<Input> {
        let seq = issued.seq;
        Some(match &issued.command {
            Command::ReadPlan { .. } => Input::PlanRead {
                seq,
                plan: self.plan(),
            },
            Command::Attempt(order) => Input::AttemptEnded {
                seq,
                report: Box::new(self.attempt(&order.task.task)),
            },
            Command::JudgeClaims { .. } => Input::ClaimsJudged {
                seq,
                kept: vec![],
                taken_back: vec![],
            },
            Command::Verify { task, commands, .. } => Input::Verified {
                seq,
                verdict: self.verdict(task, commands.is_empty()),
            },
            Command::Tick { task, done } => {
                self.set_box(task, *done);
                Input::Ticked { seq }
            }
            Command::Commit(_) => Input::Committed {
                seq,
                result: self.commit(),
            },
            Command::Record(_) => Input::Recorded { seq },
            Command::Wait { until } => {
                self.now = self.now.max(*until);
                Input::Waited { seq }
            }
            Command::SaveState(_) | Command::Finish => return None,
        })
    }

    fn plan(&self) -> Plan {
        let file = TaskFile::read(self.tasks.as_str());
        let next = match file.next(&Pick::default()) {
            Next::Run(row) | Next::CloseGroup(row) => {
                let is_group = file.next(&Pick::default()) == Next::CloseGroup(row);
                let (Some(task), Some(key), Some(root)) =
                    (file.task(row), file.key(row), file.key(file.root(row)))
                else {
                    panic!("a row that is next is there");
                };
                NextStep::Task(Box::new(PickedTask {
                    task: key,
                    root,
                    index: u32::try_from(file.index_of(row, false)).unwrap_or(0),
                    total: u32::try_from(file.runnable(false)).unwrap_or(0),
                    is_verify: task.is_verify(),
                    is_group,
                    verify: task
                        .fields
                        .verify
                        .as_deref()
                        .map(verify_commands)
                        .unwrap_or_default(),
                    commit: task.fields.commit.as_deref().and_then(commit_message),
                }))
            }
            Next::Nothing => NextStep::Nothing,
        };
        let total = u32::try_from(file.runnable(false)).unwrap_or(0);
        let open = u32::from(!matches!(next, NextStep::Nothing));
        Plan { next, total, open }
    }

    fn attempt(&mut self, task: &TaskKey) -> AttemptReport {
        let mut report = AttemptReport {
            signalled: true,
            files_changed: 1,
            error: "Task did not complete".to_owned(),
            ..AttemptReport::default()
        };
        let works = self.dice.roll(10) >= self.trouble;
        self.works.insert(task.title.clone(), works);
        match self.dice.roll(14) {
            0 => report.signalled = false,
            1 => report.reports_failure = true,
            2 => report.contradiction = Some("needs human".into()),
            3 => {
                report.ending = Ending {
                    timed_out: true,
                    ..Ending::default()
                }
            }
            4 => report.files_changed = 0,
            5 => {
                let until = self.dice.one_in(2).then(|| self.now.plus(5_000));
                report.class = AttemptClass::Transient {
                    why: "429".into(),
                    until,
                };
            }
            6 => {
                report.class = AttemptClass::Session {
                    why: "context overflow".into(),
                }
            }
            7 => report.class = AttemptClass::Interrupted,
            8 if self.dice.one_in(10) => {
                report.class = AttemptClass::Fatal {
                    why: "no agent".into(),
                }
            }
            _ => {}
        }
        report
    }

    fn verdict(&mut self, task: &TaskKey, nothing_to_run: bool) -> Verdict {
        let works = self.works.get(&task.title).copied().unwrap_or(true);
        if nothing_to_run {
            Verdict::Unverified
        } else if works || self.dice.one_in(8) {
            Verdict::Green
        } else {
            Verdict::Red {
                error: "exit 1".into(),
            }
        }
    }

    fn commit(&mut self) -> CommitResult {
        match self.dice.roll(8) {
            0 => CommitResult::HookFailed {
                output: "lint: no".into(),
            },
            1 => CommitResult::Nothing,
            _ => CommitResult::Done {
                hash: "abc1234".into(),
                warnings: vec![],
            },
        }
    }

    fn set_box(&mut self, task: &TaskKey, done: bool) {
        let file = TaskFile::read(self.tasks.as_str());
        let Some(row) = file.resolve(task) else {
            panic!("{task} is gone")
        };
        let change = if done {
            file.tick(row)
        } else {
            file.untick(row)
        };
        let Ok(change) = change else {
            panic!("{change:?}")
        };
        self.tasks = change.into_file(file).text().to_owned();
    }
}

/// What must hold for every run, whatever happened in it.
fn check(seed: u64, world: &World) {
    let mut done: Vec<&TaskKey> = Vec::new();
    let mut attempts: BTreeMap<&TaskKey, u32> = BTreeMap::new();
    let mut passed: BTreeMap<&TaskKey, bool> = BTreeMap::new();
    let mut signalled: BTreeMap<&TaskKey, bool> = BTreeMap::new();
    for event in &world.events {
        match event {
            Event::AttemptStarted { task, .. } => {
                assert!(
                    !done.contains(&task),
                    "seed {seed}: {task} ran again after it was done"
                );
                passed.insert(task, false);
            }
            Event::AttemptEnded {
                task,
                charged,
                report,
                ..
            } => {
                *attempts.entry(task).or_default() += u32::from(*charged);
                signalled.insert(
                    task,
                    report.signalled && !report.reports_failure && report.contradiction.is_none(),
                );
            }
            Event::VerifyEnded { task, verdict, .. } => {
                passed.insert(task, !matches!(verdict, Verdict::Red { .. }));
            }
            Event::TickAsked {
                task, done: true, ..
            } => {
                assert!(
                    passed.get(task).copied().unwrap_or(false),
                    "seed {seed}: {task} ticked without evidence"
                );
                assert!(
                    signalled.get(task).copied().unwrap_or(true),
                    "seed {seed}: {task} ticked without a signal"
                );
            }
            Event::TaskDone { task, .. } => done.push(task),
            _ => {}
        }
    }
    let limit = world.state.config.limits.task_iterations;
    assert!(
        attempts.values().all(|count| *count <= limit),
        "seed {seed}: more attempts than allowed"
    );
    assert!(
        world.state.waited_ms <= world.state.config.max_wait_ms + 1_000,
        "seed {seed}: waited too long"
    );
    let open = TaskFile::read(world.tasks.as_str())
        .tasks()
        .iter()
        .filter(|task| !task.done && task.id.is_some() && !task.optional)
        .count();
    if world.state.outcome == Some(RunOutcome::AllGreen) {
        assert_eq!(
            open, 0,
            "seed {seed}: green with open tasks\n{}",
            world.tasks
        );
    }
}

#[test]
fn whatever_happens_a_run_ends_and_tells_the_truth() {
    let mut ends: BTreeMap<String, u32> = BTreeMap::new();
    for seed in 0..2_000 {
        let world = World::new(seed).run();
        check(seed, &world);
        let end = format!("{:?}", world.state.outcome);
        *ends.entry(end.chars().take(12).collect()).or_default() += 1;
    }
    // A world in which nothing ever succeeds, or nothing ever fails, would show nothing.
    assert!(ends.len() >= 4, "{ends:?}");
}

#[test]
fn deciding_again_gives_the_same_events() {
    for seed in 0..1_000 {
        let world = World::new(seed).run();
        let mut state = State::default();
        for (now, input, events) in &world.journal {
            let text = serde_json::to_string(input).unwrap_or_default();
            let stored: Input =
                serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
            let decision = decide(&state, *now, &stored);
            assert_eq!(&decision.events, events, "seed {seed}");
            for event in events {
                let text = serde_json::to_string(event).unwrap_or_default();
                let stored: Event =
                    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
                state.apply(&stored);
            }
        }
        let text = serde_json::to_string(&state).unwrap_or_default();
        let stored: State = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(stored, state);
    }
}
