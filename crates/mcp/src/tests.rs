//! The server as a client sees it: lines in, lines out.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use regreen_model::Timestamp;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex, split};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use crate::server::{Face, serve_on};
use crate::{Cancellation, CommandCall, CommandResult, Commands, Options, RunProgress, StartedRun};

/// Remembers what it was asked for.
struct Recorded {
    calls: Mutex<Vec<CommandCall>>,
    /// `delegate` waits until it is canceled, and then says so here.
    canceled: Mutex<Sender<()>>,
    ended: Option<CommandResult>,
}

impl Commands for Recorded {
    fn perform(
        &self,
        call: &CommandCall,
        cancellation: &Cancellation,
        message: &mut dyn FnMut(&str),
    ) -> io::Result<CommandResult> {
        self.calls.lock().unwrap().push(call.clone());
        if call.input == "wait" {
            let (sender, ended) = channel();
            cancellation.on_cancel(move || sender.send(()).unwrap());
            ended.recv().unwrap();
            self.canceled.lock().unwrap().send(()).unwrap();
            return Ok(CommandResult::default());
        }
        message("attempt 1\u{1b}[2J");
        Ok(match call.arguments.first().map(String::as_str) {
            Some("questions") => CommandResult {
                exit_code: Some(0),
                output: "[]\n".to_owned(),
                messages: String::new(),
            },
            Some("status") => CommandResult {
                exit_code: Some(2),
                output: String::new(),
                messages: "no specs here\n".to_owned(),
            },
            _ => CommandResult {
                exit_code: Some(0),
                output: "{\"status\": \"completed\"}\n".to_owned(),
                messages: "a note\n".to_owned(),
            },
        })
    }

    fn start_run(&self, call: &CommandCall) -> Result<StartedRun, CommandResult> {
        self.calls.lock().unwrap().push(call.clone());
        Ok(StartedRun {
            key: "abc/20260101-000000".to_owned(),
            run: "20260101-000000".to_owned(),
            spec: "login".to_owned(),
            process: 4711,
        })
    }

    fn run_progress(&self, key: &str) -> Option<RunProgress> {
        (key == "abc/20260101-000000").then(|| RunProgress {
            started: Timestamp::from_millis(0),
            last_sign: Timestamp::from_millis(1000),
            message: "1.2 attempt 1".to_owned(),
            ended: self.ended.clone(),
        })
    }

    fn stop_run(&self, _key: &str) -> Result<(), String> {
        Err("only the person who runs regreen may decide this".to_owned())
    }
}

/// A client of a server, on this thread.
struct Client {
    runtime: Runtime,
    end: BufReader<DuplexStream>,
    commands: Arc<Recorded>,
    canceled: Receiver<()>,
}

impl Client {
    /// Connects with the protocol's last version that has `initialize`.
    fn connect() -> Self {
        let mut client = Self::start(None);
        client.send(
            &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}}}),
        );
        let answer = client.receive();
        assert_eq!(answer["result"]["serverInfo"]["name"], "regreen");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn start(ended: Option<CommandResult>) -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (sender, canceled) = channel();
        let commands = Arc::new(Recorded {
            calls: Mutex::default(),
            canceled: Mutex::new(sender),
            ended,
        });
        let options = Options {
            version: "0.0.0".to_owned(),
            may_answer: false,
            now: || Timestamp::from_millis(0),
        };
        let (ours, theirs) = duplex(1024 * 1024);
        let face = Face::new(Arc::clone(&commands) as Arc<dyn Commands>, options);
        let (input, output) = split(theirs);
        runtime.spawn(serve_on(face, input, output));
        Self {
            runtime,
            end: BufReader::new(ours),
            commands,
            canceled,
        }
    }

    fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    fn send_line(&mut self, line: &str) {
        let line = format!("{line}\n");
        let written = self.end.get_mut().write_all(line.as_bytes());
        self.runtime.block_on(written).unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        let read = async { timeout(Duration::from_secs(20), self.end.read_line(&mut line)).await };
        self.runtime
            .block_on(read)
            .expect("an answer in time")
            .unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}}));
        self.receive()
    }
}

#[test]
fn a_tool_is_a_command_whose_output_is_the_result() {
    let mut client = Client::connect();
    let answer = client.call("delegate_task", &json!({"prompt": "do it", "cwd": "/w"}));
    assert_eq!(answer["result"]["isError"], Value::Bool(false));
    assert_eq!(
        answer["result"]["structuredContent"],
        json!({"status": "completed"})
    );
    let calls = client.commands.calls.lock().unwrap();
    assert_eq!(calls[0].input, "do it");
    assert_eq!(calls[0].folder.as_deref(), Some("/w".as_ref()));
}

#[test]
fn a_list_is_an_object_with_the_list() {
    let answer = Client::connect().call("questions", &json!({}));
    assert_eq!(
        answer["result"]["structuredContent"],
        json!({"questions": []})
    );
}

