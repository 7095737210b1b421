//! Agents that stop to ask a question, each in its own way.

use std::fs;

use regreen_test_support::Workspace;

use crate::agents::{run, says};

const TASK: &str = "- [ ] 1.1 Write it\n  - **Verify**: `test -f out`\n";
const WORDS: &str = "I looked around. Awaiting your input on the storage engine.";

/// A workspace with a program in place of an agent. It prints these lines, then waits as if for an
/// answer, or exits.
fn asking(agent: &str, lines: &[&str], waits: bool) -> Workspace {
    let end = if waits { "sleep 300" } else { "" };
    Workspace::with_tasks(TASK).program(agent, &format!("{}{end}", says(lines)))
}

/// The attempt is diagnosed as a question and repeated once with more context; then a person
/// decides. No fix is added, and nothing crashes.
#[track_caller]
fn check(workspace: &Workspace, agent: &str, asked: &str) {
    let flags = [
        "--agent",
        agent,
        "--recovery-mode",
        "--json",
        "--agent-permissions",
        "own",
    ];
    let (code, printed) = run(workspace, &flags);
    assert_eq!(code, Some(3), "{agent}: {printed}");
    let events = printed
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let events: Vec<serde_json::Value> = events.collect();
    let named = |name: &str| {
        events
            .iter()
            .filter(|event| event["event"] == *name)
            .count()
    };
    assert_eq!(named("attempt_started"), 2, "{agent}: {printed}");
    assert_eq!(named("fix_planned"), 0, "{agent}: {printed}");
    for failed in events
        .iter()
        .filter(|event| event["event"] == "task_failed")
    {
        let diagnosis = &failed["diagnosis"];
        assert_eq!(diagnosis["kind"], "asked_question", "{agent}: {failed}");
        let blocked_on = diagnosis["blocked_on"].as_str().unwrap();
        assert!(blocked_on.contains(asked), "{agent}: {blocked_on}");
    }
    let tasks = fs::read_to_string(workspace.path("specs/demo/tasks.md"));
    let tasks = tasks.or_else(|_| fs::read_to_string(workspace.path("tasks.md")));
    assert!(!tasks.unwrap_or_default().contains("[FIX"), "{agent}");
}

#[test]
fn a_question_in_words_is_the_cause_with_every_agent() {
    let result =
        format!(r#"{{"type":"result","subtype":"success","is_error":false,"result":"{WORDS}"}}"#);
    let init = r#"{"type":"system","subtype":"init","session_id":"s-1"}"#;
    check(
        &asking("claude", &[init, &result], false),
        "claude",
        "storage engine",
    );
    let message = format!(
        r#"{{"type":"item.completed","item":{{"id":"i","type":"agent_message","text":"{WORDS}"}}}}"#
    );
    let done = r#"{"type":"turn.completed","usage":{}}"#;
    check(
        &asking("codex", &[&message, done], false),
        "codex",
        "storage engine",
    );
    let message =
        format!(r#"{{"type":"message","role":"assistant","content":"{WORDS}","delta":true}}"#);
    let done = r#"{"type":"result","status":"success","stats":{}}"#;
    check(
        &asking("gemini", &[&message, done], false),
        "gemini",
        "storage engine",
    );
    let message = format!(
        r#"{{"type":"text","sessionID":"ses_1","part":{{"messageID":"m","text":"{WORDS}"}}}}"#
    );
    let done = r#"{"type":"step_finish","sessionID":"ses_1","part":{"reason":"stop"}}"#;
    check(
        &asking("opencode", &[&message, done], false),
        "opencode",
        "storage engine",
    );
}

#[test]
fn a_question_tool_ends_the_attempt_with_the_question() {
    let claude = r#"{"type":"assistant","message":{"model":"m","content":[{"type":"tool_use","id":"t","name":"AskUserQuestion","input":{"questions":[{"question":"Tabs or blanks?"}]}}]}}"#;
    check(
        &asking("claude", &[claude], true),
        "claude",
        "Tabs or blanks?",
    );
    let gemini = r#"{"type":"tool_use","tool_name":"ask_user","tool_id":"t","parameters":{"questions":[{"question":"Tabs or blanks?"}]}}"#;
    check(
        &asking("gemini", &[gemini], true),
        "gemini",
        "Tabs or blanks?",
    );
    let opencode = r#"{"type":"tool_use","sessionID":"ses_1","part":{"tool":"question","callID":"c","state":{"status":"error","input":{"questions":[{"question":"Tabs or blanks?"}]}}}}"#;
    check(
        &asking("opencode", &[opencode], true),
        "opencode",
        "Tabs or blanks?",
    );
}

#[test]
fn a_permission_that_no_one_can_grant_is_a_question() {
    let claude = r#"{"type":"system","subtype":"permission_denied","tool_name":"Bash","message":"This command requires approval"}"#;
    let workspace = asking("claude", &[claude], true);
    check(&workspace, "claude", "requires approval");
    let script = "echo 'permission requested: bash (make); auto-rejecting' >&2\nsleep 300";
    let opencode = Workspace::with_tasks(TASK).program("opencode", script);
    check(&opencode, "opencode", "permission requested: bash");
}

#[test]
fn over_the_protocol_a_permission_is_a_question_too() {
    let script = r#"read -r line
printf '%s\n' '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}'
read -r line
printf '%s\n' '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s-1"}}'
read -r line
printf '%s\n' '{"jsonrpc":"2.0","id":9,"method":"session/request_permission","params":{"sessionId":"s-1","toolCall":{"toolCallId":"t","title":"Run make"},"options":[{"optionId":"a","name":"Allow","kind":"allow_once"}]}}'
sleep 300"#;
    let workspace = Workspace::with_tasks(TASK).file("speaker.sh", script);
    check(&workspace, "acp:sh speaker.sh", "Run make");
}
