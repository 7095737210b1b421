//! Everything outside the engine.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use regreen_documents::{
    self as documents, Next, Pick, Place, TaskFile, commit_message, verify_commands,
};
use regreen_engine::{
    Command, CommitResult, FixBudget, FixOrder, Input, Issued, ModifyOrder, ModifyResult, NextStep,
    Plan, Resumption, State, decide,
};
use regreen_model::{
    AttemptClass, AttemptReport, ChoiceKind, Claim, Ending, Event, FixOrigin, Modification,
    ModificationRequest, NewTask, PersonAnswer, PersonChoice, PickedTask, RunConfig, RunOutcome,
    StopSignal, Task, TaskKey, TaskKind, Timestamp, Verdict,
};

use crate::dice::Dice;

pub(crate) struct World {
    dice: Dice,
    now: Timestamp,
    /// The task file as it was, and as it is.
    pub(crate) tasks_before: String,
    pub(crate) tasks: String,
    pub(crate) state: State,
    pending: VecDeque<Issued>,
    pub(crate) events: Vec<Event>,
    pub(crate) journal: Vec<(Timestamp, Input, Vec<Event>)>,
    /// All that people said, oldest first.
    choices: Vec<PersonChoice>,
    /// Whether a task's work is really done, as a Verify would see it.
    works: BTreeMap<String, bool>,
    trouble: u64,
    crashes: u32,
    /// How often a run that paused was started again.
    restarts: u32,
    /// What the state file remembers of fixes.
    memory: documents::State,
}

