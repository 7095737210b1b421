//! Folders for a store, steps to store, and tests whose inner half runs in its own process.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use regreen_model::{
    ChoiceKind, Confidence, Failure, FailureCategory, FailureKind, RetryMode, TaskId, TaskKey,
};
use regreen_store::{
    Attempt, AttemptKey, CommandSeq, FailureRow, HistoryRow, IssuedCommand, NewRun, RunEnd, RunId,
    Snapshot, Step, StepNo, Store, VersionedJson,
};
use serde_json::json;
use tempfile::TempDir;

pub(crate) const NOON: i64 = 1_763_294_400_000;

/// A folder for one store.
pub(crate) struct Folder(TempDir);

impl Folder {
    /// Uses memory where possible: most tests are about the contents and need not wait for a disk.
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap()))
    }

    pub(crate) fn on_disk() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.path("regreen.db")
    }

    pub(crate) fn open(&self) -> Store {
        Store::open(&self.file(), NOON).unwrap()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

pub(crate) fn payload(kind: &str, text: &str) -> VersionedJson {
    VersionedJson::new(kind, 1, &json!({ "text": text })).unwrap()
}

/// The `n`th step of an endless run: it answers the previous step's command, has two events and
/// issues one command.
pub(crate) fn step(n: u64) -> Step {
    let text = format!("step {n}: ä \"quoted\"\n{}", "x".repeat(n as usize % 700));
    Step {
        number: StepNo(n),
        now_ms: NOON + n as i64,
        answers: (n > 1).then(|| CommandSeq(n - 1)),
        input: payload("Told", &text),
        events: vec![payload("Happened", &text), payload("Noted", "")],
        commands: vec![IssuedCommand {
            seq: CommandSeq(n),
            command: payload("DoIt", &text),
        }],
    }
}

/// A step that no other run has.
pub(crate) fn step_of(run: &RunId, n: u64) -> Step {
    Step {
        input: payload("Told", &format!("{run}, {n}")),
        ..step(n)
    }
}

pub(crate) fn begin(store: &mut Store, spec: &str) -> RunId {
    let new = NewRun {
        spec: spec.to_owned(),
        started_ms: NOON,
        tree: None,
    };
    store.begin_run(&new).unwrap()
}

pub(crate) fn task(id: &str) -> TaskKey {
    TaskKey {
        id: TaskId::parse(id).unwrap(),
        occurrence: 0,
        title: format!("Task {id}"),
    }
}

pub(crate) fn key(run: &RunId, id: &str, number: u32) -> AttemptKey {
    AttemptKey {
        run: run.clone(),
        task: task(id),
        number,
    }
}

pub(crate) fn begun(run: &RunId, id: &str, number: u32) -> Attempt {
    Attempt::started(
        key(run, id, number),
        "shell",
        NOON + i64::from(number) * 1000,
    )
}

pub(crate) fn ended(run: &RunId, id: &str, number: u32) -> Attempt {
    Attempt {
        ended_ms: Some(NOON + i64::from(number) * 1000 + 500),
        session: Some("s-1".to_owned()),
        exit_code: Some(1),
        outcome: Some("failed".to_owned()),
        verify: Some("red".to_owned()),
        log: Some(format!("runs/{run}/{id}/{number}.log")),
        snapshot_before: Some("aaaa".to_owned()),
        snapshot_after: Some("bbbb".to_owned()),
        cost_microdollars: Some(1_250_000),
        input_tokens: Some(1200),
        output_tokens: Some(34),
        ..begun(run, id, number)
    }
}

pub(crate) fn failure(blocked_on: &str) -> Failure {
    Failure {
        category: FailureCategory::ToolError,
        kind: FailureKind::MissingFile,
        message: "A file is missing.".to_owned(),
        blocked_on: Some(blocked_on.to_owned()),
        line: Some(3),
        retryable: true,
        retry_mode: RetryMode::AfterFix,
        completed_steps: vec!["read the plan".to_owned()],
        files_modified: vec![],
        tool_usage: BTreeMap::from([("Read".to_owned(), 2)]),
        last_successful_tool: None,
        suggested_actions: vec![],
        repair: None,
        rule: "missing_file".to_owned(),
        confidence: Confidence::percent(90),
        fingerprint: format!("missing_file:{blocked_on}"),
    }
}

pub(crate) fn failed(run: &RunId, id: &str, number: u32) -> FailureRow {
    let at_ms = NOON + i64::from(number) * 1000 + 500;
    FailureRow::new(key(run, id, number), at_ms, &failure("no such file: a.txt")).unwrap()
}

pub(crate) fn green() -> RunEnd {
    RunEnd {
        ended_ms: NOON + 60_000,
        outcome: "green".to_owned(),
        exit_code: Some(0),
    }
}

/// Stores three runs with steps, snapshots, attempts and failures, the first of them ended, and
/// choices in between.
pub(crate) fn fill(store: &mut Store) {
    for spec in ["login", "search", "login"] {
        let run = begin(store, spec);
        for n in 1..=40 {
            let step = step_of(&run, n);
            store.append(&run, &step, &history_of(&run, n)).unwrap();
            if n % 15 == 0 {
                store.save_snapshot(&run, &snapshot(n)).unwrap();
            }
        }
        for (what, id) in ChoiceKind::ALL.into_iter().zip(["1.3", "1.10", "2"]) {
            store.choose(spec, &task(id), what, NOON).unwrap();
        }
    }
    let first = store.runs(9).unwrap().pop().unwrap();
    store.end_run(&first.id, &green()).unwrap();
}

fn history_of(run: &RunId, n: u64) -> Vec<HistoryRow> {
    let number = n as u32;
    match n % 4 {
        0 => vec![
            HistoryRow::Attempt(ended(run, "1.3", number)),
            HistoryRow::Failure(failed(run, "1.3", number)),
        ],
        2 => vec![HistoryRow::Attempt(begun(run, "1.10", number))],
        _ => vec![],
    }
}

pub(crate) fn snapshot(n: u64) -> Snapshot {
    Snapshot {
        step: StepNo(n),
        state: payload("State", &format!("after {n}")),
    }
}

const PLACE: &str = "REGREEN_TEST_STORE";

/// Starts this program again to run only the ignored test `inner` on `file`.
pub(crate) fn again(inner: &str, file: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", inner, "--ignored"])
        .env(PLACE, file);
    command
}

/// Returns the file that the outer half prepared; `None` if the inner half was started on its own.
pub(crate) fn prepared() -> Option<PathBuf> {
    env::var_os(PLACE).map(PathBuf::from)
}

/// A name that matches no test would succeed as well, so success alone proves nothing.
pub(crate) fn assert_passed(output: &Output) {
    let ran = String::from_utf8_lossy(&output.stdout).contains("1 passed");
    assert!(output.status.success() && ran, "{output:#?}");
}
