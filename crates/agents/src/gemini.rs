//! Gemini CLI: `gemini --output-format stream-json`.

use std::collections::BTreeMap;

use regreen_model::{AgentEvent, Ending, Usage};
use serde_json::Value;

use crate::coding_agent::Abilities;
use crate::coding_agent::{Adapter, Credentials};
use crate::json_lines::OpenTools;
use crate::json_lines::{number, object, text};
use crate::message::{MessageBuffer, bounded};
use crate::trouble::{ApiError, lost_session, passing, trouble};
use crate::{AgentOptions, Assignment, Decoder, Permissions, Reply, Stream};

pub(crate) const ADAPTER: Adapter = Adapter {
    name: "gemini",
    title: "Gemini CLI",
    argv,
    decoder: |assignment| {
        Box::new(GeminiDecoder {
            resumed: assignment.session.is_some(),
            ..GeminiDecoder::default()
        })
    },
    skips_with: "--yolo",
    credentials: Credentials {
        variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        files: &[".gemini/oauth_creds.json"],
    },
    abilities: Abilities {
        session: "at its beginning",
        resume: "yes",
        tools: "start and end",
        failed_commands: "no: told as a success",
        files: "edits",
        tokens: "yes",
        cost: "no",
        errors: "text; retries on stderr",
        end: "`result`",
    },
};

fn argv(options: &AgentOptions, assignment: &Assignment<'_>) -> Vec<String> {
    let mut argv = vec!["--output-format", "stream-json", "--skip-trust"];
    if options.permissions == Permissions::Skip {
        argv.push(ADAPTER.skips_with);
    }
    if let Some(model) = &options.model {
        argv.extend(["-m", model]);
    }
    if let Some(session) = assignment.session {
        argv.extend(["--resume", session]);
    }
    argv.extend(options.arguments.iter().map(String::as_str));
    argv.into_iter().map(str::to_owned).collect()
}

#[derive(Debug, Default)]
struct GeminiDecoder {
    resumed: bool,
    tools: OpenTools,
    /// The files of calls that will have edited them when they have ended.
    files: BTreeMap<String, String>,
    said: MessageBuffer,
    done: bool,
}

impl Decoder for GeminiDecoder {
    fn on_line(&mut self, stream: Stream, line: &[u8]) -> Reply {
        if stream == Stream::Err {
            let lost = self.resumed.then(|| lost_session(line)).flatten();
            return Reply::of(lost.or_else(|| retry(line)).into_iter().collect());
        }
        let line = object(line);
        Reply::of(line.map(|line| self.events(&line)).unwrap_or_default())
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn on_end(&mut self, _ending: &Ending) -> Vec<AgentEvent> {
        Vec::new()
    }
}

impl GeminiDecoder {
    fn events(&mut self, line: &Value) -> Vec<AgentEvent> {
        match text(line, "/type") {
            "init" => vec![AgentEvent::Session {
                id: text(line, "/session_id").to_owned(),
            }],
            "message" if text(line, "/role") == "assistant" => {
                let piece = text(line, "/content");
                self.said.add(piece);
                vec![AgentEvent::Text {
                    text: piece.to_owned(),
                }]
            }
            "tool_use" => self.started(line),
            "tool_result" => self.ended(line),
            "result" => {
                self.done = true;
                self.result(line)
            }
            _ => Vec::new(),
        }
    }

    fn started(&mut self, line: &Value) -> Vec<AgentEvent> {
        let (call, name) = (text(line, "/tool_id"), text(line, "/tool_name"));
        // What it says after this is another message.
        self.said.begin("");
        if name == "ask_user" {
            let text = text(line, "/parameters/questions/0/question").to_owned();
            let permission = false;
            return vec![AgentEvent::Question { text, permission }];
        }
        if ["write_file", "replace", "edit"].contains(&name) {
            let path = text(line, "/parameters/file_path").to_owned();
            self.files.insert(call.to_owned(), path);
        }
        vec![self.tools.started(call, name)]
    }

    fn ended(&mut self, line: &Value) -> Vec<AgentEvent> {
        let call = text(line, "/tool_id");
        let ok = text(line, "/status") == "success";
        let file = self
            .files
            .remove(call)
            .filter(|path| ok && !path.is_empty());
        let edited = file.map(|path| AgentEvent::FileEdited { path });
        let ended = self.tools.ended(call, ok, None);
        edited.into_iter().chain([ended]).collect()
    }

    fn result(&mut self, line: &Value) -> Vec<AgentEvent> {
        let ok = text(line, "/status") == "success";
        let error = text(line, "/error/message");
        let told = match (ok, trouble(&api_error(error))) {
            (false, Some(trouble)) => AgentEvent::Trouble(trouble),
            (false, None) => AgentEvent::FinalMessage {
                text: bounded(error),
            },
            (true, _) => AgentEvent::FinalMessage {
                text: self.said.text(),
            },
        };
        let usage = AgentEvent::Usage(Usage {
            input_tokens: number(line, "/stats/input_tokens"),
            output_tokens: number(line, "/stats/output_tokens"),
            cached_tokens: number(line, "/stats/cached"),
            cost_micro_usd: None,
            cumulative: false,
        });
        vec![usage, told, AgentEvent::Terminal { ok }]
    }
}

fn api_error(message: &str) -> ApiError<'_> {
    ApiError {
        message,
        ..ApiError::default()
    }
}

/// `Attempt 1 failed with status 429. Retrying with backoff...`: told nowhere else.
pub(crate) fn retry(line: &[u8]) -> Option<AgentEvent> {
    let line = line.strip_prefix(b"Attempt ")?;
    let line = String::from_utf8_lossy(line.get(..line.len().min(1024))?);
    let (_, why) = line
        .split_once(" failed ")
        .or_else(|| line.split_once(" failed: "))?;
    line.contains("Retrying")
        .then(|| AgentEvent::Trouble(passing(&api_error(why))))
}