const PLANS: [&str; 4] = [
    "- [ ] 1.1 a\n  - **Verify**: `true`\n  - **Commit**: `feat: a`\n- [x] 1.2 b\n- [ ] 1.3 c\n  - **Verify**: `true`\n",
    "- [ ] a\n- [ ] b\n- [ ] c\n",
    "- [ ] 1. g\n  - [ ] 1.1 a\n  - [ ]* 1.2 b\n- [ ] 2. h\n  - [ ] 2.1 c\n    - **Verify**: `true`\n",
    "- [ ] T001 [P] a\r\n- [ ] T002 b\r\n\r\n## Later\r\n- [ ] T003 c",
];

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let plan = PLANS[usize::try_from(dice.roll(4)).unwrap_or(0)];
        let trouble = dice.roll(10);
        let mut world = Self {
            now: Timestamp::from_millis(1_000_000 + dice.roll(1000)),
            dice,
            tasks_before: plan.to_owned(),
            tasks: plan.to_owned(),
            state: State::default(),
            pending: VecDeque::new(),
            events: Vec::new(),
            journal: Vec::new(),
            works: BTreeMap::new(),
            trouble,
            crashes: 0,
            restarts: 0,
            choices: Vec::new(),
            memory: documents::State::default(),
        };
        world.people_have_their_say();
        let config = RunConfig {
            max_wait_ms: 12_000,
            recovery: world.dice.one_in(2),
            keep_going: world.dice.one_in(3),
            asks: world.dice.one_in(2),
            ..RunConfig::default()
        };
        let run = format!("run-{seed}");
        let choices = world.choices.clone();
        world.feed(Input::Start {
            run,
            config,
            choices,
            after_limit: false,
        });
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
    pub(crate) fn run(mut self) -> Self {
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
                if !self.starts_again() {
                    return self;
                }
                continue;
            };
            if let Some(input) = self.perform(&issued) {
                self.answer(&issued.command, input);
            }
        }
        panic!("the run does not end");
    }

    /// Nothing is owed any more: the run has ended, or goes on when somebody wants it to.
    fn starts_again(&mut self) -> bool {
        let Some(outcome) = self.state.outcome.clone() else {
            panic!(
                "nothing is owed, and the run has not ended: {:?}",
                self.state
            );
        };
        let is_wanted = match outcome {
            RunOutcome::Stopped { .. } => true,
            _ => outcome.is_pause() && self.restarts < 3 && self.dice.one_in(2),
        };
        if is_wanted {
            self.restarts += 1;
            self.resume();
        }
        is_wanted
    }

    fn resume(&mut self) {
        self.people_have_their_say();
        let choices = self.choices.clone();
        self.feed(Input::Resume(Resumption {
            choices,
            ..Resumption::default()
        }));
    }

    fn answer(&mut self, command: &Command, input: Input) {
        // An attempt that ended unheard is none of the engine's business: whoever finds it
        // sees to what it did to the plan.
        let is_heard = matches!(command, Command::Attempt(_));
        if !is_heard && self.crashes < 6 && self.dice.one_in(25) {
            return self.crash();
        }
        // Answers come late or twice: the second one must change nothing.
        let twice = self.dice.one_in(10).then(|| input.clone());
        self.feed(input);
        if let Some(again) = twice {
            let before = self.state.clone();
            self.feed(again);
            assert_eq!(self.state, before, "a repeated answer changed something");
        }
    }

    /// Between two processes, people say what they want of any row.
    fn people_have_their_say(&mut self) {
        while self.dice.one_in(3) {
            let rows = TaskFile::read(self.tasks.as_str()).tasks();
            let task = self.dice.pick(rows.iter().filter_map(Task::key));
            let what = self.dice.pick(ChoiceKind::ALL);
            let (Some(task), Some(what)) = (task, what) else {
                return;
            };
            match what {
                ChoiceKind::Skip => {}
                ChoiceKind::Done => self.set_box(&task, true),
                ChoiceKind::Retry => self.set_box(&task, false),
            }
            self.chooses(task, what);
        }
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
            self.resume();
        }
    }

    fn perform(&mut self, issued: &Issued) -> Option<Input> {
        let seq = issued.seq;
        Some(match &issued.command {
            Command::ReadPlan { passed_over, .. } => Input::PlanRead {
                seq,
                plan: self.plan(passed_over),
            },
            Command::Attempt(order) => Input::AttemptEnded {
                seq,
                report: Box::new(self.attempt(&order.task.task)),
            },
            Command::JudgeClaims { claims, .. } => {
                let (kept, taken_back) = self.judge_claims(claims);
                Input::ClaimsJudged {
                    seq,
                    kept,
                    taken_back,
                }
            }
            Command::Verify { task, commands, .. } => Input::Verified {
                seq,
                verdict: self.verdict(task, commands.is_empty()),
            },
            Command::ReadBudget { task } => Input::BudgetRead {
                seq,
                budget: self.budget(task),
            },
            Command::InsertFix(order) => {
                self.insert_fix(order);
                Input::Inserted { seq }
            }
            Command::Modify(order) => Input::Modified {
                seq,
                result: self.modify(order),
            },
            Command::ReadOpenFixes { task } => Input::OpenFixesRead {
                seq,
                fixes: self.open_fixes(task),
            },
            Command::TickFixes { fixes } => {
                for fix in fixes {
                    self.set_box(fix, true);
                }
                Input::FixesTicked { seq }
            }
            Command::AskPerson(question) => self.person_answers(seq, &question.task),
            Command::NoteFailure { .. } => Input::FailureNoted { seq },
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
            Command::SaveState(file) => {
                for (task, fix, error) in &file.fixes {
                    self.memory.record_fix(task, fix, error);
                }
                return None;
            }
            Command::Finish => return None,
        })
    }

    fn person_answers(&mut self, seq: u64, task: &TaskKey) -> Input {
        let text = "look into src".to_owned();
        let answer = match self.dice.roll(5) {
            0 => PersonAnswer::Edit,
            1 => PersonAnswer::Context { text },
            2 => PersonAnswer::Fix,
            3 => PersonAnswer::Skip,
            _ => PersonAnswer::Stop,
        };
        let choice = answer.choice().map(|what| self.chooses(task.clone(), what));
        Input::PersonAnswered {
            seq,
            answer,
            choice,
        }
    }

    fn chooses(&mut self, task: TaskKey, what: ChoiceKind) -> PersonChoice {
        let number = u64::try_from(self.choices.len()).unwrap_or(0) * 3 + 1;
        let choice = PersonChoice { number, task, what };
        self.choices.push(choice.clone());
        choice
    }

    fn budget(&self, task: &TaskKey) -> FixBudget {
        let file = TaskFile::read(self.tasks.as_str());
        let map = self.memory.fix_task_map();
        let Some(row) = file.resolve(task) else {
            panic!("{task} is gone")
        };
        let (Some(used), Some(next_id), Some(root)) = (
            file.budget(row, &map),
            file.next_fix_id(row, &map),
            file.key(file.root(row)),
        ) else {
            panic!("a task has a budget")
        };
        let fixes = file.fixes(row).filter_map(|fix| file.key(fix));
        FixBudget {
            depth: used.depth,
            fixes: used.fixes,
            root_fixes: used.root_fixes,
            root: root.id,
            fix_ids: fixes.map(|key| key.id).collect(),
            next_id,
            last_error: String::new(),
        }
    }

    fn insert_fix(&mut self, order: &FixOrder) {
        let file = TaskFile::read(self.tasks.as_str());
        let row = file.resolve(&order.task);
        let Some((row, parent)) = row.and_then(|row| Some((row, file.task(row)?))) else {
            panic!("{} is gone", order.task)
        };
        let origin = FixOrigin {
            error: &order.error,
            attempted_fix: &order.attempted_fix,
            scope: &order.scope,
            error_type: "",
            extra_step: &order.extra_step,
        };
        let fix = NewTask::fix(order.id.clone(), &order.task.id, &parent, origin);
        match file.insert(&fix, Place::After(row)) {
            Ok(change) => self.tasks = change.into_file(file).text().to_owned(),
            Err(error) => panic!("{} cannot be inserted: {error}", order.id),
        }
    }

    /// An agent's wish is granted or not; what it is worth is not known here.
    fn modify(&mut self, order: &ModifyOrder) -> ModifyResult {
        let name = format!("{}", order.attempt);
        let lineage = self.memory.modification_lineage(&order.task.id);
        if lineage.requests >= 3 || self.dice.one_in(2) {
            return ModifyResult::Refused { why: "no".into() };
        }
        self.memory.record_modification(&order.task.id, &name, &[]);
        ModifyResult::Done { added: vec![] }
    }

    fn open_fixes(&self, task: &TaskKey) -> Vec<TaskKey> {
        let file = TaskFile::read(self.tasks.as_str());
        let row = file.resolve(task);
        let fixes = row.into_iter().flat_map(|row| file.all_fixes(row));
        let open = fixes.filter(|fix| !file.is_done(*fix));
        open.filter_map(|fix| file.key(fix)).collect()
    }

    fn plan(&self, passed_over: &BTreeSet<TaskKey>) -> Plan {
        let file = TaskFile::read(self.tasks.as_str());
        let pick = Pick {
            passed_over: passed_over.clone(),
            ..Pick::default()
        };
        let next = match file.next(&pick) {
            Next::Run(row) | Next::CloseGroup(row) => {
                let is_group = file.next(&pick) == Next::CloseGroup(row);
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
                    failed_before: None,
                    has_fixes: file.fixes(row).next().is_some(),
                }))
            }
            Next::Nothing => NextStep::Nothing,
        };
        let total = u32::try_from(file.runnable(false)).unwrap_or(0);
        let open = u32::try_from(open_tasks(&self.tasks).len()).unwrap_or(0);
        Plan {
            next,
            total,
            open,
            ..Plan::default()
        }
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
                report.progressed = self.dice.one_in(2);
                report.ending = Ending {
                    timed_out: true,
                    ..Ending::default()
                }
            }
            9 => {
                report.signalled = false;
                report.modification = Some(Box::new(ModificationRequest {
                    modification: Modification::SplitTask,
                    original_task_id: task.id.clone(),
                    reasoning: String::new(),
                    proposed_tasks: vec![],
                }));
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
        if self.dice.one_in(12) {
            report.plan.claims.extend(self.claim(task));
        }
        report
    }

    /// The agent ticks a row that is not its own.
    fn claim(&mut self, own: &TaskKey) -> Option<Claim> {
        let others = open_tasks(&self.tasks)
            .into_iter()
            .filter(|task| task.kind == TaskKind::Task && task.key().as_ref() != Some(own));
        let task = self.dice.pick(others)?.key()?;
        self.set_box(&task, true);
        Some(Claim {
            task,
            verify: vec![],
        })
    }

    fn judge_claims(&mut self, claims: &[Claim]) -> (Vec<TaskKey>, Vec<TaskKey>) {
        let claimed = claims.iter().map(|claim| claim.task.clone());
        let (kept, taken_back): (Vec<_>, Vec<_>) = claimed.partition(|task| {
            let works = self.works.entry(task.title.clone());
            *works.or_insert_with(|| self.dice.one_in(2))
        });
        for task in &taken_back {
            self.set_box(task, false);
        }
        (kept, taken_back)
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

/// The required originals that are not done.
pub(crate) fn open_tasks(tasks: &str) -> Vec<Task> {
    let mut open = TaskFile::read(tasks).tasks();
    open.retain(|task| !task.done && task.id.is_some() && !task.optional && !task.is_fix());
    open
}
