//! A run that is given inputs one at a time.

use regreen_engine::{
    AttemptOrder, Command, CommitResult, Decision, Input, Resumption, State, decide,
};
use regreen_model::{
    AttemptReport, ChoiceKind, Event, Failure, FailureRecord, FixBudget, NextStep, PersonChoice,
    PickedTask, PlanStatus, RunConfig, StateFile, StopSignal, TaskId, TaskKey, Timestamp, Verdict,
};

pub(crate) fn task(id: &str) -> TaskKey {
    let Some(id) = TaskId::parse(id) else {
        panic!("{id} is not an id")
    };
    TaskKey {
        title: format!("Task {id}"),
        id,
        occurrence: 0,
    }
}

pub(crate) fn choice(number: u64, id: &str, what: ChoiceKind) -> PersonChoice {
    PersonChoice {
        number,
        task: task(id),
        what,
    }
}

/// A task in a plan of three, without a Verify.
pub(crate) fn picked(id: &str, index: u32) -> PickedTask {
    PickedTask {
        task: task(id),
        root: task(id),
        index,
        total: 3,
        is_verify: false,
        is_red: false,
        is_group: false,
        verify: vec![],
        commit: Some("feat: it".to_owned()),
        services: Vec::new(),
        features: None,
        failed_before: None,
        has_fixes: false,
        declines_commit: false,
        has_own_verify: false,
    }
}

pub(crate) fn signalled() -> AttemptReport {
    AttemptReport {
        signalled: true,
        files_changed: 1,
        ..AttemptReport::default()
    }
}

pub(crate) fn failed() -> AttemptReport {
    AttemptReport {
        reports_failure: true,
        failure: FailureRecord::new("it broke"),
        ..signalled()
    }
}

/// A sure diagnosis, by the names that its kind, category and retry mode have in JSON.
pub(crate) fn diagnosed(kind: &str, category: &str, retry_mode: &str) -> Failure {
    let diagnosis = serde_json::json!({
        "category": category, "kind": kind, "message": kind,
        "blocked_on": "Which one?", "line": null, "retryable": false, "retry_mode": retry_mode,
        "completed_steps": [], "files_modified": [], "tool_usage": {},
        "last_successful_tool": null, "suggested_actions": [], "repair": null,
        "rule": "test", "confidence": 90, "fingerprint": kind
    });
    match serde_json::from_value(diagnosis) {
        Ok(failure) => failure,
        Err(error) => panic!("not a diagnosis: {error}"),
    }
}

pub(crate) struct Run {
    pub(crate) state: State,
    last: Decision,
    /// The number of the pending command.
    seq: u64,
}

impl Run {
    pub(crate) fn start(choices: Vec<PersonChoice>) -> Self {
        Self::start_with(RunConfig::default(), choices)
    }

    pub(crate) fn start_with(config: RunConfig, choices: Vec<PersonChoice>) -> Self {
        let mut run = Self {
            state: State::default(),
            last: Decision::default(),
            seq: 0,
        };
        run.tell(&Input::Start {
            run: "run-1".to_owned(),
            config: Box::new(config),
            choices,
            after_limit: false,
            lost: Vec::new(),
            earlier: Vec::new(),
            environment: Vec::new(),
        });
        run
    }

    /// The run after this one.
    pub(crate) fn next_run(&self) -> Self {
        let mut run = Self {
            state: State::default(),
            last: Decision::default(),
            seq: 0,
        };
        run.tell(&Input::Start {
            run: "run-2".to_owned(),
            config: Box::new(self.state.config.clone()),
            choices: vec![],
            after_limit: false,
            lost: Vec::new(),
            earlier: self.state.checks_for_next_run(),
            environment: Vec::new(),
        });
        run
    }

    pub(crate) fn tell(&mut self, input: &Input) {
        self.tell_at(1_000, input);
    }

