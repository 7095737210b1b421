//! A child with its own sessions, tools and service.

use regreen_test_support::Workspace;

const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s-1"}"#;
const TOOL: &str = r#"{"type":"assistant","message":{"model":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}"#;
const DONE: &str = r#"{"type":"result","subtype":"success","is_error":false,"result":"All done.","total_cost_usd":0.5,"usage":{"input_tokens":7,"output_tokens":3}}"#;

fn says(lines: &[&str]) -> String {
    let lines = lines.iter();
    lines
        .map(|line| format!("printf '%s\\n' '{line}'\n"))
        .collect()
}

#[test]
fn the_session_is_gone_on_with_after_a_timeout_and_the_tools_are_counted() {
    let workspace = Workspace::new().program(
        "claude",
        &format!(
            "case $REGREEN_ATTEMPT in\n1) {}sleep 60 ;;\n*) {} ;;\nesac",
            says(&[INIT, TOOL]),
            says(&[INIT, DONE])
        ),
    );
    let flags = ["--prompt", "Do it.", "--timeout", "3s", "--retries", "2"];
    let output = workspace.delegate(&flags);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    assert!(
        output
            .stdout
            .starts_with("All done.\n\nExecution summary:\n"),
        "{}",
        output.stdout
    );
    assert!(
        output.stdout.contains("  Tools used: Bash 1\n"),
        "{}",
        output.stdout
    );
    let calls = workspace.note("calls");
    let resumed: Vec<bool> = calls
        .lines()
        .map(|call| call.contains("--resume s-1"))
        .collect();
    assert_eq!(resumed, [false, true], "{calls}");
    // A resumed session already knows the task.
    let second = workspace.note("2.prompt");
    assert!(second.starts_with("## What happened before\n"), "{second}");
}

#[test]
fn an_exit_without_a_final_event_is_not_a_success() {
    let workspace = Workspace::new().program("claude", &format!("{}exit 0", says(&[INIT, TOOL])));
    let output = workspace.delegate(&["--prompt", "Do it."]);
    assert_eq!(output.code, Some(1), "{}", output.stdout);
    assert_eq!(output.tag("status"), Some("failed"));
}

#[test]
fn a_service_that_is_away_for_too_long_is_for_later() {
    let limit = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":4102444800}}"#;
    let workspace =
        Workspace::new().program("claude", &format!("{}sleep 300", says(&[INIT, limit])));
    let output = workspace.delegate(&["--prompt", "Do it.", "--max-wait", "1m"]);
    assert_eq!(output.code, Some(75), "{}{}", output.stdout, output.stderr);
    assert!(
        output.stderr.contains("Try again later: "),
        "{}",
        output.stderr
    );
}

#[test]
fn a_refused_login_ends_it_at_once() {
    let retry = r#"{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":500,"error_status":401,"error":"authentication_failed"}"#;
    let workspace =
        Workspace::new().program("claude", &format!("{}sleep 300", says(&[INIT, retry])));
    let output = workspace.delegate(&["--prompt", "Do it.", "--retries", "3"]);
    assert_eq!(output.code, Some(78), "{}{}", output.stdout, output.stderr);
    assert!(!workspace.has_note("2.prompt"));
}

#[test]
fn a_service_that_comes_back_is_waited_for_and_costs_no_attempt() {
    let limit = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":'$(($(date +%s) + 2))'}}"#;
    let workspace = Workspace::new().program(
        "claude",
        &format!(
            "case $REGREEN_ATTEMPT in\n1) {}sleep 300 ;;\n*) {} ;;\nesac",
            says(&[INIT, limit]),
            says(&[INIT, DONE])
        ),
    );
    let output = workspace.delegate(&["--prompt", "Do it.", "--max-wait", "1m"]);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    assert!(output.stderr.contains("waiting "), "{}", output.stderr);
    let waited = "Recovered: rate_limited: waited for the agent's service; tried again";
    assert!(output.stdout.contains(waited), "{}", output.stdout);
}
