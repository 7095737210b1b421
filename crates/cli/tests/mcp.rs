//! `regreen mcp`, as an agent uses it.
#![cfg(all(target_os = "linux", feature = "mcp"))]
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use regreen_test_support::{Workspace, send_signal, wait_until};
use serde_json::{Value, json};

/// A server, and the client that started it.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn connect(workspace: &Workspace, environment: &[(&str, &str)]) -> Self {
        let mut child = workspace
            .command(&["mcp"])
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut client = Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
        };
        client.send(
            &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}}}),
        );
        assert_eq!(client.receive()["result"]["serverInfo"]["name"], "regreen");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn start(&mut self, tool: &str, arguments: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}}));
    }

    /// Calls a tool, and returns its result.
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.start(tool, arguments);
        self.receive()["result"].take()
    }

    /// Hangs up, and waits until the server has ended.
    fn leave(mut self) {
        drop(self.input.take());
        assert!(self.child.wait().unwrap().success());
    }
}

/// A workspace whose user has the scripted agent in their own configuration.
fn workspace(arms: &str, settings: &str) -> Workspace {
    let workspace = Workspace::with_tasks("- [ ] 1.1 Write it\n  - **Verify**: `test -f out`\n");
    let workspace = workspace.child_agent(arms);
    let agent = workspace.agent_flag();
    workspace.file(
        "user/.config/regreen/config.toml",
        format!("agent = {agent:?}\n{settings}"),
    )
}

#[test]
fn a_delegated_task_is_checked_and_answered() {
    let workspace = workspace("1) touch out; echo 'I wrote out.' ;;", "");
    let mut client = Client::connect(&workspace, &[]);
    let task = json!({"prompt": "Write out.", "verify": "test -f out", "timeout": 60});
    let result = client.call("delegate_task", &task);
    assert_eq!(result["isError"], Value::Bool(false), "{result}");
    let answer = &result["structuredContent"];
    assert_eq!(answer["status"], "completed");
    assert_eq!(answer["completion"]["verified"], "test -f out");
    client.leave();
}

#[test]
fn a_failed_delegation_says_why() {
    let workspace = workspace(
        "1) echo \"ModuleNotFoundError: No module named 'pytest'\"; exit 1 ;;",
        "",
    );
    let mut client = Client::connect(&workspace, &[]);
    let result = client.call("delegate_task", &json!({"prompt": "Run the tests."}));
    assert_eq!(result["isError"], Value::Bool(true));
    let failure = &result["structuredContent"]["failure"];
    assert_eq!(failure["category"], "tool_error", "{result}");
    client.leave();
}

#[test]
fn a_client_that_vanishes_leaves_no_process() {
    let workspace = workspace(
        "1) echo $$ >\"$notes/pid\"; touch \"$notes/there\"; sleep 600 ;;",
        "",
    );
    let mut client = Client::connect(&workspace, &[]);
    client.start("delegate_task", &json!({"prompt": "Take your time."}));
    wait_until(|| workspace.has_note("there"));
    let pid: u32 = workspace.note("pid").trim().parse().unwrap();
    client.leave();
    wait_until(|| !send_signal("0", pid));
}

#[test]
fn a_run_is_started_at_once_and_followed() {
    let workspace = workspace("*) touch out; echo TASK_COMPLETE ;;", "");
    let mut client = Client::connect(&workspace, &[]);
    let started = client.call("run", &json!({"spec": "demo"}));
    let run = started["structuredContent"]["run"].as_str();
    assert!(run.is_some(), "{started}");
    let run = run.unwrap().to_owned();
    let mut status = Value::Null;
    for _ in 0..600 {
        status = client.call("status", &json!({"spec": "demo"}))["structuredContent"].take();
        if !status["run"]["outcome"].is_null() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(status["run"]["id"], run);
    assert_eq!(status["run"]["outcome"], "all_green", "{status}");
    client.leave();
}

#[test]
fn an_agent_can_decide_nothing_through_its_own_server() {
    let workspace = workspace("*) exit 1 ;;", "mcp.answer = true\n");
    let below_a_keeper = [("REGREEN_KEEPER", "tree-1:x:1")];
    let mut client = Client::connect(&workspace, &below_a_keeper);
    for (tool, arguments) in [
        ("stop", json!({})),
        ("answer", json!({"question": "1.1", "choice": "skip"})),
    ] {
        let result = client.call(tool, &arguments);
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        assert!(text.contains("decides for a person"), "{tool}: {result}");
    }
    client.leave();
}

#[test]
fn questions_are_answered_only_where_the_user_allows_it() {
    for (settings, is_offered) in [("", false), ("mcp.answer = true\n", true)] {
        let workspace = workspace("*) exit 1 ;;", settings);
        let mut client = Client::connect(&workspace, &[]);
        client.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}));
        let tools = client.receive()["result"]["tools"].take();
        let names: Vec<&str> = tools
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        assert_eq!(names.contains(&"answer"), is_offered, "{names:?}");
        client.leave();
    }
}
