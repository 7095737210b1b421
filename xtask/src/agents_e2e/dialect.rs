//! Replies and errors in the formats of the agents' services.

use std::path::Path;

use serde_json::{Value, json};

use super::agents::Cli;
use super::model_server::{Failure, Reply, Tool};

/// Part of a streamed answer: the name of the event, and its data.
pub(crate) type Part = (String, Value);

/// Returns the body of an error.
pub(crate) fn failure(cli: Cli, failure: &Failure) -> Value {
    let Failure {
        status,
        word,
        message,
        retry_after,
    } = failure;
    match cli {
        Cli::Claude => json!({"type": "error", "error": {"type": word, "message": message}}),
        Cli::Codex | Cli::Opencode => {
            json!({"error": {"message": message, "type": word, "param": null, "code": word}})
        }
        Cli::Gemini => {
            let kind = "type.googleapis.com/google.rpc.RetryInfo";
            let details =
                retry_after.map(|s| json!([{"@type": kind, "retryDelay": format!("{s}s")}]));
            json!({"error": {"code": status, "message": message, "status": word, "details": details.unwrap_or(json!([]))}})
        }
    }
}

/// Returns the name and input of a tool, as the agent calls it.
fn tool(cli: Cli, root: &Path, tool: &Tool) -> (&'static str, Value) {
    let at = |path: &str| root.join(path).display().to_string();
    match (cli, tool) {
        (Cli::Claude, Tool::Write(path, content)) => {
            ("Write", json!({"file_path": at(path), "content": content}))
        }
        (Cli::Claude, Tool::Run(command)) => {
            ("Bash", json!({"command": command, "description": "run"}))
        }
        (Cli::Claude, Tool::Ask(question)) => ("AskUserQuestion", asked(question, "label")),
        (Cli::Gemini, Tool::Ask(question)) => ("ask_user", asked(question, "label")),
        (Cli::Codex, Tool::Ask(question)) => ("request_user_input", asked(question, "label")),
        (Cli::Opencode, Tool::Ask(question)) => ("question", asked(question, "label")),
        (Cli::Codex, Tool::Write(path, content)) => (
            "exec_command",
            json!({"cmd": format!("printf '%s' '{content}' > {path}")}),
        ),
        (Cli::Codex, Tool::Run(command)) => ("exec_command", json!({"cmd": command})),
        (Cli::Gemini, Tool::Write(path, content)) => (
            "write_file",
            json!({"file_path": at(path), "content": content}),
        ),
        (Cli::Gemini, Tool::Run(command)) => ("run_shell_command", json!({"command": command})),
        (Cli::Opencode, Tool::Write(path, content)) => {
            ("write", json!({"filePath": at(path), "content": content}))
        }
        (Cli::Opencode, Tool::Run(command)) => {
            ("bash", json!({"command": command, "description": "run"}))
        }
    }
}

/// Returns the input of a question tool; all agents use much the same.
fn asked(question: &str, label: &str) -> Value {
    let options = ["Tabs", "Blanks"].map(|text| json!({label: text, "description": text}));
    json!({"questions": [{"id": "q", "question": question, "header": "Style", "type": "choice",
        "multiSelect": false, "options": options}]})
}

/// Returns a streamed answer. `number` tells answers apart.
pub(crate) fn answer(
    cli: Cli,
    root: &Path,
    number: usize,
    text: &str,
    tools: &[Tool],
) -> Vec<Part> {
    let tools: Vec<(&str, Value)> = tools.iter().map(|used| tool(cli, root, used)).collect();
    match cli {
        Cli::Claude => messages(number, text, &tools),
        Cli::Codex => responses(number, text, &tools),
        Cli::Gemini => vec![(String::new(), generated(number, text, &tools))],
        Cli::Opencode => chat(number, text, &tools),
    }
}

fn messages(number: usize, text: &str, tools: &[(&str, Value)]) -> Vec<Part> {
    let usage = json!({"input_tokens": 100, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0});
    let message = json!({"id": format!("msg_{number:024}"), "type": "message", "role": "assistant",
        "model": "scripted", "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage});
    let mut parts = vec![json!({"type": "message_start", "message": message})];
    let mut block = |index: usize, start: Value, delta: Value| {
        parts.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        parts.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        parts.push(json!({"type": "content_block_stop", "index": index}));
    };
    block(
        0,
        json!({"type": "text", "text": ""}),
        json!({"type": "text_delta", "text": text}),
    );
    for (at, (name, input)) in tools.iter().enumerate() {
        let id = format!("toolu_{number:020}{at:04}");
        let start = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
        let delta = json!({"type": "input_json_delta", "partial_json": input.to_string()});
        block(at + 1, start, delta);
    }
    let stop = if tools.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    };
    parts.push(json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": {"output_tokens": 20}}));
    parts.push(json!({"type": "message_stop"}));
    let named = |part: Value| (part["type"].as_str().unwrap_or_default().to_owned(), part);
    parts.into_iter().map(named).collect()
}

fn responses(number: usize, text: &str, tools: &[(&str, Value)]) -> Vec<Part> {
    let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
    let mut items = vec![
        json!({"type": "message", "id": format!("msg_{number}"), "role": "assistant", "status": "completed", "content": content}),
    ];
    for (at, (name, input)) in tools.iter().enumerate() {
        items.push(json!({"type": "function_call", "id": format!("fc_{number}_{at}"), "call_id": format!("call_{number}_{at}"),
            "name": name, "arguments": input.to_string(), "status": "completed"}));
    }
    let usage = json!({"input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 120});
    let id = format!("resp_{number}");
    let mut parts = vec![
        json!({"type": "response.created", "response": {"id": id, "object": "response", "status": "in_progress", "output": []}}),
    ];
    for (at, item) in items.iter().enumerate() {
        parts.push(json!({"type": "response.output_item.added", "output_index": at, "item": item}));
        parts.push(json!({"type": "response.output_item.done", "output_index": at, "item": item}));
    }
    parts.push(json!({"type": "response.completed", "response": {"id": id, "object": "response", "status": "completed", "output": items, "usage": usage}}));
    let named = |part: Value| (part["type"].as_str().unwrap_or_default().to_owned(), part);
    parts.into_iter().map(named).collect()
}

fn generated(number: usize, text: &str, tools: &[(&str, Value)]) -> Value {
    let calls = tools.iter().enumerate();
    let calls = calls.map(|(at, (name, input))| json!({"functionCall": {"name": name, "args": input, "id": format!("fc_{number}_{at}")}}));
    let parts: Vec<Value> = [json!({"text": text})].into_iter().chain(calls).collect();
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120},
        "modelVersion": "scripted", "responseId": format!("r{number}")})
}

fn chat(number: usize, text: &str, tools: &[(&str, Value)]) -> Vec<Part> {
    let chunk = |delta: Value, finish: Value, usage: Value| {
        json!({"id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk", "created": 1, "model": "scripted",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], "usage": usage})
    };
    let calls = tools.iter().enumerate();
    let calls: Vec<Value> = calls
        .map(|(at, (name, input))| {
            json!({"index": at, "id": format!("call_{number:08}{at:04}"), "type": "function",
            "function": {"name": name, "arguments": input.to_string()}})
        })
        .collect();
    let finish = if calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    };
    let mut parts = vec![chunk(
        json!({"role": "assistant", "content": text}),
        Value::Null,
        Value::Null,
    )];
    if !calls.is_empty() {
        parts.push(chunk(
            json!({"tool_calls": calls}),
            Value::Null,
            Value::Null,
        ));
    }
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120});
    parts.push(chunk(json!({}), json!(finish), usage));
    parts
        .into_iter()
        .map(|part| (String::new(), part))
        .collect()
}

