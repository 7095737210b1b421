//! A run of the real engine in a scripted world.

use regreen_engine::{Command, CommitResult, Input, Issued, Resumption, State, decide};
use regreen_model::{
    AttemptReport, Ending, Event, FailureRecord, NextStep, OutlineKind, OutlineRow, PickedTask,
    PlanStatus, RepeatResult, RepeatVerdict, RunConfig, StopSignal, TaskFeatures, TaskId, TaskKey,
    Timestamp, Verdict, VerifyCommand,
};
use regreen_reporters::Reporter;

/// 2026-11-16T04:45:00.123Z.
const START_MS: u64 = 1_794_804_300_123;

pub(crate) struct Run<R> {
    pub(crate) view: R,
    pub(crate) now: Timestamp,
    state: State,
    owed: Vec<Issued>,
    past: Vec<(Timestamp, Event)>,
}

impl<R: Reporter> Run<R> {
    pub(crate) fn start(view: R, config: RunConfig) -> Self {
        let mut run = Self {
            view,
            now: Timestamp::from_millis(START_MS),
            state: State::default(),
            owed: Vec::new(),
            past: Vec::new(),
        };
        let run_id = "20261116-0445".to_owned();
        run.feed(&Input::Start {
            run: run_id,
            config: Box::new(config),
            choices: Vec::new(),
            after_limit: false,
            lost: Vec::new(),
            earlier: Vec::new(),
            environment: Vec::new(),
        });
        run
    }

    /// Ends the process; another one, with its own view, resumes later.
    pub(crate) fn resumed<V: Reporter>(self, mut view: V, after_ms: u64) -> Run<V> {
        for (at, event) in &self.past {
            view.recall(*at, event);
        }
        let mut run = Run {
            view,
            now: self.now.plus(after_ms),
            state: self.state,
            owed: Vec::new(),
            past: self.past,
        };
        run.feed(&Input::Resume(Resumption::default()));
        run
    }

    /// Returns the engine's state.
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    pub(crate) fn pass(&mut self, millis: u64) -> &mut Self {
        self.now = self.now.plus(millis);
        self
    }

    fn feed(&mut self, input: &Input) {
        let decision = decide(&self.state, self.now, input);
        for event in &decision.events {
            self.state.apply(event);
            self.view.event(self.now, event);
            self.past.push((self.now, event.clone()));
        }
        let is_waited_for =
            |issued: &Issued| !matches!(issued.command, Command::SaveState(_) | Command::Finish);
        self.owed = decision.commands;
        self.owed.retain(is_waited_for);
    }

    fn answer(&mut self, input: impl FnOnce(u64) -> Input) -> &mut Self {
        let seq = self.owed.first().expect("something is owed").seq;
        self.feed(&input(seq));
        self
    }

    /// Answers with the plan and its next row; counts the required originals that are open.
    pub(crate) fn plan(&mut self, rows: &[OutlineRow], next: Option<PickedTask>) -> &mut Self {
        self.view.outline(rows);
        let is_open = |row: &&OutlineRow| row.is_original() && !row.done && !row.optional;
        let plan = PlanStatus {
            next: next.map_or(NextStep::Nothing, |task| NextStep::Task(Box::new(task))),
            total: u32::try_from(rows.len()).expect("a short plan"),
            open: u32::try_from(rows.iter().filter(is_open).count()).expect("a short plan"),
            ..PlanStatus::default()
        };
        self.answer(|seq| Input::PlanRead {
            seq,
            plan: plan.clone(),
        });
        self.close(plan)
    }

    /// Commits the spec's own files, if that is next, and reads the plan again.
    fn close(&mut self, plan: PlanStatus) -> &mut Self {
        let owed = self.owed.first().map(|issued| &issued.command);
        if !matches!(owed, Some(Command::CloseCommit { .. })) {
            return self;
        }
        let result = CommitResult::Nothing;
        self.answer(|seq| Input::ClosingCommitted {
            seq,
            result,
            changed: false,
        });
        self.answer(|seq| Input::PlanRead { seq, plan })
    }

    pub(crate) fn attempt(&mut self, millis: u64, report: AttemptReport) -> &mut Self {
        self.pass(millis);
        let report = Box::new(AttemptReport {
            ending: Ending {
                duration_ms: millis,
                ..report.ending
            },
            ..report
        });
        self.answer(|seq| Input::AttemptEnded { seq, report })
    }

