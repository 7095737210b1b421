//! Codex: `codex exec --json`.

use regreen_model::{AgentEvent, Ending, Usage};
use serde_json::Value;

use crate::coding_agent::Abilities;
use crate::coding_agent::{Adapter, Credentials};
use crate::json_lines::OpenTools;
use crate::json_lines::{code, list, number, object, text};
use crate::message::{MessageBuffer, bounded};
use crate::trouble::{ApiError, lost_session, passing, trouble};
use crate::{AgentOptions, Assignment, Decoder, Permissions, Reply, Stream};

pub(crate) const ADAPTER: Adapter = Adapter {
    name: "codex",
    title: "Codex",
    argv,
    decoder: |assignment| {
        Box::new(CodexDecoder {
            resumed: assignment.session.is_some(),
            ..CodexDecoder::default()
        })
    },
    skips_with: "--dangerously-bypass-approvals-and-sandbox",
    credentials: Credentials {
        variables: &["OPENAI_API_KEY", "CODEX_API_KEY"],
        files: &[".codex/auth.json"],
    },
    abilities: Abilities {
        session: "at its beginning",
        resume: "yes",
        tools: "start and end",
        failed_commands: "yes, with exit code",
        files: "edits",
        tokens: "yes, of the whole session",
        cost: "no",
        errors: "text, each retry",
        end: "`turn.completed`, `turn.failed`",
    },
};

fn argv(options: &AgentOptions, assignment: &Assignment<'_>) -> Vec<String> {
    let mut argv = vec!["exec"];
    if assignment.session.is_some() {
        argv.push("resume");
    }
    argv.extend(["--json", "--skip-git-repo-check"]);
    if options.permissions == Permissions::Skip {
        argv.push(ADAPTER.skips_with);
    }
    if let Some(model) = &options.model {
        argv.extend(["-m", model]);
    }
    argv.extend(options.arguments.iter().map(String::as_str));
    argv.extend(assignment.session);
    // The prompt is read from the standard input.
    argv.push("-");
    argv.into_iter().map(str::to_owned).collect()
}

#[derive(Debug, Default)]
struct CodexDecoder {
    resumed: bool,
    tools: OpenTools,
    said: MessageBuffer,
    done: bool,
}

impl Decoder for CodexDecoder {
    fn on_line(&mut self, stream: Stream, line: &[u8]) -> Reply {
        if stream == Stream::Err {
            let lost = self.resumed.then(|| lost_session(line)).flatten();
            return Reply::of(lost.into_iter().collect());
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

impl CodexDecoder {
    fn events(&mut self, line: &Value) -> Vec<AgentEvent> {
        match text(line, "/type") {
            "thread.started" => vec![AgentEvent::Session {
                id: text(line, "/thread_id").to_owned(),
            }],
            "item.started" => self.started(line).into_iter().collect(),
            "item.completed" => self.completed(line),
            "error" => retry(text(line, "/message")),
            "turn.completed" => {
                self.done = true;
                vec![
                    AgentEvent::Usage(self.usage(line)),
                    AgentEvent::FinalMessage {
                        text: self.said.text(),
                    },
                    AgentEvent::Terminal { ok: true },
                ]
            }
            "turn.failed" => {
                self.done = true;
                failed(text(line, "/error/message"))
            }
            _ => Vec::new(),
        }
    }

    fn started(&mut self, line: &Value) -> Option<AgentEvent> {
        let name = tool(line)?;
        Some(self.tools.started(text(line, "/item/id"), name))
    }

    fn completed(&mut self, line: &Value) -> Vec<AgentEvent> {
        let id = text(line, "/item/id");
        if text(line, "/item/type") == "agent_message" {
            let said = text(line, "/item/text");
            self.said.begin(said);
            return vec![AgentEvent::Text {
                text: said.to_owned(),
            }];
        }
        let Some(name) = tool(line) else {
            return Vec::new();
        };
        let ok = text(line, "/item/status") == "completed";
        let started = (!self.tools.has(id)).then(|| self.tools.started(id, name));
        let files = list(line, "/item/changes").iter().filter(|_| ok);
        let files = files.map(|change| AgentEvent::FileEdited {
            path: text(change, "/path").to_owned(),
        });
        let files: Vec<AgentEvent> = files.collect();
        let ended = self.tools.ended(id, ok, code(line, "/item/exit_code"));
        started.into_iter().chain(files).chain([ended]).collect()
    }

    fn usage(&self, line: &Value) -> Usage {
        Usage {
            input_tokens: number(line, "/usage/input_tokens"),
            output_tokens: number(line, "/usage/output_tokens"),
            cached_tokens: number(line, "/usage/cached_input_tokens"),
            cost_micro_usd: None,
            cumulative: self.resumed,
        }
    }
}

fn tool(line: &Value) -> Option<&str> {
    match text(line, "/item/type") {
        "mcp_tool_call" => Some(text(line, "/item/tool")),
        name @ ("command_execution" | "file_change" | "web_search") => Some(name),
        _ => None,
    }
}

/// `Reconnecting... 1/5 (why)`. Without these words the end of the turn follows, with the
/// same message.
fn retry(message: &str) -> Vec<AgentEvent> {
    let Some(retry) = message.strip_prefix("Reconnecting...") else {
        return Vec::new();
    };
    let why = retry.split_once('(').map_or(retry, |(_, why)| why);
    let error = ApiError {
        message: why.strip_suffix(')').unwrap_or(why),
        ..ApiError::default()
    };
    vec![AgentEvent::Trouble(passing(&error))]
}

fn failed(message: &str) -> Vec<AgentEvent> {
    let error = ApiError {
        message,
        ..ApiError::default()
    };
    let told = match trouble(&error) {
        Some(trouble) => AgentEvent::Trouble(trouble),
        None => AgentEvent::FinalMessage {
            text: bounded(message),
        },
    };
    vec![told, AgentEvent::Terminal { ok: false }]
}
