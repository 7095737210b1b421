//! Any agent that speaks the Agent Client Protocol: JSON-RPC, one message per line.

mod updates;

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1::{
    AGENT_METHOD_NAMES as AGENT, CLIENT_METHOD_NAMES as CLIENT, CancelNotification, ContentBlock,
    Implementation, InitializeRequest, LoadSessionRequest, NewSessionRequest, PermissionOptionKind,
    PromptRequest, RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
    SelectedPermissionOutcome,
};
use regreen_model::AgentEvent;
use serde::Serialize;
use serde_json::{Value, json};

use self::updates::Updates;
use crate::coding_agent::Abilities;
use crate::json_lines::{object, question, status, text};
use crate::trouble::ApiError;
use crate::{
    AgentOptions, Assignment, CommandLine, Decoder, Invocation, Permissions, Reply, StdinContent,
    Stream, gemini, opencode,
};

pub(crate) const ABILITIES: Abilities = Abilities {
    session: "at the start",
    resume: "if it can load sessions",
    tools: "start and end",
    failed_commands: "some agents",
    files: "edits, if it reports them",
    tokens: "some agents",
    cost: "some agents",
    errors: "the error of the prompt",
    end: "the answer to the prompt",
};

pub(crate) fn invocation(
    line: &CommandLine,
    options: &AgentOptions,
    assignment: &Assignment<'_>,
) -> Invocation {
    let argv = line.argv().iter().chain(&options.arguments).cloned();
    Invocation::new(argv.collect(), StdinContent::Protocol, assignment).with_environment(options)
}

/// The last request. Its number is its position in the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Initialize = 1,
    Session = 2,
    Prompt = 3,
    Over = 4,
}

#[derive(Debug)]
pub(crate) struct AcpDecoder {
    stage: Stage,
    permissions: Permissions,
    root: String,
    prompt: String,
    resume: Option<String>,
    session: String,
    updates: Updates,
    retries: gemini::RetryLog,
}

impl AcpDecoder {
    pub(crate) fn new(options: &AgentOptions, assignment: &Assignment<'_>) -> Self {
        Self {
            stage: Stage::Initialize,
            permissions: options.permissions,
            root: assignment.root.to_owned(),
            prompt: assignment.prompt.to_owned(),
            resume: assignment.session.map(str::to_owned),
            session: String::new(),
            updates: Updates::default(),
            retries: gemini::RetryLog::default(),
        }
    }
}

impl AcpDecoder {
    /// The protocol has no message for a retried request to the service, but two agents mention it
    /// in their logs.
    fn retry(&mut self, line: &[u8]) -> Option<AgentEvent> {
        opencode::logged(line).or_else(|| self.retries.on_line(line))
    }
}

impl Decoder for AcpDecoder {
    fn on_start(&mut self) -> Reply {
        let us = Implementation::new("regreen", env!("CARGO_PKG_VERSION"));
        let hello = InitializeRequest::new(ProtocolVersion::V1).client_info(us);
        self.ask(Stage::Initialize, AGENT.initialize, &hello)
    }

    fn on_line(&mut self, stream: Stream, line: &[u8]) -> Reply {
        if stream == Stream::Err {
            return Reply::of(self.retry(line));
        }
        let Some(mut line) = object(line) else {
            return Reply::default();
        };
        let params = line.pointer_mut("/params").map(Value::take);
        match (text(&line, "/method"), line.pointer("/id")) {
            ("", Some(id)) if id.as_u64() == Some(self.stage as u64) => self.answered(&line),
            ("", _) => Reply::default(),
            // A loaded session replays its past first.
            (method, None) if method == CLIENT.session_update && self.stage == Stage::Prompt => {
                Reply::of(self.updates.updated(params.unwrap_or_default()))
            }
            (_, None) => Reply::default(),
            (method, Some(id)) if method == CLIENT.session_request_permission => {
                self.permission(id, params.unwrap_or_default())
            }
            (method, Some(id)) => refusal(method, id, &params.unwrap_or_default()),
        }
    }

    fn is_done(&self) -> bool {
        self.stage == Stage::Over
    }

    fn on_cancel(&mut self) -> Vec<String> {
        let cancel = CancelNotification::new(self.session.clone());
        let line = json!({"jsonrpc": "2.0", "method": AGENT.session_cancel, "params": cancel});
        let is_at_work = self.stage == Stage::Prompt;
        is_at_work.then(|| line.to_string()).into_iter().collect()
    }
}

impl AcpDecoder {
    fn ask(&mut self, stage: Stage, method: &str, params: &impl Serialize) -> Reply {
        self.stage = stage;
        let id = stage as u64;
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        Reply {
            events: Vec::new(),
            write: vec![line.to_string()],
        }
    }

    fn answered(&mut self, line: &Value) -> Reply {
        if let Some(error) = line.pointer("/error") {
            return Reply::of(self.failed(error));
        }
        match self.stage {
            Stage::Initialize => self.open_session(line),
            Stage::Session => self.send_prompt(line),
            Stage::Prompt => Reply::of(self.finished(line)),
            Stage::Over => Reply::default(),
        }
    }

