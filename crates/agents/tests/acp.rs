//! A conversation in the Agent Client Protocol, from both sides.

#![expect(clippy::unwrap_used, reason = "this is a test")]

use regreen_agents::{
    Agent, AgentChoice, AgentOptions, Assignment, Decoder, Permissions, Reply, Stream,
};
use regreen_model::{AgentEvent, PromptKind, TaskId, TroubleClass, Usage};
use serde_json::{Value, json};

fn decoder(permissions: Permissions, session: Option<&str>) -> Box<dyn Decoder> {
    let Ok(AgentChoice::Acp(line)) = "acp:my-agent --acp".parse() else {
        unreachable!("an agent of the protocol");
    };
    let options = AgentOptions {
        permissions,
        ..AgentOptions::default()
    };
    let id = TaskId::parse("1.1").unwrap();
    let assignment = Assignment {
        task_id: id.as_str(),
        title: "Write it",
        attempt: 1,
        spec_dir: "specs/demo",
        root: "/project",
        session,
        prompt: "Do it",
        kind: PromptKind::First,
        steps: &[],
    };
    Agent::Acp(line, options).decoder(&assignment)
}

fn hear(decoder: &mut Box<dyn Decoder>, message: &Value) -> Reply {
    decoder.on_line(Stream::Out, message.to_string().as_bytes())
}

fn written(reply: &Reply) -> Value {
    serde_json::from_str(&reply.write[0]).unwrap()
}

fn update(update: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s-1", "update": update}})
}

/// Returns a decoder that has just sent the prompt.
fn greeted(permissions: Permissions) -> Box<dyn Decoder> {
    let mut decoder = decoder(permissions, None);
    let hello = written(&decoder.on_start());
    assert_eq!(hello["method"], "initialize");
    assert_eq!(hello["params"]["protocolVersion"], 1);
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1}});
    let new = written(&hear(&mut decoder, &answer));
    assert_eq!(new["method"], "session/new");
    assert_eq!(new["params"]["cwd"], "/project");
    let answer = json!({"jsonrpc": "2.0", "id": 2, "result": {"sessionId": "s-1"}});
    let reply = hear(&mut decoder, &answer);
    let session = AgentEvent::Session { id: "s-1".into() };
    assert_eq!(reply.events, [session]);
    let prompt = written(&reply);
    assert_eq!(prompt["method"], "session/prompt");
    assert_eq!(prompt["params"]["prompt"][0]["text"], "Do it");
    decoder
}

fn asks_permission() -> Value {
    json!({"jsonrpc": "2.0", "id": 7, "method": "session/request_permission", "params": {
        "sessionId": "s-1",
        "options": [
            {"optionId": "always", "name": "Always", "kind": "allow_always"},
            {"optionId": "once", "name": "Allow", "kind": "allow_once"},
            {"optionId": "no", "name": "Reject", "kind": "reject_once"}],
        "toolCall": {"toolCallId": "t-1", "title": "Write out.txt", "kind": "edit"}}})
}

