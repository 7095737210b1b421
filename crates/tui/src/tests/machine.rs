//! A machine for these tests: a login form whose check fails, and other runs.

use std::io;
use std::sync::{Arc, Mutex};

use regreen_model::{
    AttemptReport, Confidence, Ending, Event, Failure, FailureCategory, FailureKind, FailureRecord,
    OutlineKind, OutlineRow, PickedTask, PromptKind, RetryMode, RunConfig, Spending, TaskFeatures,
    TaskId, TaskKey, Timestamp,
};
use regreen_overview::{
    Action, Activity, AttemptRef, AttemptText, ChangeFeed, EarlierRun, LogPage, Machine, PageStart,
    RunDetails, RunKey, RunState, RunSummary, RunView,
};

pub(super) const START: u64 = 1_800_000_000_000;
pub(super) const BLAMED: &str = "E       AssertionError: assert '' == 'name is required'";

/// The output of the check that failed.
const PYTEST: &str = "\
============================= test session starts ==============================
collected 2 items

tests/test_form.py .F                                                    [100%]

    def test_empty_name():
>       assert validate({'name': ''}) == 'name is required'
E       AssertionError: assert '' == 'name is required'
E         - name is required

tests/test_form.py:18: AssertionError
========================= 1 failed, 1 passed in 0.02s ==========================
";

const DIFF: &str = "\
diff --git a/form.py b/form.py
--- a/form.py
+++ b/form.py
@@ -1,3 +1,3 @@
 def validate(form):
-    return None
+    return ''
";

/// A machine whose answers a test can change.
#[derive(Debug)]
pub(super) struct TestMachine {
    pub(super) runs: Mutex<Vec<RunDetails>>,
    pub(super) log: Mutex<String>,
    pub(super) done: Mutex<Vec<(RunKey, Action)>>,
    pub(super) refuses: bool,
    pub(super) texts_read: Mutex<usize>,
}

pub(super) fn key(id: &str, title: &str) -> TaskKey {
    TaskKey {
        id: TaskId::parse(id).unwrap(),
        occurrence: 0,
        title: title.to_owned(),
    }
}

pub(super) fn row(key: TaskKey, depth: u16, kind: OutlineKind, done: bool) -> OutlineRow {
    OutlineRow {
        key,
        depth,
        kind,
        done,
        optional: false,
        features: TaskFeatures::default(),
        line: 0,
    }
}

pub(super) fn run_key(place: &str) -> RunKey {
    RunKey {
        place: place.to_owned(),
        run: format!("run-of-{place}"),
    }
}

pub(super) fn summary(place: &str, state: RunState) -> RunSummary {
    let is_active = matches!(state, RunState::Running | RunState::Waiting);
    RunSummary {
        key: run_key(place),
        spec: place.to_owned(),
        workspace: "~/project".to_owned(),
        state,
        process: is_active.then_some(4711),
        last_sign: Timestamp::from_millis(START + 60_000),
        started: Timestamp::from_millis(START),
        activity: Activity::default(),
        current: None,
        spent: Spending::default(),
        done: (0, 0),
        questions: Vec::new(),
    }
}

pub(super) fn details(summary: RunSummary, events: &[Event], rows: Vec<OutlineRow>) -> RunDetails {
    let mut view = RunView::default();
    for (at, event) in (0..).zip(events) {
        view.apply(Timestamp::from_millis(START + at * 5000), event);
    }
    let tasks = rows.iter().filter(|row| row.kind == OutlineKind::Task);
    let (done, all) = tasks.fold((0, 0), |(done, all), row| {
        (done + usize::from(row.done), all + 1)
    });
    RunDetails {
        summary: RunSummary {
            activity: view.activity.clone(),
            current: view.current.clone(),
            spent: view.spent,
            done: (done, all),
            questions: view
                .questions()
                .map(|(task, question)| (task.key.clone(), question.why.clone()))
                .collect(),
            ..summary
        },
        view: Arc::new(view),
        rows: Arc::new(rows),
        earlier: Vec::new(),
    }
}

