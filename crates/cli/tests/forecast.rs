//! What the history says about tasks to come: risks in `lint`, `run --dry-run` and `stats`, and time
//! limits and estimates in runs.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use regreen_test_support::{Output, Workspace};
use serde_json::{Value, json};

const TASKS: &str = "\
- [ ] 1.1 Migrate the table in src/a.py as discussed
  - **Verify**: `test -f one`
- [ ] 1.2 Add a button in src/b.py
  - **Verify**: `test -f two`
";
const PASSES: &str =
    "1.1:*) touch one; echo TASK_COMPLETE ;; 1.2:*) touch two; echo TASK_COMPLETE ;;";
const HOUR: i64 = 3_600_000;

fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_millis()).unwrap()
}

/// A user whose history has runs of the workspace's own agent elsewhere.
struct User {
    home: tempfile::TempDir,
    test: Workspace,
}

impl User {
    fn new() -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
            test: Workspace::with_tasks(TASKS).agent(PASSES),
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.test.command(arguments);
        command
            .env("XDG_STATE_HOME", self.home.path().join("state"))
            .env("XDG_CONFIG_HOME", self.home.path().join("config"));
        command
    }

    fn regreen(&self, arguments: &[&str]) -> Output {
        self.test.output(&self.command(arguments).output().unwrap())
    }

    fn history(&self) -> PathBuf {
        self.home.path().join("state/regreen/history.db")
    }

    /// Adds this many runs with a migration that fails at first, after five minutes, and something
    /// else that passes after ten.
    fn remembers(self, runs: i64) -> Self {
        let lines: Vec<String> = (0..runs).map(|n| self.run(n).to_string()).collect();
        let export = self.home.path().join("export.jsonl");
        fs::write(&export, lines.join("\n")).unwrap();
        let import = ["history", "import", export.to_str().unwrap()];
        self.regreen(&import).exits(0);
        self
    }

    fn run(&self, n: i64) -> Value {
        // Older runs than those of a year are not kept.
        let started = now_ms() - (100 - n) * HOUR;
        let task = |id: &str, work: &str, minutes: u64, fails: bool| {
            json!({
                "id": id,
                "title": format!("{work} number {n}"),
                "at_ms": started,
                "attempts": 1,
                "first_pass": !fails,
                "passed": true,
                "time_ms": minutes * 60_000,
                "cost_micro_usd": null,
                "features": {"words": 12, "files": 1, "file_kind": "py", "work": work, "verify": 7, "is_vague": fails},
                "first_attempt": {"time_ms": minutes * 60_000, "timed_out": false},
                "verify_ms": 100,
            })
        };
        json!({
            "regreen_history": 1,
            "path": "/srv/elsewhere",
            "source": "run",
            "id": format!("run-{n}"),
            "steps": 10,
            "spec": "tables",
            "agent": self.test.agent_flag(),
            "started_ms": started,
            "ended_ms": started + HOUR / 2,
            "tasks": [task("1.1", "migrate", 5, true), task("1.2", "add", 10, false)],
            "failures": [],
        })
    }

    fn dry_run(&self, flags: &[&str]) -> Output {
        let agent = self.test.agent_flag();
        self.regreen(&[&["run", "--dry-run", "--agent", &agent], flags].concat())
            .exits(0)
    }

    /// Returns the time limit of each attempt of a run.
    fn limits(&self, timeout: &str) -> Vec<u64> {
        let agent = self.test.agent_flag();
        let mut run = self.command(&["run", "--json", "--agent", &agent, "--timeout", timeout]);
        let output = run.output().unwrap();
        assert!(output.status.success());
        let events = String::from_utf8(output.stdout).unwrap();
        let events = events
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        events
            .filter(|event: &Value| event["event"] == "attempt_started")
            .map(|event| event["timeout_ms"].as_u64().unwrap())
            .collect()
    }
}

#[test]
fn risks_and_times_are_told_before_a_run_with_their_reasons_and_a_way_to_lower_them() {
    let user = User::new().remembers(30);
    let mut page = user.dry_run(&["--timeout", "auto"]);
    for part in [
        "9 of 10 attempts end within 10m",
        "likely to fail at first (average 50",
        "30 of 30 tasks that refer to a conversation failed at first",
        "30 of 30 tasks that start with “migrate” failed at first",
        "to lower it: say in the task what was discussed",
        "limits: 5 attempts per task, as suggested, or else 30m",
    ] {
        page = page.mentions(part);
    }
    let configuration = user.home.path().join("config/regreen/config.toml");
    fs::create_dir_all(configuration.parent().unwrap()).unwrap();
    fs::write(
        configuration,
        format!("agent = '{}'\n", user.test.agent_flag()),
    )
    .unwrap();
    user.regreen(&["lint"])
        .exits(0)
        .mentions("RISK  1.1 is ")
        .mentions("RISK  1 other task: each at most ")
        .mentions("from 60 outcomes");
}

#[test]
fn nothing_is_said_before_thirty_outcomes() {
    let user = User::new().remembers(9);
    user.dry_run(&[]).omits("risk:").omits("time:");
    user.regreen(&["lint"]).exits(0).omits("RISK");
    assert_eq!(user.limits("auto"), [1_800_000, 1_800_000]);
}

#[test]
fn lint_needs_no_history_and_takes_a_damaged_one_for_none() {
    let user = User::new();
    user.regreen(&["lint"]).exits(0).omits("RISK");
    assert!(!user.history().exists());
    fs::create_dir_all(user.history().parent().unwrap()).unwrap();
    fs::write(user.history(), "not a database, but long enough to look at").unwrap();
    user.regreen(&["lint"]).exits(0).omits("RISK");
}

#[test]
fn a_repository_that_refuses_the_history_gets_nothing_from_it() {
    let user = User::new().remembers(30);
    fs::write(user.test.path("regreen.toml"), "history.record = false\n").unwrap();
    user.dry_run(&[]).omits("risk:").omits("time:");
}

#[test]
fn an_automatic_time_limit_is_the_one_that_nine_of_ten_such_attempts_kept() {
    let user = User::new().remembers(30);
    assert_eq!(user.limits("auto"), [600_000, 600_000]);
    // The tasks that just passed are known by now, and `stats` scores what was predicted for them.
    user.regreen(&["stats", "--since", "all"])
        .exits(0)
        .mentions("FORECAST")
        .mentions("90 % time limit")
        .mentions("Brier score 0.");
    let other = User::new().remembers(30);
    assert_eq!(other.limits("45m"), [2_700_000, 2_700_000]);
}

#[test]
fn status_estimates_what_is_left_by_the_times_of_earlier_tasks() {
    let user = User::new().remembers(30);
    let agent = user.test.agent_flag();
    user.regreen(&["run", "--agent", &agent, "--only", "1.1"])
        .exits(0);
    let status = user.command(&["status", "--json"]).output().unwrap();
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["run"]["left_ms"], 450_000);
    user.regreen(&["status"]).exits(0).mentions("about 8m left");
}