#[test]
fn a_task_is_done_and_all_of_it_is_seen() {
    let mut decoder = greeted(Permissions::Skip);
    let said = |text: &str| {
        update(
            &json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}),
        )
    };
    assert_eq!(
        hear(&mut decoder, &said("Writing.")).events,
        [AgentEvent::Text {
            text: "Writing.".into()
        }]
    );
    let allowed = hear(&mut decoder, &asks_permission());
    assert_eq!(written(&allowed)["id"], 7);
    assert_eq!(written(&allowed)["result"]["outcome"]["optionId"], "once");
    let started = AgentEvent::ToolStarted {
        call: "t-1".into(),
        name: "Write out.txt".into(),
        input: String::new(),
    };
    assert_eq!(allowed.events, [started]);
    let ended = update(
        &json!({"sessionUpdate": "tool_call_update", "toolCallId": "t-1", "status": "completed",
        "content": [{"type": "diff", "path": "/project/out.txt", "newText": "hello"}]}),
    );
    assert_eq!(
        hear(&mut decoder, &ended).events,
        [
            AgentEvent::FileEdited {
                path: "/project/out.txt".into()
            },
            AgentEvent::ToolEnded {
                call: "t-1".into(),
                name: "Write out.txt".into(),
                ok: true,
                exit: None
            }
        ]
    );
    let cost = update(
        &json!({"sessionUpdate": "usage_update", "used": 120, "size": 1000, "cost": {"amount": 0.003, "currency": "USD"}}),
    );
    let told = |input_tokens, cost| {
        AgentEvent::Usage(Usage {
            input_tokens,
            cost_micro_usd: Some(cost),
            ..Usage::default()
        })
    };
    assert_eq!(hear(&mut decoder, &cost).events, [told(120, 3000)]);
    assert_eq!(hear(&mut decoder, &cost), Reply::default());
    let _ = hear(&mut decoder, &said("All done.\n"));
    let _ = hear(&mut decoder, &said("TASK_COMPLETE"));
    assert!(!decoder.is_done());
    let answer = json!({"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "end_turn", "usage": {"inputTokens": 300, "outputTokens": 60, "totalTokens": 360}}});
    let events = hear(&mut decoder, &answer).events;
    assert!(decoder.is_done());
    let AgentEvent::Usage(usage) = events[0] else {
        unreachable!("usage first");
    };
    assert_eq!(
        (usage.input_tokens, usage.cost_micro_usd),
        (300, Some(3000))
    );
    assert_eq!(
        events[1..],
        [
            AgentEvent::FinalMessage {
                text: "All done.\nTASK_COMPLETE\n".into()
            },
            AgentEvent::Terminal { ok: true }
        ]
    );
}

#[test]
fn a_permission_that_cannot_be_granted_is_reported_as_a_question() {
    let mut decoder = greeted(Permissions::Own);
    let reply = hear(&mut decoder, &asks_permission());
    assert_eq!(written(&reply)["result"]["outcome"]["outcome"], "cancelled");
    let question = AgentEvent::Question {
        text: "Write out.txt".into(),
        permission: true,
    };
    assert_eq!(reply.events.last(), Some(&question));
    let cancel: Value = serde_json::from_str(&decoder.on_cancel()[0]).unwrap();
    assert_eq!(cancel["method"], "session/cancel");
    assert_eq!(cancel["params"]["sessionId"], "s-1");
}

#[test]
fn a_limit_of_the_service_is_a_trouble_that_passes() {
    let mut decoder = greeted(Permissions::Skip);
    let error = json!({"jsonrpc": "2.0", "id": 3, "error": {"code": -32603, "message": "Internal error",
        "data": {"errorKind": "rate_limit", "details": "Please try again in 30s"}}});
    let events = hear(&mut decoder, &error).events;
    let AgentEvent::Trouble(trouble) = &events[0] else {
        unreachable!("a trouble: {events:?}");
    };
    assert_eq!(trouble.class, TroubleClass::Transient);
    assert_eq!(events[1], AgentEvent::Terminal { ok: false });
}

#[test]
fn a_session_is_loaded_where_that_can_be_done_and_its_past_is_passed_over() {
    let mut decoder = decoder(Permissions::Skip, Some("s-0"));
    let _ = decoder.on_start();
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1, "agentCapabilities": {"loadSession": true}}});
    let load = written(&hear(&mut decoder, &answer));
    assert_eq!(load["method"], "session/load");
    assert_eq!(load["params"]["sessionId"], "s-0");
    let past = update(
        &json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "TASK_COMPLETE"}}),
    );
    assert_eq!(hear(&mut decoder, &past), Reply::default());
    let lost = json!({"jsonrpc": "2.0", "id": 2, "error": {"code": -32603, "message": "unknown"}});
    let events = hear(&mut decoder, &lost).events;
    let AgentEvent::Trouble(trouble) = &events[0] else {
        unreachable!("a trouble: {events:?}");
    };
    assert_eq!(trouble.class, TroubleClass::Session);
}

#[test]
fn unsupported_requests_are_refused_and_noise_is_ignored() {
    let mut decoder = greeted(Permissions::Skip);
    let read = json!({"jsonrpc": "2.0", "id": "x", "method": "fs/read_text_file", "params": {}});
    assert_eq!(written(&hear(&mut decoder, &read))["error"]["code"], -32601);
    for noise in [
        "",
        "plain",
        "{",
        "{\"id\":99}",
        "[1]",
        "{\"method\":\"x/y\"}",
    ] {
        assert_eq!(
            decoder.on_line(Stream::Out, noise.as_bytes()),
            Reply::default()
        );
    }
}