fn picked(task: TaskKey, root: TaskKey) -> Event {
    let task = PickedTask {
        task,
        root,
        index: 0,
        total: 5,
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

fn started(task: &TaskKey, attempt: u32, prompt: PromptKind) -> Event {
    Event::AttemptStarted {
        seq: 1,
        task: task.clone(),
        attempt,
        prompt,
        timeout_ms: 1,
    }
}

fn ended(task: &TaskKey, attempt: u32) -> Event {
    let report = AttemptReport {
        ending: Ending {
            duration_ms: 41_000,
            ..Ending::default()
        },
        files_changed: 2,
        signalled: true,
        ..AttemptReport::default()
    };
    Event::AttemptEnded {
        task: task.clone(),
        attempt,
        charged: true,
        counted: None,
        report: Box::new(report),
    }
}

fn failed(task: &TaskKey, attempt: u32) -> Event {
    Event::TaskFailed {
        task: task.clone(),
        attempt,
        failure: failure(),
        only_red: false,
    }
}

fn failure() -> FailureRecord {
    let found = Failure {
        category: FailureCategory::ToolError,
        kind: FailureKind::TestFailure,
        message: "A test failed".to_owned(),
        blocked_on: Some(BLAMED.to_owned()),
        line: Some(8),
        retryable: true,
        retry_mode: RetryMode::AfterFix,
        completed_steps: Vec::new(),
        files_modified: vec!["form.py".to_owned()],
        tool_usage: [("Edit".to_owned(), 2)].into(),
        last_successful_tool: None,
        suggested_actions: vec!["Run the test alone".to_owned()],
        repair: None,
        rule: "pytest.assertion".to_owned(),
        confidence: Confidence::percent(92),
        fingerprint: String::new(),
    };
    FailureRecord {
        diagnosis: Some(Box::new(found)),
        ..FailureRecord::new(PYTEST)
    }
}

/// A run that works on the fix of its second task.
pub(super) fn login() -> RunDetails {
    let form = key("1.1", "Add the form");
    let validate = key("1.2", "Validate input");
    let fix = key("1.2.1", "Fix: expected 'name is required'");
    let done = |task: &TaskKey| Event::TaskDone {
        task: task.clone(),
        marks: [].into(),
        hash: Some("abc1234".to_owned()),
    };
    let events = vec![
        Event::RunStarted {
            run: run_key("login").run,
            config: RunConfig::default(),
            after_limit: false,
            lost: Vec::new(),
            earlier: Vec::new(),
            environment: Vec::new(),
        },
        picked(form.clone(), form.clone()),
        started(&form, 1, PromptKind::First),
        ended(&form, 1),
        done(&form),
        picked(validate.clone(), validate.clone()),
        started(&validate, 1, PromptKind::First),
        ended(&validate, 1),
        failed(&validate, 1),
        started(&validate, 2, PromptKind::Retry),
        ended(&validate, 2),
        failed(&validate, 2),
        Event::FixInserted {
            task: validate.clone(),
            fix: fix.id.clone(),
        },
        picked(fix.clone(), validate.clone()),
        started(&fix, 1, PromptKind::First),
    ];
    let rows = vec![
        row(form, 0, OutlineKind::Task, true),
        row(validate, 0, OutlineKind::Task, false),
        row(fix, 1, OutlineKind::Fix, false),
        row(
            key("1.3", "Show every message"),
            0,
            OutlineKind::Task,
            false,
        ),
        row(
            key("1.4", "Send a mail to confirm the address"),
            0,
            OutlineKind::Task,
            false,
        ),
    ];
    details(summary("login", RunState::Running), &events, rows)
}

/// A run that has ended, because only a person can go on.
pub(super) fn billing() -> RunDetails {
    let import = key("2.1", "Import invoices");
    let events = vec![
        picked(import.clone(), import.clone()),
        started(&import, 1, PromptKind::First),
        ended(&import, 1),
        failed(&import, 1),
        Event::PersonAsked {
            seq: 9,
            task: import.clone(),
            why: "the agent could not split it".to_owned(),
            repair: None,
        },
    ];
    let rows = vec![row(import, 0, OutlineKind::Task, false)];
    let mut run = details(summary("billing", RunState::NeedsPerson), &events, rows);
    run.earlier = vec![EarlierRun {
        run: "older".to_owned(),
        started: Timestamp::from_millis(START - 86_400_000),
    }];
    run
}

impl Default for TestMachine {
    fn default() -> Self {
        Self::with(vec![login(), billing()])
    }
}

impl TestMachine {
    pub(super) fn with(runs: Vec<RunDetails>) -> Self {
        Self {
            runs: Mutex::new(runs),
            log: Mutex::new("reading form.py\nedited form.py\n".to_owned()),
            done: Mutex::default(),
            refuses: false,
            texts_read: Mutex::default(),
        }
    }

    fn text_of(&self, attempt: &AttemptRef, text: AttemptText) -> Option<String> {
        let is_form = attempt.task.id.as_str() == "1.2";
        match text {
            AttemptText::Log => Some(self.log.lock().unwrap().clone()),
            AttemptText::Verify => is_form.then(|| PYTEST.to_owned()),
            AttemptText::Diff => Some(DIFF.to_owned()),
            AttemptText::Prompt => Some("You are working on a task.\n".to_owned()),
        }
    }
}

impl Machine for TestMachine {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(START + 90_000)
    }

    fn runs(&self) -> Vec<RunSummary> {
        let runs = self.runs.lock().unwrap();
        runs.iter().map(|run| run.summary.clone()).collect()
    }

    fn run(&self, key: &RunKey) -> Option<RunDetails> {
        let runs = self.runs.lock().unwrap();
        let same_place = |run: &&RunDetails| run.summary.key.place == key.place;
        let mut run = runs.iter().find(same_place)?.clone();
        run.summary.key.run.clone_from(&key.run);
        Some(run)
    }

    fn text(
        &self,
        attempt: &AttemptRef,
        text: AttemptText,
        blamed: Option<&str>,
        start: PageStart,
        lines: usize,
    ) -> Result<LogPage, String> {
        *self.texts_read.lock().unwrap() += 1;
        let text = self.text_of(attempt, text).ok_or("there is none")?;
        LogPage::read(&mut text.as_bytes(), blamed, start, lines).map_err(|error| error.to_string())
    }

    fn act(&self, run: &RunKey, action: &Action) -> Result<String, String> {
        if self.refuses {
            return Err("this decides for a person".to_owned());
        }
        self.done
            .lock()
            .unwrap()
            .push((run.clone(), action.clone()));
        Ok("done as you said".to_owned())
    }

    fn watch(&self) -> io::Result<ChangeFeed> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
