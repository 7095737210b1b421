//! `regreen hook stop`: Claude Code asks whether a session may stop.

use std::io::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use snapbox::str;

use regreen_test_support::{Output, Workspace};

const TASKS: &str = "- [x] 1.1 One\n- [ ] 1.2 Two\n  - **Verify**: `true`\n- [ ] 1.3 Three\n";
const STATE: &str =
    r#"{"phase":"execution","taskIndex":1,"totalTasks":3,"globalIteration":4,"taskIteration":1}"#;
const SETTINGS: &str = ".claude/ralph-specum.local.md";
const STATE_FILE: &str = "specs/login/.ralph-state.json";

fn spec() -> Workspace {
    Workspace::new()
        .file("specs/.current-spec", "login\n")
        .file("specs/login/tasks.md", TASKS)
        .file(STATE_FILE, STATE)
}

/// Returns the answer to a session in the folder, with these extra fields.
fn ask(test: &Workspace, more: &str) -> Output {
    let cwd = test.path(".");
    tell(test, &[], &format!(r#"{{"cwd":{cwd:?}{more}}}"#))
}

fn tell(test: &Workspace, variables: &[(&str, &str)], input: &str) -> Output {
    let mut child = test
        .command(&["hook", "stop"])
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    test.output(&child.wait_with_output().unwrap())
}

#[track_caller]
fn may_stop(answer: Output) {
    answer.exits(0).prints("").complains("");
}

#[test]
fn a_session_continues_while_the_current_spec_has_open_tasks() {
    let log = "[ralph-specum] Session stopped during spec: login | Task: 2/3 | Attempt: 1\n";
    ask(&spec(), "").exits(0).complains(log).prints(str![[r#"
{
  "decision": "block",
  "reason": "Continue spec: login (Task 2/3, Iter 4)\n\n## State\nPath: specs/login | Index: 1 | Iteration: 1/5 | Recovery: false\n\n## Current Task\n- [ ] 1.2 Two\n  - **Verify**: `true`\n\n## How to continue\n1. Read specs/login/.ralph-state.json to see where the spec stands.\n2. Delegate the task above as your instructions say: to spec-executor, rows marked [VERIFY] to qa-engineer.\n3. When it signals completion, verify it yourself, tick its box, and update the state file.\n4. If it fails, count the attempt in taskIteration and try again.\n5. When specs/login/tasks.md has no open boxes left, finish as your instructions say.",
  "systemMessage": "regreen: iteration 4, task 2/3"
}

"#]]);
}

#[test]
fn a_session_without_open_tasks_stops_silently() {
    may_stop(ask(&Workspace::new(), ""));
    may_stop(ask(&spec().file("specs/.current-spec", ""), ""));
    may_stop(ask(&spec().file("specs/.current-spec", "gone"), ""));
    may_stop(ask(&spec().file("specs/.current-spec", "../elsewhere"), ""));
    let without_state = Workspace::new()
        .file("specs/.current-spec", "login")
        .file("specs/login/tasks.md", TASKS);
    may_stop(ask(&without_state, ""));
    may_stop(ask(
        &spec().file(SETTINGS, "---\nenabled: false\n---\n"),
        "",
    ));
    may_stop(ask(&spec(), r#","stop_hook_active":true"#));
    may_stop(ask(&spec().file(STATE_FILE, r#"{"phase":"design"}"#), ""));
    let waits = r#"{"phase":"execution","awaitingApproval":true}"#;
    ask(&spec().file(STATE_FILE, waits), "").exits(0).prints("");
}

#[test]
fn a_session_continues_at_every_stop_while_it_gets_on_and_no_longer() {
    let test = spec();
    let stop = |active: bool| {
        let active = format!(r#","session_id":"s1","stop_hook_active":{active}"#);
        ask(&test, &active).exits(0).stdout.contains("block")
    };
    // regreen has no record of an earlier Stop.
    assert!(!stop(true));
    assert!(stop(false));
    // Nothing was done since.
    assert!(!stop(true));
    std::fs::write(
        test.path("specs/login/tasks.md"),
        TASKS.replace("[ ] 1.2", "[x] 1.2"),
    )
    .unwrap();
    assert!(stop(true));
    assert!(!stop(true));
    std::fs::write(test.path("specs/login/.progress.md"), "## Learnings\n").unwrap();
    assert!(stop(true));
    // Another session has no record.
    let other = ask(&test, r#","session_id":"s2","stop_hook_active":true"#);
    other.exits(0).prints("").complains("");
}

#[test]
fn a_session_is_continued_at_most_as_often_as_the_limit_says() {
    let state = r#"{"phase":"execution","totalTasks":3,"maxGlobalIterations":3}"#;
    let test = spec().file(STATE_FILE, state);
    let stop = |active: bool, learned: &str| {
        std::fs::write(test.path("specs/login/.progress.md"), learned).unwrap();
        let active = format!(r#","session_id":"s1","stop_hook_active":{active}"#);
        ask(&test, &active).exits(0).stdout.contains("block")
    };
    let went_on = [
        stop(false, "a"),
        stop(true, "b"),
        stop(true, "c"),
        stop(true, "d"),
    ];
    assert_eq!(went_on, [true, true, true, false]);
}

#[test]
fn input_that_is_none_lets_a_session_stop() {
    for input in [
        "",
        "{",
        "[]",
        "null",
        "\u{FEFF}{}",
        r#"{"cwd":7}"#,
        r#"{"cwd":"/nowhere/at/all"}"#,
    ] {
        may_stop(tell(&spec(), &[], input));
    }
}

#[test]
fn an_agent_that_has_said_it_is_done_may_stop() {
    let said = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"ok\nALL_TASKS_COMPLETE"}]}}"#;
    let output = r#"{"type":"user","message":{"content":"end with ALL_TASKS_COMPLETE"}}"#;
    let path =
        |test: &Workspace| format!(r#","transcript_path":{:?}"#, test.path("transcript.jsonl"));
    let test = spec().file("transcript.jsonl", format!("{output}\n{said}\n"));
    ask(&test, &path(&test)).exits(0).prints("");
    let test = spec().file("transcript.jsonl", format!("{output}\n"));
    assert!(ask(&test, &path(&test)).exits(0).stdout.contains("block"));
    let test = spec();
    assert!(ask(&test, &path(&test)).exits(0).stdout.contains("block"));
}

#[test]
fn at_the_limit_it_says_so_and_lets_go() {
    let state =
        r#"{"phase":"execution","totalTasks":3,"globalIteration":9,"maxGlobalIterations":9}"#;
    let spec = spec().file(STATE_FILE, state);
    ask(&spec, "").exits(0).prints("").complains(str![[r#"
ERROR: Maximum global iterations (9) reached.

"#]]);
    let spec = spec.file("specs/login/.progress.md", "");
    ask(&spec, "").exits(0).prints("").complains(str![[r#"
ERROR: Maximum global iterations (9) reached. Review .progress.md for failure patterns.

"#]]);
}

#[test]
fn a_corrupt_state_is_named() {
    ask(&spec().file(STATE_FILE, "{\"phase\""), "")
        .exits(0)
        .complains("")
        .prints(str![[r#"
{
  "decision": "block",
  "reason": "ERROR: Corrupt state file at specs/login/.ralph-state.json: not JSON: EOF while parsing an object at line 1 column 8.\n\nThe progress of the spec is unknown. Recovery options:\n1. Start executing the spec again, which rebuilds the file from tasks.md; or run `regreen run login`, which moves the file aside and continues.\n2. Cancel the spec.",
  "systemMessage": "regreen: corrupt state file of spec login"
}

"#]]);
}

#[test]
fn a_session_in_a_folder_below_finds_the_spec() {
    let test = spec().file("src/main.c", "");
    let input = format!(r#"{{"cwd":{:?}}}"#, test.path("src"));
    assert!(
        tell(&test, &[], &input)
            .stdout
            .contains("Continue spec: login")
    );
}

/// A run's agent does one task. If it were kept in its session, it would do the others too,
/// unsupervised.
#[test]
fn the_agent_of_a_run_may_stop() {
    let test = spec();
    let input = format!(r#"{{"cwd":{:?}}}"#, test.path("."));
    may_stop(tell(&test, &[("REGREEN_KEEPER", "tree-1:x:1")], &input));
}

/// The fastest of several answers in a spec of so many tasks: other programs use this machine too.
fn time_to_answer(tasks: usize) -> Duration {
    let rows: Vec<String> = (1..=tasks)
        .map(|n| format!("- [ ] {n}.1 Task {n}\n  - **Do**: something\n  - **Verify**: `true`\n"))
        .collect();
    let state = format!(r#"{{"phase":"execution","taskIndex":0,"totalTasks":{tasks}}}"#);
    let test = spec()
        .file("specs/login/tasks.md", rows.concat())
        .file(STATE_FILE, state);
    let times = (0..10).map(|_| {
        let start = Instant::now();
        assert!(ask(&test, "").stdout.contains(&format!("Task 1/{tasks}")));
        start.elapsed()
    });
    times.min().unwrap()
}

#[test]
fn two_hundred_tasks_take_hardly_longer_than_two() {
    let (few, many) = (time_to_answer(2), time_to_answer(200));
    assert!(many < few * 4, "{few:?}, {many:?}");
}
