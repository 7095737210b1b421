//! Services: programs that regreen runs for the tasks that need them.

use std::fs;
use std::process::Stdio;

use regreen_test_support::{TASKS, Workspace, send_signal, wait_until};
use serde_json::Value;

/// A server that announces itself, and cleans up when asked to end.
const SERVE: &str = "echo serving \"$1\"\necho $$ >up\ntrap 'rm -f up; exit 0' TERM\nwhile :; do sleep 0.05; done\n";
const DONE: &str = "echo TASK_COMPLETE";

fn events(printed: &str) -> Vec<Value> {
    let lines = printed.lines();
    lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// Returns the changes to services and the attempted tasks, in order.
fn story(printed: &str) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let of = |event: &Value| match event["event"].as_str() {
        Some("service_changed") => Some(format!(
            "{} {}",
            text(&event["command"]),
            text(&event["change"])
        )),
        Some("attempt_started") => Some(format!("attempt {}", text(&event["task"]["id"]))),
        Some("task_done") => Some(format!("done {}", text(&event["task"]["id"]))),
        _ => None,
    };
    events(printed).iter().filter_map(of).collect()
}

fn run(workspace: &Workspace, flags: &[&str]) -> (Option<i32>, String) {
    let agent = workspace.agent_flag();
    let flags = [&["run", "--json", "--agent", &agent], flags].concat();
    let output = workspace.command(&flags).output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(printed).unwrap())
}

fn pid(workspace: &Workspace) -> Option<u32> {
    let text = fs::read_to_string(workspace.path("up")).ok()?;
    text.trim().parse().ok()
}

fn is_alive(pid: u32) -> bool {
    fs::metadata(format!("/proc/{pid}")).is_ok()
}

#[test]
fn a_server_of_smart_ralph_s_checks_runs_from_startup_to_cleanup() {
    let tasks = "\
## Checks

- [ ] VE1 [VERIFY] E2E startup: launch dev server and verify health
  - **Do**:
    1. Start dev server: `sh serve.sh one &` (background, save PID to pids.txt)
    2. Wait for server ready: poll until it is there (timeout 30s)
  - **Verify**: `test -f up && echo PASS`
- [ ] VE2 [VERIFY] E2E check: use it
  - **Do**: Ask the server
  - **Verify**: `kill -0 \"$(cat up)\" && test -f seen`
- [ ] VE3 [VERIFY] E2E cleanup: stop server and release resources
  - **Do**: Kill processes by PID
  - **Verify**: `! test -f up && echo PASS`
";
    let workspace = Workspace::with_tasks(tasks)
        .file("serve.sh", SERVE)
        .agent(&format!(
            "VE2:*) kill -0 \"$(cat up)\" && echo yes >seen; {DONE} ;;\nVE3:*) test -f up || {DONE} ;;"
        ));
    let (code, printed) = run(&workspace, &[]);
    assert_eq!(code, Some(0), "{printed}");
    let story = story(&printed);
    let (tasks, final_check) = story.split_at(7);
    assert_eq!(
        tasks,
        [
            "sh serve.sh one started",
            "done VE1",
            "attempt VE2",
            "done VE2",
            "attempt VE3",
            "sh serve.sh one ended",
            "done VE3",
        ]
    );
    // The fastest check runs first, so the server may be needed twice.
    assert_eq!(final_check[0], "sh serve.sh one started");
    assert!(!workspace.has("up"), "it ends with the run");
    let run_id = &workspace.runs()[0];
    let log = workspace.text(&format!(".regreen/runs/{run_id}/VE1/service.log"));
    assert!(log.starts_with("$ sh serve.sh one\nserving one\n"), "{log}");
    assert!(
        workspace
            .note("VE2-1.prompt")
            .contains("sh serve.sh one (running and ready; log: ")
    );
}

#[test]
fn a_service_that_its_own_task_writes_is_started_for_the_check() {
    let tasks = "\
- [ ] 1.1 Write the server
  - **Do**: Write serve.sh
  - **Files**: serve.sh
  - **Service**: `sh serve.sh two`
  - **Ready**: `test -f up`
  - **Verify**: `kill -0 \"$(cat up)\"`
- [ ] 1.2 Use it
  - **Verify**: `kill -0 \"$(cat up)\"`
";
    let workspace = Workspace::with_tasks(tasks)
        .file("server.txt", SERVE)
        .agent(&format!(
            "1.1:*) cp server.txt serve.sh; {DONE} ;;\n*) {DONE} ;;"
        ));
    let (code, printed) = run(&workspace, &["--final-check", "off"]);
    assert_eq!(code, Some(0), "{printed}");
    assert_eq!(
        story(&printed),
        [
            "attempt 1.1",
            "sh serve.sh two not_ready",
            "sh serve.sh two started",
            "done 1.1",
            "attempt 1.2",
            "done 1.2",
        ],
        "{printed}"
    );
}

