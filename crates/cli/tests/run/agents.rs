//! An agent that is called by name: a script in place of Claude Code imitates its output.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use regreen_test_support::{STATE, Workspace, send_signal, wait_until};

const TASK: &str = "- [ ] 1.1 Write it\n  - **Verify**: `test -f out`\n";
const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s-1"}"#;
const DONE: &str = r#"{"type":"result","subtype":"success","is_error":false,"result":"Done.\nTASK_COMPLETE","total_cost_usd":0.5,"usage":{"input_tokens":7,"output_tokens":3}}"#;
/// Far less than the scripts would sleep.
const SOON: Duration = Duration::from_secs(100);

/// A workspace whose `claude` is this script. It can use `$notes`, a folder outside the workspace.
fn workspace(script: &str) -> Workspace {
    Workspace::with_tasks(TASK).program("claude", script)
}

pub(crate) fn run(workspace: &Workspace, flags: &[&str]) -> (Option<i32>, String) {
    output_of(run_command(workspace, flags))
}

fn output_of(mut command: Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(printed).unwrap())
}

/// Returns `regreen run` with the programs installed in the workspace.
pub(crate) fn run_command(workspace: &Workspace, flags: &[&str]) -> Command {
    workspace.command(&[&["run"], flags].concat())
}

/// Starts a run.
fn start(workspace: &Workspace, flags: &[&str]) -> Child {
    let mut command = run_command(workspace, flags);
    let command = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Waits until something with this name is in the journal.
fn wait_for(workspace: &Workspace, name: &str) {
    wait_until(|| {
        let journal = workspace.command(&["journal"]).output().unwrap();
        String::from_utf8_lossy(&journal.stdout).contains(name)
    });
}

/// Returns a script that prints these lines.
pub(crate) fn says(lines: &[&str]) -> String {
    let lines = lines.iter();
    lines
        .map(|line| format!("printf '%s\\n' '{line}'\n"))
        .collect()
}

#[test]
fn auto_is_the_agent_that_is_installed_and_the_run_says_who_works() {
    let workspace = workspace(&format!("touch out\n{}", says(&[INIT, DONE])));
    let (code, printed) = run(&workspace, &[]);
    assert_eq!(code, Some(0), "{printed}");
    let first = printed.lines().next().unwrap();
    assert!(first.ends_with(" · claude (permissions: skip)"), "{first}");
    let calls = workspace.note("calls");
    assert_eq!(
        calls,
        "-p --output-format stream-json --verbose --dangerously-skip-permissions\n"
    );
}

#[test]
fn the_users_arguments_are_passed_on() {
    let workspace = workspace(&format!(
        "echo \"$KEY\" >\"$notes/key\"\ntouch out\n{}",
        says(&[INIT, DONE])
    ));
    let flags = ["--agent-permissions", "own", "--agent-model", "opus"];
    let more = ["--agent-args", "--effort high", "--agent-env", "KEY=value"];
    let (code, printed) = run(&workspace, &[&flags[..], &more[..]].concat());
    assert_eq!(code, Some(0), "{printed}");
    let calls = workspace.note("calls");
    assert_eq!(
        calls,
        "-p --output-format stream-json --verbose --model opus --effort high\n"
    );
    assert_eq!(workspace.note("key"), "value\n");
}

#[test]
fn a_repository_says_nothing_about_how_the_agent_is_called() {
    for line in [
        "agent_permissions = 'skip'",
        "agent_model = 'x'",
        "agent_args = ['-x']",
        "agent_env = ['A=1']",
        "agent = 'acp:./evil'",
    ] {
        let workspace = workspace("").file("regreen.toml", line);
        let (code, printed) = run(&workspace, &[]);
        assert_eq!(code, Some(2), "{line}: {printed}");
        assert!(printed.contains("a repository may not"), "{printed}");
    }
}

#[test]
fn a_refused_login_ends_the_run_at_the_first_sign() {
    let retry = r#"{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":500,"error_status":401,"error":"authentication_failed"}"#;
    let workspace = workspace(&format!("{}sleep 300", says(&[INIT, retry])));
    let begun = Instant::now();
    let (code, printed) = run(&workspace, &[]);
    assert_eq!(code, Some(78), "{printed}");
    assert!(begun.elapsed() < SOON);
    assert!(printed.contains("authentication_failed"), "{printed}");
}

const REFUSED: &str =
    "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons";

#[test]
fn an_agent_that_refuses_to_start_ends_the_run_with_its_own_words() {
    let workspace = workspace(&format!("echo '{REFUSED}' >&2\nexit 1\n"));
    let (code, printed) = run(&workspace, &["--recovery-mode"]);
    assert_eq!(code, Some(78), "{printed}");
    let why = format!("claude ended before it started: {REFUSED}");
    assert!(printed.contains(&why), "{printed}");
    assert_eq!(workspace.note("calls").lines().count(), 1);
    assert!(!workspace.text("specs/demo/tasks.md").contains("FIX"));
    let delegated = workspace.command(&["delegate", "--prompt", "x", "--agent", "claude"]);
    let (code, printed) = output_of(delegated);
    assert_eq!(code, Some(78), "{printed}");
    assert!(printed.contains(&why), "{printed}");
}

#[test]
fn an_agent_that_began_before_is_started_once_more() {
    let workspace = workspace(&format!(
        "n=$(wc -l <\"$notes/calls\")\nif [ \"$n\" = 2 ]; then echo 'a passing trouble' >&2; exit 1; fi\n[ \"$n\" = 1 ] || touch out\n{}",
        says(&[INIT, DONE])
    ));
    let (code, printed) = run(&workspace, &[]);
    assert_eq!(code, Some(0), "{printed}");
    assert!(
        printed.contains("The agent crashed (exit code 1): a passing trouble"),
        "{printed}"
    );
}

#[test]
fn an_agent_that_finished_but_does_not_exit_counts_as_finished() {
    let workspace = workspace(&format!("touch out\n{}sleep 300", says(&[INIT, DONE])));
    let begun = Instant::now();
    let (code, printed) = run(&workspace, &[]);
    assert_eq!(code, Some(0), "{printed}");
    assert!(begun.elapsed() < SOON);
}

#[test]
fn an_exit_without_a_final_event_is_not_an_end() {
    let text = r#"{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"TASK_COMPLETE"}]}}"#;
    let workspace = workspace(&format!("touch out\n{}exit 0", says(&[INIT, text])));
    let (code, printed) = run(&workspace, &["--max-task-iterations", "1"]);
    assert_eq!(code, Some(1), "{printed}");
    assert!(
        printed.contains("The agent exited before it had finished (exit code 0)"),
        "{printed}"
    );
}

#[track_caller]
fn has_not_passed(workspace: &Workspace, flags: &[&str]) {
    let once = ["--max-task-iterations", "1"];
    let (code, printed) = run(workspace, &[flags, &once].concat());
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("reports that its run failed"), "{printed}");
    let plan = workspace.text("specs/demo/tasks.md");
    assert!(plan.contains("- [ ] 1.1"), "{plan}");
}

