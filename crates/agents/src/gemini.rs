//! Gemini CLI: `gemini --output-format stream-json`.

use std::collections::BTreeMap;

use regreen_model::{AgentEvent, Usage};
use serde_json::Value;

use crate::coding_agent::{Abilities, Adapter, Credentials, Flags};
use crate::json_lines::{
    JsonDecoder, JsonProtocol, OpenTools, edited, number, question, session, text, tool_input,
    written,
};
use crate::message::MessageBuffer;
use crate::trouble::{ApiError, passing};

const FIRST: &[&str] = &["--output-format", "stream-json", "--skip-trust"];

pub(crate) const ADAPTER: Adapter = Adapter {
    name: "gemini",
    title: "Gemini CLI",
    flags: Flags {
        first: FIRST,
        first_of_resumed: FIRST,
        skip: "--yolo",
        model: "-m",
        session: Some("--resume"),
        last: &[],
    },
    decoder: JsonDecoder::<GeminiProtocol>::boxed,
    credentials: Credentials {
        variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        files: &[".gemini/oauth_creds.json"],
    },
    abilities: Abilities {
        session: "at the start",
        resume: "yes",
        tools: "start and end",
        failed_commands: "no: reported as success",
        files: "edits",
        tokens: "yes",
        cost: "no",
        errors: "text; retries on stderr",
        end: "`result`",
    },
};

#[derive(Debug, Default)]
struct GeminiProtocol {
    tools: OpenTools,
    /// The files that open calls are about to edit, by call.
    files: BTreeMap<String, String>,
    message: MessageBuffer,
    done: bool,
}

impl JsonProtocol for GeminiProtocol {
    fn on_object(&mut self, line: &Value) -> Vec<AgentEvent> {
        match text(line, "/type") {
            "init" => vec![session(text(line, "/session_id"))],
            "message" if text(line, "/role") == "assistant" => {
                let piece = text(line, "/content");
                self.message.add(piece);
                vec![written(piece)]
            }
            "tool_use" => vec![self.started(line)],
            "tool_result" => self.ended(line),
            "result" => {
                self.done = true;
                self.result(line)
            }
            _ => Vec::new(),
        }
    }

    fn on_log(line: &[u8]) -> Option<AgentEvent> {
        retry(line)
    }

    fn is_done(&self) -> bool {
        self.done
    }
}

impl GeminiProtocol {
    fn started(&mut self, line: &Value) -> AgentEvent {
        let (call, name) = (text(line, "/tool_id"), text(line, "/tool_name"));
        // Text after a tool call is another message.
        self.message.begin("");
        if name == "ask_user" {
            return question(text(line, "/parameters/questions/0/question"));
        }
        if ["write_file", "replace", "edit"].contains(&name) {
            let path = text(line, "/parameters/file_path").to_owned();
            self.files.insert(call.to_owned(), path);
        }
        self.tools
            .started(call, name, tool_input(&line["parameters"]))
    }

    fn ended(&mut self, line: &Value) -> Vec<AgentEvent> {
        let call = text(line, "/tool_id");
        let ok = text(line, "/status") == "success";
        let file = self.files.remove(call).filter(|_| ok);
        let file = file.and_then(|path| edited(&path));
        let ended = self.tools.ended(call, ok, None);
        file.into_iter().chain([ended]).collect()
    }

    fn result(&mut self, line: &Value) -> Vec<AgentEvent> {
        let ok = text(line, "/status") == "success";
        let end = if ok {
            self.message.event()
        } else {
            ApiError::of(text(line, "/error/message")).into_event()
        };
        let usage = AgentEvent::Usage(Usage {
            input_tokens: number(line, "/stats/input_tokens"),
            output_tokens: number(line, "/stats/output_tokens"),
            cached_tokens: number(line, "/stats/cached"),
            cost_micro_usd: None,
            cumulative: false,
        });
        vec![usage, end, AgentEvent::Terminal { ok }]
    }
}

/// `Attempt 1 failed with status 429. Retrying with backoff...`: only the log says so.
pub(crate) fn retry(line: &[u8]) -> Option<AgentEvent> {
    let line = line.strip_prefix(b"Attempt ")?;
    let line = String::from_utf8_lossy(line.get(..line.len().min(1024))?);
    let (_, why) = line
        .split_once(" failed ")
        .or_else(|| line.split_once(" failed: "))?;
    line.contains("Retrying")
        .then(|| AgentEvent::Trouble(passing(&ApiError::of(why))))
}
