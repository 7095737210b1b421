//! The numbers and times of attempts, which are the same wherever they are shown.

use std::fs;

use serde_json::Value;

use regreen_test_support::{Workspace, wait_until};

/// The status of the only task, as scripts see it.
fn task_status(workspace: &Workspace) -> Value {
    let output = workspace.command(&["status", "--json"]).output().unwrap();
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    status["tasks"][0].clone()
}

#[test]
fn an_attempt_has_the_number_of_its_log_everywhere() {
    let tasks = "- [ ] 1.1 It\n  - **Verify**: `false`\n";
    let workspace = Workspace::with_tasks(tasks).agent(
        "1.1:1) touch $notes/at-work; sleep 60 ;;
         *) echo said by $REGREEN_ATTEMPT; echo TASK_COMPLETE ;;",
    );
    // The first attempt is interrupted, which costs the task nothing.
    let limit = "--max-task-iterations=2";
    let run = workspace.start(&[limit], "at-work");
    run.signal("KILL");
    run.wait();
    workspace
        .run_as_text(&[limit])
        .exits(1)
        .mentions("attempt 2 · 1/2 used")
        .mentions("attempt 3 · 2/2 used");
    let run = &workspace.runs()[0];
    for attempt in [2, 3] {
        let log = workspace.text(&format!(".regreen/runs/{run}/1.1/{attempt}.log"));
        assert!(log.contains(&format!("said by {attempt}\n")), "{log}");
        workspace
            .regreen(&["log", "1.1", &attempt.to_string()])
            .mentions(&format!("said by {attempt}\n"));
        workspace
            .regreen(&["why", "1.1"])
            .mentions(&format!(" attempt {attempt} · "))
            .mentions(&format!("log: regreen log 1.1 {attempt}\n"));
    }
    let status = task_status(&workspace);
    assert_eq!(status["attempts"], 3);
    assert_eq!(status["attempts_used"], 2);
    workspace.regreen(&["status"]).mentions("2/2 attempts used");
}

#[test]
fn a_verify_is_timed_from_its_own_start() {
    let tasks =
        "- [ ] 1.1 It\n  - **Verify**: `touch up; while ! test -f go; do sleep 0.05; done`\n";
    let workspace = Workspace::with_tasks(tasks).agent(
        "*) sleep 1.2; date -u +%Y-%m-%dT%H:%M:%S.%3NZ >$notes/at-work; echo TASK_COMPLETE ;;",
    );
    let run = workspace.start(&[], "at-work");
    wait_until(|| workspace.has("up"));
    let current = task_status(&workspace)["current"].clone();
    fs::write(workspace.path("go"), "").unwrap();
    run.wait().exits(0);
    assert_eq!(current["what"], "verifying");
    let agent_ended = workspace.note("at-work");
    let since = current["since"].as_str().unwrap();
    assert!(since >= agent_ended.trim_end(), "{since} {agent_ended}");
}

#[test]
fn what_an_attempt_changed_before_a_kill_is_not_guessed_outside_git() {
    let tasks = "- [ ] 1.1 It\n  - **Verify**: `test -f made`\n";
    let workspace = Workspace::with_tasks(tasks)
        .agent("1.1:1) touch made $notes/at-work; sleep 60 ;; *) echo TASK_COMPLETE ;;");
    let run = workspace.start(&[], "at-work");
    run.signal("KILL");
    run.wait();
    let why = workspace.has_run(&[], 0).regreen(&["why", "1.1"]);
    let changes: Vec<&str> = why
        .stdout
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("change"))
        .collect();
    assert_eq!(changes, ["changes unknown", "changed no file"]);
}