#[test]
fn a_signal_before_an_error_at_the_end_is_not_a_success() {
    let done = DONE.replace("\"is_error\":false", "\"is_error\":true");
    let workspace = workspace(&format!("touch out\n{}", says(&[INIT, &done])));
    has_not_passed(&workspace, &[]);
}

/// An agent over the protocol that signals, then stops for this reason.
fn stops_for(reason: &str) -> Workspace {
    let answer = |id: u32, result: &str| {
        says(&[&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#
        )])
    };
    let said = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"TASK_COMPLETE"}}}}"#;
    let script = format!(
        "while read -r line; do case $line in\n*'\"initialize\"'*) {} ;;\n*'\"session/new\"'*) {} ;;\n*'\"session/prompt\"'*) touch out\n{}{} ;;\nesac; done",
        answer(1, r#"{"protocolVersion":1}"#),
        answer(2, r#"{"sessionId":"s-1"}"#),
        says(&[said]),
        answer(3, &format!(r#"{{"stopReason":"{reason}"}}"#)),
    );
    let workspace = Workspace::with_tasks(TASK).agent("");
    let program = workspace.outside().join("speaker");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    workspace
}

fn speaker(workspace: &Workspace) -> String {
    format!("acp:{}", workspace.outside().join("speaker").display())
}

#[test]
fn a_signal_before_a_refusal_is_not_a_success() {
    let workspace = stops_for("refusal");
    has_not_passed(&workspace, &["--agent", &speaker(&workspace)]);
}

#[test]
fn a_signal_of_a_cancelled_agent_is_not_a_success() {
    let workspace = stops_for("cancelled");
    has_not_passed(&workspace, &["--agent", &speaker(&workspace)]);
    let workspace = stops_for("end_turn");
    let (code, printed) = run(&workspace, &["--agent", &speaker(&workspace)]);
    assert_eq!(code, Some(0), "{printed}");
}

#[test]
fn a_limit_that_falls_into_the_time_to_exit_cuts_nothing_off() {
    let workspace = workspace(&format!("touch out\n{}sleep 300", says(&[INIT, DONE])));
    let (code, printed) = run(&workspace, &["--timeout", "4s"]);
    assert_eq!(code, Some(0), "{printed}");
    assert_eq!(workspace.note("calls").lines().count(), 1);
}

#[test]
fn an_agent_that_spoke_before_its_timeout_has_made_progress() {
    let text = r#"{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"I look at it."}]}}"#;
    for (said, kind) in [
        (vec![INIT, text], "timeout_with_progress"),
        (vec![INIT], "timeout_no_progress"),
    ] {
        let workspace = workspace(&format!("{}sleep 300", says(&said)));
        let flags = ["--timeout", "3s", "--max-task-iterations", "1", "--json"];
        let (code, printed) = run(&workspace, &flags);
        assert_eq!(code, Some(1), "{printed}");
        assert!(printed.contains(&format!("\"{kind}\"")), "{printed}");
    }
}

#[test]
fn a_forbidden_tool_call_fails_and_ends_nothing() {
    let denied = r#"{"type":"system","subtype":"permission_denied","tool_name":"Bash","decision_reason_type":"rule","message":"Permission to use Bash with command curl has been denied."}"#;
    let workspace = workspace(&format!("touch out\n{}", says(&[INIT, denied, DONE])));
    for flags in [&["--agent-permissions", "own"][..], &[]] {
        let (code, printed) = run(&workspace, flags);
        assert_eq!(code, Some(0), "{printed}");
        assert_eq!(workspace.note("calls").lines().count(), 1);
    }
}

#[test]
fn a_permission_question_without_a_person_ends_the_run() {
    let denied = r#"{"type":"system","subtype":"permission_denied","tool_name":"Bash","message":"This command requires approval"}"#;
    let workspace = workspace(&format!("{}sleep 300", says(&[INIT, denied])));
    let (code, printed) = run(&workspace, &["--agent-permissions", "own"]);
    // It tries once more, in case it finds another way; then a person decides.
    assert_eq!(code, Some(3), "{printed}");
    assert_eq!(workspace.note("calls").lines().count(), 2);
    assert!(
        printed.contains("Bash: This command requires approval"),
        "{printed}"
    );
}

#[test]
fn a_session_is_gone_on_with_after_a_timeout_and_not_after_a_failure() {
    let hang = format!("{}sleep 300", says(&[INIT]));
    let fails = says(&[
        INIT,
        &DONE.replace("TASK_COMPLETE", "Task 1.1: Write it FAILED"),
    ]);
    let works = format!("touch out\n{}", says(&[INIT, DONE]));
    let workspace = workspace(&format!(
        "case $(wc -l <\"$notes/calls\") in\n*1) {hang} ;;\n*2) {fails} ;;\n*) {works} ;;\nesac"
    ));
    let (code, printed) = run(&workspace, &["--timeout", "3s"]);
    assert_eq!(code, Some(0), "{printed}");
    let calls = workspace.note("calls");
    let resumed: Vec<bool> = calls
        .lines()
        .map(|call| call.contains("--resume s-1"))
        .collect();
    assert_eq!(resumed, [false, true, false], "{calls}");
}

#[test]
fn a_limit_that_lasts_too_long_ends_the_run_to_be_tried_later() {
    let limit = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":4102444800}}"#;
    let workspace = workspace(&format!("{}sleep 300", says(&[INIT, limit])));
    let (code, printed) = run(&workspace, &["--max-wait", "1m"]);
    assert_eq!(code, Some(75), "{printed}");
}

/// An agent whose service has a limit; counts its calls.
fn limited(resets: &str) -> Workspace {
    let limit = format!(
        r#"{{"type":"rate_limit_event","rate_limit_info":{{"status":"rejected","resetsAt":'"{resets}"'}}}}"#
    );
    let works = format!("touch out\n{}", says(&[INIT, DONE]));
    workspace(&format!(
        "case $(wc -l <\"$notes/calls\") in\n*1) {}sleep 300 ;;\n*) {works} ;;\nesac",
        says(&[INIT, &limit])
    ))
}

#[test]
fn regreen_waits_out_a_limit_and_resumes_the_session() {
    let workspace = limited("$(($(date +%s) + 3))");
    let (code, printed) = run(&workspace, &["--keep-state"]);
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("    WAIT  1.1 until "), "{printed}");
    let calls = workspace.note("calls");
    assert!(
        calls.lines().nth(1).unwrap().contains("--resume s-1"),
        "{calls}"
    );
    // Waiting is not charged to anything.
    let state = workspace.text(STATE);
    assert!(state.contains("\"globalIteration\": 1"), "{state}");
}

#[test]
fn a_wait_that_was_killed_resumes_and_does_not_restart() {
    let workspace = limited("$(($(date +%s) + 8))");
    let begun = Instant::now();
    let mut child = start(&workspace, &["--json"]);
    wait_for(&workspace, "wait_started");
    child.kill().unwrap();
    child.wait().unwrap();
    let (code, printed) = run(&workspace, &[]);
    assert_eq!(code, Some(0), "{printed}");
    assert!(begun.elapsed() >= Duration::from_secs(7), "{printed}");
    let calls = workspace.note("calls");
    assert_eq!(calls.lines().count(), 2, "{calls}");
    assert!(
        calls.lines().nth(1).unwrap().contains("--resume s-1"),
        "{calls}"
    );
}

#[test]
fn a_wait_can_be_cut_short() {
    let workspace = limited("$(($(date +%s) + 3000))");
    let child = start(&workspace, &[]);
    wait_for(&workspace, "wait_started");
    let begun = Instant::now();
    assert!(send_signal("INT", child.id()));
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(begun.elapsed() < SOON);
}

#[test]
fn a_session_that_was_killed_is_gone_on_with() {
    let works = format!("touch out\n{}", says(&[INIT, DONE]));
    let workspace = workspace(&format!(
        "case $(wc -l <\"$notes/calls\") in\n*1) {}touch \"$notes/said\"; sleep 300 ;;\n*) {works} ;;\nesac",
        says(&[INIT])
    ));
    let mut child = start(&workspace, &[]);
    wait_for(&workspace, "session_seen");
    child.kill().unwrap();
    child.wait().unwrap();
    let (code, printed) = run(&workspace, &[]);
    assert_eq!(code, Some(0), "{printed}");
    let calls = workspace.note("calls");
    assert!(
        calls.lines().nth(1).unwrap().contains("--resume s-1"),
        "{calls}"
    );
}

#[test]
fn an_agent_that_only_retries_is_ended_and_regreen_waits() {
    let retry = r#"{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":500,"error_status":529,"error":"overloaded"}"#;
    let workspace = workspace(&format!("{}sleep 300", says(&[INIT, retry, retry, retry])));
    let begun = Instant::now();
    let (code, printed) = run(&workspace, &["--max-wait", "1s"]);
    assert_eq!(code, Some(75), "{printed}");
    assert!(begun.elapsed() < SOON);
}

#[test]
fn an_agent_that_only_compacts_its_context_is_ended_and_restarted() {
    let overflow = r#"{"type":"error","sessionID":"ses_1","error":{"name":"ContextOverflowError","data":{"message":"too long"}}}"#;
    let done =
        r#"{"type":"text","sessionID":"ses_2","part":{"messageID":"m","text":"TASK_COMPLETE"}}"#;
    let stop = r#"{"type":"step_finish","sessionID":"ses_2","part":{"reason":"stop"}}"#;
    let workspace = workspace(&format!(
        "case $(wc -l <\"$notes/calls\") in\n*1) {}sleep 300 ;;\n*) touch out\n{} ;;\nesac",
        says(&[overflow, overflow]),
        says(&[done, stop])
    ));
    let bin = workspace.outside().join("bin");
    fs::rename(bin.join("claude"), bin.join("opencode")).unwrap();
    let begun = Instant::now();
    let (code, printed) = run(&workspace, &["--agent", "opencode", "--json"]);
    assert_eq!(code, Some(0), "{printed}");
    assert!(begun.elapsed() < SOON);
    assert!(printed.contains(r#""class":"session""#), "{printed}");
    let calls = workspace.note("calls");
    assert!(!calls.contains("-s ses_1"), "{calls}");
}

#[test]
fn an_agent_that_asks_a_person_is_ended_and_its_question_is_shown() {
    let asks = r#"{"type":"assistant","message":{"model":"m","content":[{"type":"tool_use","id":"t","name":"AskUserQuestion","input":{"questions":[{"question":"Tabs or blanks?"}]}}]}}"#;
    let workspace = workspace(&format!("{}sleep 300", says(&[INIT, asks])));
    let begun = Instant::now();
    let (code, printed) = run(&workspace, &["--max-task-iterations", "1"]);
    assert_eq!(code, Some(1), "{printed}");
    assert!(begun.elapsed() < SOON);
    assert!(
        printed.contains("The agent stopped to ask something: Tabs or blanks?"),
        "{printed}"
    );
}

#[test]
fn the_first_that_is_installed_is_taken_in_order() {
    let script = format!("touch out\n{}", says(&[INIT, DONE]));
    let workspace = workspace(&script);
    let bin = workspace.outside().join("bin");
    for name in ["codex", "gemini", "opencode"] {
        fs::copy(bin.join("claude"), bin.join(name)).unwrap();
    }
    for name in ["claude", "codex", "gemini", "opencode"] {
        // Whatever is installed on this machine.
        let output = workspace.command(&["agents"]).env("PATH", &bin).output();
        let printed = String::from_utf8(output.unwrap().stdout).unwrap();
        let last = format!("`regreen run` would use {name} (agent = auto)\n");
        assert!(printed.ends_with(&last), "{printed}");
        fs::remove_file(bin.join(name)).unwrap();
    }
}

#[test]
fn it_is_shown_how_each_agent_would_be_called() {
    let workspace = workspace("echo '7.8.9 (Claude Code)'");
    let flags = ["--agent", "acp:my-agent --acp", "--agent-model", "opus"];
    let output = workspace
        .command(&[&["agents"], &flags[..]].concat())
        .env("ANTHROPIC_API_KEY", "dummy")
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    for part in [
        "7.8.9",
        "login:  ANTHROPIC_API_KEY is set",
        "call:   claude -p --output-format stream-json --verbose --dangerously-skip-permissions --model opus < PROMPT",
        "would use acp (agent = acp:my-agent --acp)",
        "call:   my-agent --acp\n",
    ] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    let output = workspace
        .command(&["agents", "--timeout", "3s"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "an agent has no time limit");
}