    pub(crate) fn claims(&mut self, kept: &[TaskKey], taken_back: &[TaskKey]) -> &mut Self {
        let (kept, taken_back) = (kept.to_vec(), taken_back.to_vec());
        self.answer(|seq| Input::ClaimsJudged {
            seq,
            kept,
            taken_back,
        })
    }

    pub(crate) fn verified(&mut self, millis: u64, verdict: Verdict) -> &mut Self {
        self.pass(millis);
        self.answer(|seq| Input::Verified {
            tests: None,
            seq,
            verdict,
            diagnosis: None,
            took_ms: 0,
        })
    }

    pub(crate) fn ticked(&mut self) -> &mut Self {
        self.answer(|seq| Input::Ticked {
            seq,
            superseded: Vec::new(),
        })
    }

    pub(crate) fn committed(&mut self, result: CommitResult) -> &mut Self {
        self.answer(|seq| Input::Committed { seq, result })
    }

    pub(crate) fn recorded(&mut self) -> &mut Self {
        self.answer(|seq| Input::Recorded { seq })
    }

    /// Repeats the checks at the end; the first `red` of them fail.
    pub(crate) fn finally_checked(&mut self, millis: u64, red: usize) -> &mut Self {
        let Some(Command::FinalCheck(order)) = self.owed.first().map(|issued| &issued.command)
        else {
            panic!("nothing is checked: {:?}", self.owed);
        };
        let results = order
            .checks
            .iter()
            .enumerate()
            .map(|(at, check)| RepeatResult {
                tasks: check.tasks.clone(),
                check: check.shown(),
                verdict: if at < red {
                    let error =
                        format!("Verify failed: `{}` ended with exit code 1", check.shown());
                    RepeatVerdict::Red {
                        failure: Box::new(FailureRecord::new(error)),
                    }
                } else {
                    RepeatVerdict::Passed
                },
            });
        let results = results.collect();
        self.pass(millis);
        self.answer(|seq| Input::FinallyChecked {
            seq,
            results,
            took_ms: millis,
        })
    }

    pub(crate) fn reopened(&mut self) -> &mut Self {
        self.answer(|seq| Input::Reopened { seq })
    }

    pub(crate) fn waited(&mut self) -> &mut Self {
        let Some(Command::Wait { until }) = self.owed.first().map(|issued| &issued.command) else {
            panic!("nothing waits: {:?}", self.owed);
        };
        self.now = *until;
        self.answer(|seq| Input::Waited { seq, asleep_ms: 0 })
    }

    pub(crate) fn contended(&mut self, why: &str) -> &mut Self {
        let why = why.to_owned();
        self.answer(|seq| Input::Contended { seq, why })
    }

    /// Someone asks to stop, which ends the running attempt.
    pub(crate) fn stopped(&mut self, signal: StopSignal) -> &mut Self {
        self.stop_asked(signal);
        self.answer(|seq| Input::Halted { seq })
    }

    pub(crate) fn stop_asked(&mut self, signal: StopSignal) {
        let owed = std::mem::take(&mut self.owed);
        self.feed(&Input::Stop { signal });
        self.owed = owed;
    }

    pub(crate) fn finish(mut self) -> R {
        self.view.finish(self.now);
        self.view
    }
}

pub(crate) fn key(id: &str, title: &str) -> TaskKey {
    TaskKey {
        id: TaskId::parse(id).expect("an id"),
        occurrence: 0,
        title: title.to_owned(),
    }
}

pub(crate) fn row(id: &str, title: &str) -> OutlineRow {
    OutlineRow {
        key: key(id, title),
        depth: 0,
        kind: OutlineKind::Task,
        done: false,
        optional: false,
        features: TaskFeatures::default(),
        line: 0,
    }
}

pub(crate) fn done(row: OutlineRow) -> OutlineRow {
    OutlineRow { done: true, ..row }
}

pub(crate) fn fix(row: OutlineRow, depth: u16) -> OutlineRow {
    OutlineRow {
        kind: OutlineKind::Fix,
        depth,
        ..row
    }
}

pub(crate) fn picked(row: &OutlineRow, verify: &[&str], commit: Option<&str>) -> PickedTask {
    let verify = verify.iter();
    PickedTask {
        task: row.key.clone(),
        root: row.key.clone(),
        index: 0,
        total: 4,
        is_verify: false,
        is_red: false,
        is_group: row.kind == OutlineKind::Group,
        verify: verify
            .map(|command| VerifyCommand::always(*command))
            .collect(),
        commit: commit.map(str::to_owned),
        services: Vec::new(),
        features: None,
        failed_before: None,
        has_fixes: false,
        declines_commit: false,
        has_own_verify: false,
    }
}