    fn open_session(&mut self, line: &Value) -> Reply {
        let can_load = line.pointer("/result/agentCapabilities/loadSession");
        let can_load = can_load.and_then(Value::as_bool) == Some(true);
        match self.resume.clone().filter(|_| can_load) {
            Some(session) => {
                self.session.clone_from(&session);
                // The protocol counts the whole session.
                self.updates.counts_whole_session();
                let load = LoadSessionRequest::new(session, &self.root);
                self.ask(Stage::Session, AGENT.session_load, &load)
            }
            None => {
                let new = NewSessionRequest::new(&self.root);
                self.ask(Stage::Session, AGENT.session_new, &new)
            }
        }
    }

    fn send_prompt(&mut self, line: &Value) -> Reply {
        let id = text(line, "/result/sessionId");
        if !id.is_empty() {
            id.clone_into(&mut self.session);
        }
        let prompt = ContentBlock::from(self.prompt.clone());
        let request = PromptRequest::new(self.session.clone(), vec![prompt]);
        let mut reply = self.ask(Stage::Prompt, AGENT.session_prompt, &request);
        let id = self.session.clone();
        reply.events.push(AgentEvent::Session { id });
        reply
    }

    fn finished(&mut self, line: &Value) -> Vec<AgentEvent> {
        self.stage = Stage::Over;
        let (message, usage) = self.updates.finished(line);
        let reason = text(line, "/result/stopReason");
        let end = match reason {
            "max_tokens" | "max_turn_requests" => ApiError::named("max_turns", reason).into_event(),
            _ => message,
        };
        vec![
            AgentEvent::Usage(usage),
            end,
            AgentEvent::Terminal {
                ok: reason == "end_turn",
            },
        ]
    }

    fn failed(&mut self, error: &Value) -> Vec<AgentEvent> {
        let is_loading = self.stage == Stage::Session && !self.session.is_empty();
        self.stage = Stage::Over;
        const LOGIN_NEEDED: i64 = -32000;
        let code = error.pointer("/code").and_then(Value::as_i64);
        let details = match text(error, "/data/details") {
            "" => text(error, "/data/message"),
            details => details,
        };
        let message = format!("{} {details}", text(error, "/message"));
        let error = ApiError {
            word: match (is_loading, code) {
                (true, _) => "session not found",
                (_, Some(LOGIN_NEEDED)) => "unauthenticated",
                _ => text(error, "/data/errorKind"),
            },
            // Some agents use the status of their service as the error code.
            status: status(error, "/code").filter(|code| (400..600).contains(code)),
            ..ApiError::of(&message)
        };
        vec![error.into_event(), AgentEvent::Terminal { ok: false }]
    }

    fn permission(&mut self, id: &Value, params: Value) -> Reply {
        let Ok(request) = serde_json::from_value::<RequestPermissionRequest>(params) else {
            return refusal("", id, &Value::Null);
        };
        let started = self.updates.tool(&request.tool_call);
        let answer = answer_permission(self.permissions, id, &request);
        Reply {
            events: started.into_iter().chain(answer.events).collect(),
            ..answer
        }
    }
}

/// Allows everything or nothing. Anything that isn't allowed becomes an unanswered question.
fn answer_permission(
    permissions: Permissions,
    id: &Value,
    request: &RequestPermissionRequest,
) -> Reply {
    let allows = |kind: PermissionOptionKind| {
        let mut options = request.options.iter();
        options.find(|option| option.kind == kind)
    };
    let allowed = allows(PermissionOptionKind::AllowOnce)
        .or_else(|| allows(PermissionOptionKind::AllowAlways))
        .filter(|_| permissions == Permissions::Skip);
    let outcome = match allowed {
        Some(option) => RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(
            option.option_id.clone(),
        )),
        None => RequestPermissionOutcome::Cancelled,
    };
    let question = allowed.is_none().then(|| AgentEvent::Question {
        text: request.tool_call.fields.title.clone().unwrap_or_default(),
        permission: true,
    });
    let result = RequestPermissionResponse::new(outcome);
    let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
    Reply {
        events: question.into_iter().collect(),
        write: vec![answer.to_string()],
    }
}

/// Refuses a request: regreen offers none of the optional client features. A question for a person
/// becomes a question event.
fn refusal(method: &str, id: &Value, params: &Value) -> Reply {
    let error = json!({"code": -32601, "message": "not offered by this client"});
    let answer = json!({"jsonrpc": "2.0", "id": id, "error": error});
    let is_question = method.starts_with("elicitation/");
    let question = is_question.then(|| match text(params, "/message") {
        "" => question("a question to a person"),
        asked => question(asked),
    });
    Reply {
        events: question.into_iter().collect(),
        write: vec![answer.to_string()],
    }
}