    pub(crate) fn tell_at(&mut self, millis: u64, input: &Input) {
        let decision = decide(&self.state, Timestamp::from_millis(millis), input);
        for event in &decision.events {
            self.state.apply(event);
        }
        self.seq = decision.commands.last().map_or(self.seq, |last| last.seq);
        self.last = decision;
    }

    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }

    pub(crate) fn command(&self) -> &Command {
        let Some(issued) = self.last.commands.last() else {
            panic!("nothing was asked for: {:?}", self.last)
        };
        &issued.command
    }

    /// All that the last thing told has led to, from the first.
    pub(crate) fn commands(&self) -> impl Iterator<Item = &Command> {
        self.last.commands.iter().map(|issued| &issued.command)
    }

    pub(crate) fn attempt(&self) -> &AttemptOrder {
        match self.command() {
            Command::Attempt(order) => order,
            other => panic!("no attempt was asked for: {other:?}"),
        }
    }

    /// Someone removed the task.
    pub(crate) fn gone(&mut self) {
        self.tell(&Input::Gone { seq: self.seq });
    }

    pub(crate) fn budget_is(&mut self, budget: FixBudget) {
        let seq = self.seq;
        self.tell(&Input::BudgetRead { seq, budget });
    }

    pub(crate) fn is_reading_the_plan(&self) -> bool {
        matches!(self.command(), Command::ReadPlan(_))
    }

    /// The state file after the last input.
    pub(crate) fn state_file(&self) -> &StateFile {
        let mut commands = self.last.commands.iter();
        let saved = commands.find_map(|issued| match &issued.command {
            Command::SaveState(file) => Some(file),
            _ => None,
        });
        let Some(file) = saved else {
            panic!("no state was saved: {:?}", self.last)
        };
        file
    }

    /// The names of the last input's events.
    pub(crate) fn events(&self) -> Vec<String> {
        let name = |event: &Event| {
            let event = serde_json::to_value(event).unwrap_or_default();
            event["event"].as_str().unwrap_or_default().to_owned()
        };
        self.last.events.iter().map(name).collect()
    }

    /// The last input's event with this name.
    pub(crate) fn last_event(&self, name: &str) -> serde_json::Value {
        let events = self.last.events.iter();
        let mut events = events.map(|event| serde_json::to_value(event).unwrap_or_default());
        events
            .find(|event| event["event"] == name)
            .unwrap_or_default()
    }

    pub(crate) fn pick(&mut self, picked: PickedTask) {
        let plan = PlanStatus {
            total: picked.total,
            open: 1,
            next: NextStep::Task(Box::new(picked)),
            ..PlanStatus::default()
        };
        let seq = self.seq;
        self.tell(&Input::PlanRead { seq, plan });
    }

    pub(crate) fn nothing_left(&mut self, total: u32, open: u32) {
        self.read(PlanStatus {
            total,
            open,
            ..PlanStatus::default()
        });
    }

    pub(crate) fn read(&mut self, plan: PlanStatus) {
        let seq = self.seq;
        self.tell(&Input::PlanRead { seq, plan });
    }

    pub(crate) fn attempt_ends(&mut self, report: AttemptReport) {
        let (seq, report) = (self.seq, Box::new(report));
        self.tell(&Input::AttemptEnded { seq, report });
    }

    pub(crate) fn attempt_ends_at(&mut self, millis: u64, report: AttemptReport) {
        let (seq, report) = (self.seq, Box::new(report));
        self.tell_at(millis, &Input::AttemptEnded { seq, report });
    }

    pub(crate) fn verified(&mut self, verdict: Verdict) {
        let seq = self.seq;
        self.tell(&Input::Verified {
            tests: None,
            seq,
            verdict,
            diagnosis: None,
            took_ms: 0,
        });
    }

    pub(crate) fn ticked(&mut self) {
        self.tell(&Input::Ticked {
            seq: self.seq,
            superseded: Vec::new(),
        });
    }

    pub(crate) fn committed(&mut self, result: CommitResult) {
        let seq = self.seq;
        self.tell(&Input::Committed { seq, result });
    }

    pub(crate) fn recorded(&mut self) {
        self.tell(&Input::Recorded { seq: self.seq });
    }

    /// Goes from the end of a successful attempt to the end of its task.
    pub(crate) fn finish_task(&mut self) {
        self.verified(Verdict::Green);
        self.ticked();
        self.committed(CommitResult::Nothing);
        self.recorded();
    }

    /// The user stops the run, which ends the running attempt.
    pub(crate) fn stop(&mut self) {
        let signal = StopSignal::Interrupt;
        self.tell(&Input::Stop { signal });
        self.tell(&Input::Halted { seq: self.seq });
    }

    pub(crate) fn claims_judged(&mut self, kept: Vec<TaskKey>) {
        let seq = self.seq;
        let taken_back = vec![];
        self.tell(&Input::ClaimsJudged {
            seq,
            kept,
            taken_back,
        });
    }

    pub(crate) fn resume(&mut self, choices: Vec<PersonChoice>) {
        self.tell(&Input::Resume(Resumption {
            choices,
            ..Resumption::default()
        }));
    }

    /// Goes from the running attempt to a commit that a hook refuses.
    pub(crate) fn commit_is_refused(&mut self) {
        self.attempt_ends(signalled());
        self.verified(Verdict::Green);
        self.ticked();
        self.committed(CommitResult::HookFailed {
            output: "lint: no".to_owned(),
        });
    }
}
