//! Codex: `codex exec --json`.

use regreen_model::{AgentEvent, Usage};
use serde_json::Value;

use crate::coding_agent::{Abilities, Adapter, Credentials, Flags};
use crate::json_lines::{
    JsonDecoder, JsonProtocol, OpenTools, code, edited, list, number, session, text, tool_input,
    written,
};
use crate::message::MessageBuffer;
use crate::trouble::{ApiError, passing};

pub(crate) const ADAPTER: Adapter = Adapter {
    name: "codex",
    title: "Codex",
    flags: Flags {
        first: &["exec", "--json", "--skip-git-repo-check"],
        first_of_resumed: &["exec", "resume", "--json", "--skip-git-repo-check"],
        skip: "--dangerously-bypass-approvals-and-sandbox",
        model: "-m",
        session: None,
        // The prompt comes from standard input.
        last: &["-"],
    },
    decoder: |assignment| {
        let protocol = CodexProtocol {
            resumed: assignment.session.is_some(),
            ..CodexProtocol::default()
        };
        JsonDecoder::reading(protocol, assignment)
    },
    credentials: Credentials {
        variables: &["OPENAI_API_KEY", "CODEX_API_KEY"],
        files: &[".codex/auth.json"],
        elsewhere: &["CODEX_HOME", "OPENAI_BASE_URL"],
    },
    abilities: Abilities {
        session: "at the start",
        resume: "yes",
        tools: "start and end",
        failed_commands: "yes, with exit code",
        files: "edits",
        tokens: "yes, for the whole session",
        cost: "no",
        errors: "text, each retry",
        end: "`turn.completed`, `turn.failed`",
    },
};

#[derive(Debug, Default)]
struct CodexProtocol {
    resumed: bool,
    tools: OpenTools,
    message: MessageBuffer,
    done: bool,
}

impl JsonProtocol for CodexProtocol {
    fn on_object(&mut self, line: &Value) -> Vec<AgentEvent> {
        match text(line, "/type") {
            "thread.started" => vec![session(text(line, "/thread_id"))],
            "item.started" => self.started(line).into_iter().collect(),
            "item.completed" => self.completed(line),
            "error" => retry(text(line, "/message")).into_iter().collect(),
            "turn.completed" => {
                self.done = true;
                vec![
                    AgentEvent::Usage(self.usage(line)),
                    self.message.event(),
                    AgentEvent::Terminal { ok: true },
                ]
            }
            "turn.failed" => {
                self.done = true;
                let error = ApiError::of(text(line, "/error/message"));
                vec![error.into_event(), AgentEvent::Terminal { ok: false }]
            }
            _ => Vec::new(),
        }
    }

    fn on_log(&mut self, _line: &[u8]) -> Option<AgentEvent> {
        None
    }

    fn is_done(&self) -> bool {
        self.done
    }
}

impl CodexProtocol {
    fn started(&mut self, line: &Value) -> Option<AgentEvent> {
        let name = tool(line)?;
        Some(
            self.tools
                .started(text(line, "/item/id"), name, input(line)),
        )
    }

    fn completed(&mut self, line: &Value) -> Vec<AgentEvent> {
        let id = text(line, "/item/id");
        if text(line, "/item/type") == "agent_message" {
            let message = text(line, "/item/text");
            self.message.begin(message);
            return vec![written(message)];
        }
        let Some(name) = tool(line) else {
            return Vec::new();
        };
        let ok = text(line, "/item/status") == "completed";
        let started = (!self.tools.has(id)).then(|| self.tools.started(id, name, input(line)));
        let changes = list(line, "/item/changes").iter().filter(|_| ok);
        let files = changes.filter_map(|change| edited(text(change, "/path")));
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

/// Returns what a tool is used on: a command without the shell that codex wraps it in, the first
/// file of a change, a query, or the arguments of another tool.
fn input(line: &Value) -> String {
    let item = &line["item"];
    let command = text(item, "/command");
    match shell_words::split(command).as_deref() {
        Ok([_, flag, script]) if flag == "-lc" => script.clone(),
        _ if !command.is_empty() => command.to_owned(),
        _ => [&item["changes"][0], item, &item["arguments"]]
            .into_iter()
            .map(tool_input)
            .find(|input| !input.is_empty())
            .unwrap_or_default(),
    }
}

/// Parses `Reconnecting... 1/5 (why)`. Other errors are repeated at the end of the turn.
fn retry(message: &str) -> Option<AgentEvent> {
    let retry = message.strip_prefix("Reconnecting...")?;
    let why = retry.split_once('(').map_or(retry, |(_, why)| why);
    let error = ApiError::of(why.strip_suffix(')').unwrap_or(why));
    Some(AgentEvent::Trouble(passing(&error)))
}