#[test]
fn a_command_that_fails_is_an_error_with_its_messages() {
    let answer = Client::connect().call("status", &json!({}));
    assert_eq!(answer["result"]["isError"], Value::Bool(true));
    assert_eq!(answer["result"]["content"][0]["text"], "no specs here");
}

#[test]
fn wrong_arguments_run_nothing_and_are_explained() {
    let mut client = Client::connect();
    let answer = client.call("delegate_task", &json!({"text": "x"}));
    assert_eq!(answer["result"]["isError"], Value::Bool(true));
    assert_eq!(
        answer["result"]["content"][0]["text"],
        "`prompt` is missing"
    );
    assert!(client.commands.calls.lock().unwrap().is_empty());
}

#[test]
fn an_unknown_tool_is_an_error_of_the_protocol() {
    let mut client = Client::connect();
    for tool in ["accept_plan", "answer"] {
        let answer = client.call(tool, &json!({"question": "1.1", "choice": "skip"}));
        assert_eq!(answer["error"]["message"], format!("unknown tool `{tool}`"));
    }
}

#[test]
fn a_client_that_asks_for_progress_gets_it_without_control_characters() {
    let mut client = Client::connect();
    client.send(
        &json!({"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {
        "name": "explain", "arguments": {"log": "boom"}, "_meta": {"progressToken": "t"}}}),
    );
    let first = client.receive();
    assert_eq!(first["method"], "notifications/progress");
    assert_eq!(first["params"]["message"], "attempt 1");
    assert_eq!(client.receive()["id"], 8);
}

#[test]
fn a_canceled_request_ends_its_command() {
    let mut client = Client::connect();
    client.send(&json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call",
        "params": {"name": "delegate_task", "arguments": {"prompt": "wait"}}}));
    client.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": 9}}),
    );
    client
        .canceled
        .recv_timeout(Duration::from_secs(20))
        .unwrap();
}

#[test]
fn a_run_is_answered_at_once_with_its_id() {
    let mut client = Client::connect();
    let answer = client.call("run", &json!({"spec": "login"}));
    assert_eq!(
        answer["result"]["structuredContent"],
        json!({"run": "20260101-000000", "spec": "login", "process": 4711})
    );
}

/// What every request of the newest protocol carries.
fn meta(capabilities: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

#[test]
fn the_newest_protocol_needs_no_handshake_and_gets_a_run_as_a_task() {
    let ended = CommandResult {
        exit_code: Some(0),
        output: "{\"v\": 1}".to_owned(),
        messages: String::new(),
    };
    let mut client = Client::start(Some(ended));
    let meta = meta(&json!({"extensions": {"io.modelcontextprotocol/tasks": {}}}));
    client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "run", "arguments": {}, "_meta": meta}}));
    let answer = client.receive();
    assert_eq!(answer["result"]["resultType"], "task", "{answer}");
    let id = &answer["result"]["taskId"];
    client.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tasks/get",
        "params": {"taskId": id, "_meta": meta}}));
    let answer = client.receive();
    assert_eq!(answer["result"]["status"], "completed", "{answer}");
    assert_eq!(
        answer["result"]["result"]["structuredContent"],
        json!({"v": 1})
    );
    client.send(&json!({"jsonrpc": "2.0", "id": 3, "method": "tasks/get",
        "params": {"taskId": "nothing", "_meta": meta}}));
    let message = client.receive();
    assert_eq!(
        message["error"]["message"],
        "no run `nothing` on this machine"
    );
}

/// Requests as a confused or hostile client might send them.
fn request() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        Just("delegate_task".to_owned()),
        Just("why".to_owned()),
        Just("explain".to_owned()),
        ".{0,12}",
    ];
    let value = prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(json!(null)),
        Just(json!([{"a": {}}])),
    ];
    let arguments = prop::collection::btree_map("prompt|log|task|cwd|[a-z]{0,5}", value, 0..4);
    let method = prop_oneof![
        Just("tools/call".to_owned()),
        Just("tasks/get".to_owned()),
        "[a-z/]{0,12}"
    ];
    let call =
        (name, arguments, method, any::<bool>()).prop_map(|(name, arguments, method, has_id)| {
            let mut call = json!({"jsonrpc": "2.0", "method": method,
            "params": {"name": name, "arguments": arguments, "taskId": name}});
            if has_id {
                call["id"] = json!(5);
            }
            call.to_string()
        });
    prop_oneof![8 => call, 1 => "[^\n]{0,40}", 1 => Just("{}".to_owned())]
}

proptest! {
    #[test]
    fn no_request_ends_the_server(requests in prop::collection::vec(request(), 1..20)) {
        let mut client = Client::connect();
        for request in requests {
            client.send_line(&request.replace(['\n', '\r'], " "));
        }
        client.send(&json!({"jsonrpc": "2.0", "id": "last", "method": "ping"}));
        while client.receive()["id"] != "last" {}
    }
}