#[test]
fn a_service_that_does_not_start_is_the_failure_with_its_own_words() {
    let tasks = "- [ ] 1.1 Serve\n  - **Service**: `sh serve.sh`\n  - **Ready**: `test -f up`\n";
    let workspace = Workspace::with_tasks(tasks)
        .file(
            "serve.sh",
            "echo 'Error: Cannot find module express' >&2\nexit 3\n",
        )
        .agent(&format!("*) {DONE} ;;"));
    let (code, printed) = run(&workspace, &["--max-task-iterations", "1"]);
    assert_eq!(code, Some(1), "{printed}");
    let failed = events(&printed)
        .into_iter()
        .find(|event| event["event"] == "task_failed");
    let error = failed.unwrap()["error"].as_str().unwrap().to_owned();
    assert!(
        error.starts_with("Service failed: `sh serve.sh` ended with exit code 3: "),
        "{error}"
    );
    assert!(error.contains("Cannot find module express"), "{error}");
}

#[test]
fn a_service_that_dies_is_started_again_once_and_then_named() {
    let tasks = "\
- [ ] 1.1 Serve
  - **Service**: `sh serve.sh x`
  - **Ready**: `test -f up`
- [ ] 1.2 Use it
  - **Verify**: `kill -0 \"$(cat up)\" && test -f second`
";
    let workspace = Workspace::with_tasks(tasks).file("serve.sh", SERVE).agent(&format!(
        "1.2:1) kill -9 \"$(cat up)\"; rm up; sleep 0.3; {DONE} ;;\n1.2:2) kill -9 \"$(cat up)\"; rm up; touch second; sleep 0.3; {DONE} ;;\n*) {DONE} ;;"
    ));
    let (code, printed) = run(&workspace, &["--max-task-iterations", "2"]);
    assert_eq!(code, Some(1), "{printed}");
    assert_eq!(
        story(&printed),
        [
            "sh serve.sh x started",
            "done 1.1",
            "attempt 1.2",
            "sh serve.sh x died",
            "sh serve.sh x restarted",
            "attempt 1.2",
            "sh serve.sh x died",
        ],
        "{printed}"
    );
    let errors: Vec<Value> = events(&printed)
        .into_iter()
        .filter(|event| event["event"] == "task_failed")
        .collect();
    let last = errors.last().unwrap()["error"].as_str().unwrap().to_owned();
    assert!(
        last.contains("The service `sh serve.sh x` of task 1.1 is down: "),
        "{last}"
    );
}

#[test]
fn a_service_ends_with_a_run_that_is_killed_and_is_started_again_where_it_is_needed() {
    let tasks = "\
- [ ] 1.1 Serve
  - **Service**: `sh serve.sh x`
  - **Ready**: `test -f up`
- [ ] 1.2 Use it
  - **Verify**: `kill -0 \"$(cat up)\"`
";
    let workspace = Workspace::with_tasks(tasks)
        .file("serve.sh", SERVE)
        .agent(&format!(
            "1.2:1) touch \"$notes/begun\"; sleep 300 ;;\n*) {DONE} ;;"
        ));
    let agent = workspace.agent_flag();
    let mut child = workspace
        .command(&["run", "--agent", &agent])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until(|| workspace.has_note("begun"));
    let server = pid(&workspace).unwrap();
    assert!(is_alive(server));
    let status = workspace.regreen(&["status"]);
    assert!(
        status.stdout.contains("SERVE  sh serve.sh x · of 1.1"),
        "{}",
        status.stdout
    );
    assert!(send_signal("KILL", child.id()));
    child.wait().unwrap();
    wait_until(|| !is_alive(server));
    let status = workspace.regreen(&["status"]);
    assert!(!status.stdout.contains("SERVE"), "{}", status.stdout);
    let (code, printed) = run(&workspace, &[]);
    assert_eq!(code, Some(0), "{printed}");
    assert_eq!(
        story(&printed)[..3],
        ["attempt 1.2", "sh serve.sh x started", "done 1.2"],
        "{printed}"
    );
    assert!(!workspace.has("up"));
}