pub(crate) const FAILED: &str = "Task 1.1: Write it FAILED\n- Error: File not found: src/parser.ts\n- Attempted fix: Checked alternate paths\n- Status: Blocked, needs manual intervention";
pub(crate) const DONE: &str = "All done.\nTASK_COMPLETE";

pub(crate) fn unauthorized(cli: Cli) -> Reply {
    match cli {
        Cli::Claude => Reply::fail(401, "authentication_error", "invalid x-api-key"),
        Cli::Codex | Cli::Opencode => {
            Reply::fail(401, "invalid_api_key", "Incorrect API key provided: dummy.")
        }
        Cli::Gemini => Reply::fail(401, "UNAUTHENTICATED", "API key not valid."),
    }
}

/// Asks to wait an hour, longer than any agent waits on its own.
pub(crate) fn rate_limited(cli: Cli) -> Reply {
    let word = match cli {
        Cli::Claude => "rate_limit_error",
        Cli::Codex | Cli::Opencode => "rate_limit_exceeded",
        Cli::Gemini => "RESOURCE_EXHAUSTED",
    };
    Reply::Fail(Failure {
        status: 429,
        word,
        message: "Rate limit reached. Please try again in 3600s.",
        retry_after: Some(3600),
    })
}

/// Returns an account limit in the words of each service, without headers that say more.
pub(crate) fn usage_limit(cli: Cli) -> Reply {
    match cli {
        Cli::Claude => Reply::fail(
            429,
            "rate_limit_error",
            "This request would exceed your account's rate limit. Please try again later.",
        ),
        Cli::Codex => Reply::fail(
            429,
            "usage_limit_reached",
            "You've hit your usage limit. Upgrade to Pro or try again in 5 days 3 hours.",
        ),
        Cli::Gemini => Reply::Fail(Failure {
            status: 429,
            word: "RESOURCE_EXHAUSTED",
            message: "You exceeded your current quota, please check your plan and billing details.\n* Quota exceeded for metric: generate_content_free_tier_requests, limit: 20\nPlease retry in 5400.5s.",
            retry_after: Some(5400),
        }),
        Cli::Opencode => Reply::fail(
            429,
            "rate_limit_exceeded",
            "Rate limit reached for requests per day (RPD): Limit 200, Used 200. Please try again in 7h12m.",
        ),
    }
}

/// Returns the error of an account without credit, in the words of each service.
pub(crate) fn out_of_credit(cli: Cli) -> Reply {
    match cli {
        Cli::Claude => Reply::fail(
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
        ),
        Cli::Codex | Cli::Opencode => Reply::fail(
            402,
            "insufficient_quota",
            "You exceeded your current quota, please check your plan and billing details.",
        ),
        Cli::Gemini => Reply::fail(
            402,
            "FAILED_PRECONDITION",
            "Your prepayment credits are depleted. Payment required: see your billing account.",
        ),
    }
}

pub(crate) fn overloaded(cli: Cli) -> Reply {
    match cli {
        Cli::Claude => Reply::fail(529, "overloaded_error", "Overloaded"),
        Cli::Codex | Cli::Opencode => Reply::fail(503, "server_is_overloaded", "overloaded"),
        Cli::Gemini => Reply::fail(503, "UNAVAILABLE", "The model is overloaded."),
    }
}

pub(crate) fn overflow(cli: Cli) -> Reply {
    match cli {
        Cli::Claude => Reply::fail(
            400,
            "invalid_request_error",
            "prompt is too long: 214321 tokens > 200000 maximum",
        ),
        Cli::Codex | Cli::Opencode => Reply::fail(
            400,
            "context_length_exceeded",
            "This model's maximum context length is 100000 tokens.",
        ),
        Cli::Gemini => Reply::fail(
            400,
            "INVALID_ARGUMENT",
            "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
        ),
    }
}