#[test]
fn what_an_agent_leaves_running_is_named() {
    let tasks = "- [ ] 1.1 Serve\n  - **Verify**: `test -f up`\n";
    let workspace = Workspace::with_tasks(tasks).agent(&format!(
        "1.1:1) sleep 4321 >/dev/null 2>&1 & {DONE} ;;\n*) touch up; {DONE} ;;"
    ));
    let (code, printed) = run(&workspace, &[]);
    assert_eq!(code, Some(0), "{printed}");
    let ended = events(&printed)
        .into_iter()
        .find(|event| event["event"] == "attempt_ended");
    assert_eq!(
        ended.unwrap()["left_running"],
        serde_json::json!(["sleep 4321"])
    );
    let prompt = workspace.note("1.1-2.prompt");
    assert!(
        prompt.contains("## What the attempt before left running"),
        "{prompt}"
    );
    assert!(prompt.contains("sleep 4321"), "{prompt}");
    let why = workspace.regreen(&["why", "1.1"]);
    assert!(
        why.stdout
            .contains("left running, and ended by regreen: sleep 4321"),
        "{}",
        why.stdout
    );
    assert!(workspace.text(TASKS).contains("[x] 1.1"));
}

/// Otherwise the check of 2.2, which passes without the service, would count for 1.3 as well.
#[test]
fn the_same_check_under_another_service_is_repeated_of_its_own() {
    let tasks = "\
## A
- [ ] 1.2 Server
  - **Service**: `sh serve.sh x`
- [ ] 1.3 With the server
  - **Verify**: `test -f up`
## B
- [ ] 2.1 After it
  - **Verify**: `test -f up || test -f note`
- [ ] 2.2 After it
  - **Verify**: `test -f up`
";
    let workspace = Workspace::with_tasks(tasks)
        .file("serve.sh", SERVE)
        .agent(&format!(
            "2.1:*) touch note; {DONE} ;;\n2.2:*) echo 'rm -f up; sleep 100' >serve.sh; touch up; {DONE} ;;\n*) {DONE} ;;"
        ));
    let (code, printed) = run(&workspace, &["--max-task-iterations=1"]);
    assert_eq!(code, Some(1), "{printed}");
}

#[test]
fn what_a_service_changes_when_it_ends_is_checked() {
    let serve = "touch up\ntrap 'rm -f up a; exit 0' TERM INT\nwhile :; do sleep 0.05; done\n";
    for other in ["", "- [ ] 1.3 Make b\n  - **Verify**: `test -f b`\n"] {
        let tasks = format!(
            "\
- [ ] 1.1 Start the server
  - **Service**: `sh serve.sh`
  - **Ready**: `test -f up`
- [ ] 1.2 Make a
  - **Verify**: `test -f a`
{other}"
        );
        let workspace = Workspace::with_tasks(&tasks)
            .file("serve.sh", serve)
            .agent(&format!("1.2:*) touch a; {DONE} ;;\n*) touch b; {DONE} ;;"));
        let (code, printed) = run(&workspace, &["--max-task-iterations=1"]);
        assert_eq!(code, Some(1), "{printed}");
    }
}

/// A service of such a row could make a check pass for as long as the run lasts.
#[test]
fn a_service_of_a_row_that_an_agent_added_does_not_run_during_the_checks_of_others() {
    let tasks = "- [ ] 1.1 Begin\n  - **Verify**: `test -f begun`\n- [ ] 1.3 Make it\n  - **Verify**: `test -f up`\n";
    let added = "- [ ] 1.2 Serve\\n  - **Service**: `sh serve.sh x`\\n  - **Ready**: `test -f up`\\n- [ ] 1.3";
    let workspace = Workspace::with_tasks(tasks)
        .file("serve.sh", SERVE)
        .agent(&format!(
            "1.1:1) touch begun; sed -i 's/^- \\[ \\] 1.3/{added}/' {TASKS}; {DONE} ;;\n1.3:*) test -f up && touch \"$notes/served\"; {DONE} ;;\n*) {DONE} ;;",
            added = added.replace('/', "\\/")
        ));
    let (code, printed) = run(&workspace, &["--max-task-iterations=2"]);
    assert_eq!(code, Some(1), "{printed}");
    assert!(workspace.text(TASKS).contains("[x] 1.2"), "{printed}");
    assert!(workspace.text(TASKS).contains("[ ] 1.3"), "{printed}");
    // Attempts may use it.
    assert!(workspace.has_note("served"), "{printed}");
    assert!(
        printed.contains("task 1.2, which the agent added, declares a service"),
        "{printed}"
    );
    assert!(
        printed.contains(
            "The service `sh serve.sh x` of task 1.2 is down: its row was added during this run"
        ),
        "{printed}"
    );
}
