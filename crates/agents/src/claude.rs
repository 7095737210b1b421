//! Claude Code: `claude -p --output-format stream-json`.

use regreen_model::{AgentEvent, Ending, ResetTime, Usage};
use serde_json::Value;

use crate::coding_agent::Abilities;
use crate::coding_agent::{Adapter, Credentials};
use crate::json_lines::MessageUsage;
use crate::json_lines::OpenTools;
use crate::json_lines::{list, micro_usd, number, object, status, text};
use crate::message::bounded;
use crate::trouble::{ApiError, passing, trouble};
use crate::{AgentOptions, Assignment, Decoder, Permissions, Reply, Stream};

pub(crate) const ADAPTER: Adapter = Adapter {
    name: "claude",
    title: "Claude Code",
    argv,
    decoder: |_| Box::new(ClaudeDecoder::default()),
    skips_with: "--dangerously-skip-permissions",
    credentials: Credentials {
        variables: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
        ],
        files: &[".claude/.credentials.json"],
    },
    abilities: Abilities {
        session: "at its beginning",
        resume: "yes",
        tools: "start and end",
        failed_commands: "yes",
        files: "edits",
        tokens: "yes",
        cost: "yes",
        errors: "status and word, each retry",
        end: "`result`",
    },
};

fn argv(options: &AgentOptions, assignment: &Assignment<'_>) -> Vec<String> {
    let mut argv = vec!["-p", "--output-format", "stream-json", "--verbose"];
    if options.permissions == Permissions::Skip {
        argv.push(ADAPTER.skips_with);
    }
    if let Some(model) = &options.model {
        argv.extend(["--model", model]);
    }
    if let Some(session) = assignment.session {
        argv.extend(["--resume", session]);
    }
    argv.extend(options.arguments.iter().map(String::as_str));
    argv.into_iter().map(str::to_owned).collect()
}

#[derive(Debug, Default)]
struct ClaudeDecoder {
    tools: OpenTools,
    spent: MessageUsage,
    done: bool,
}

impl Decoder for ClaudeDecoder {
    fn on_line(&mut self, stream: Stream, line: &[u8]) -> Reply {
        let line = object(line).filter(|_| stream == Stream::Out);
        Reply::of(line.map(|line| self.events(&line)).unwrap_or_default())
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn on_end(&mut self, _ending: &Ending) -> Vec<AgentEvent> {
        Vec::new()
    }
}

impl ClaudeDecoder {
    fn events(&mut self, line: &Value) -> Vec<AgentEvent> {
        match (text(line, "/type"), text(line, "/subtype")) {
            ("system", "init") => vec![AgentEvent::Session {
                id: text(line, "/session_id").to_owned(),
            }],
            ("system", "api_retry") => vec![AgentEvent::Trouble(passing(&retry(line)))],
            ("system", "permission_denied") => denied(line).into_iter().collect(),
            ("rate_limit_event", _) => rejected(line),
            ("assistant", _) if text(line, "/message/model") != "<synthetic>" => {
                let parts = list(line, "/message/content").iter();
                let said: Vec<AgentEvent> = parts.flat_map(|part| self.said(part)).collect();
                self.spent(line).into_iter().chain(said).collect()
            }
            ("user", _) => {
                let parts = list(line, "/message/content").iter();
                parts.flat_map(|part| self.tool_ended(line, part)).collect()
            }
            ("result", _) => {
                self.done = true;
                ended(line, self.spent.total())
            }
            _ => Vec::new(),
        }
    }

    fn said(&mut self, part: &Value) -> Vec<AgentEvent> {
        match text(part, "/type") {
            "text" => vec![AgentEvent::Text {
                text: text(part, "/text").to_owned(),
            }],
            "tool_use" if text(part, "/name") == "AskUserQuestion" => vec![AgentEvent::Question {
                text: text(part, "/input/questions/0/question").to_owned(),
                permission: false,
            }],
            "tool_use" => vec![self.tools.started(text(part, "/id"), text(part, "/name"))],
            _ => Vec::new(),
        }
    }

    /// Told with each message: who does not come to its end has spent it all the same.
    fn spent(&mut self, line: &Value) -> Option<AgentEvent> {
        let usage = tokens(line.pointer("/message/usage")?);
        let is_news = self.spent.told(text(line, "/message/id"), usage);
        is_news.then(|| AgentEvent::Usage(self.spent.total()))
    }

    fn tool_ended(&mut self, line: &Value, part: &Value) -> Vec<AgentEvent> {
        if text(part, "/type") != "tool_result" {
            return Vec::new();
        }
        let failed = part.pointer("/is_error").and_then(Value::as_bool) == Some(true);
        let exit = failed.then(|| exit_code(text(part, "/content"))).flatten();
        let ended = self.tools.ended(text(part, "/tool_use_id"), !failed, exit);
        let path = text(line, "/tool_use_result/filePath");
        // What was only read has a file too, but none of these.
        let is_edit = ["oldString", "structuredPatch", "originalFile"]
            .iter()
            .any(|key| line.pointer(&format!("/tool_use_result/{key}")).is_some());
        let edited = (!failed && is_edit && !path.is_empty()).then(|| AgentEvent::FileEdited {
            path: path.to_owned(),
        });
        edited.into_iter().chain([ended]).collect()
    }
}

/// `Exit code 1`, the first line of what a failed command printed.
fn exit_code(content: &str) -> Option<i32> {
    let first = content.lines().next()?;
    first.strip_prefix("Exit code ")?.trim().parse().ok()
}

fn retry(line: &Value) -> ApiError<'_> {
    ApiError {
        status: status(line, "/error_status"),
        word: text(line, "/error"),
        message: "",
        resets: Some(ResetTime::After(number(line, "/retry_delay_ms"))),
    }
}

/// What a person would have to allow. What a rule or a hook of the user forbids is a tool that
/// fails: the agent is told so and goes on.
fn denied(line: &Value) -> Option<AgentEvent> {
    let (tool, why) = (text(line, "/tool_name"), text(line, "/message"));
    let is_forbidden = matches!(text(line, "/decision_reason_type"), "rule" | "hook");
    // Rules may also say that a person is to be asked.
    let asks = ["approval", "granted"]
        .iter()
        .any(|word| why.contains(word));
    (asks || !is_forbidden).then(|| AgentEvent::Question {
        text: format!("{tool}: {why}"),
        permission: true,
    })
}

/// The limit of a subscription, with the time at which it is over.
fn rejected(line: &Value) -> Vec<AgentEvent> {
    let info = "/rate_limit_info";
    if text(line, &format!("{info}/status")) != "rejected" {
        return Vec::new();
    }
    let seconds = number(line, &format!("{info}/resetsAt"));
    let millis = i64::try_from(seconds)
        .ok()
        .and_then(|at| at.checked_mul(1000));
    let error = ApiError {
        word: "rate_limit",
        message: "usage limit reached",
        resets: millis.filter(|at| *at > 0).map(ResetTime::At),
        ..ApiError::default()
    };
    vec![AgentEvent::Trouble(passing(&error))]
}

fn ended(line: &Value, so_far: Usage) -> Vec<AgentEvent> {
    let failed = line.pointer("/is_error").and_then(Value::as_bool) != Some(false);
    let said = match text(line, "/result") {
        "" => text(line, "/errors/0"),
        said => said,
    };
    let error = ApiError {
        status: status(line, "/api_error_status"),
        word: match text(line, "/terminal_reason") {
            reason @ ("prompt_too_long" | "max_turns") => reason,
            _ => text(line, "/api_error_type"),
        },
        message: said,
        resets: None,
    };
    let told = match failed.then(|| trouble(&error)).flatten() {
        Some(trouble) => AgentEvent::Trouble(trouble),
        None => AgentEvent::FinalMessage {
            text: bounded(said),
        },
    };
    vec![
        AgentEvent::Usage(usage(line, so_far)),
        told,
        AgentEvent::Terminal { ok: !failed },
    ]
}

/// All that it has used up; what its messages told, where its end does not say.
fn usage(line: &Value, so_far: Usage) -> Usage {
    let told = line.pointer("/usage").map(tokens).unwrap_or_default();
    let is_told = told.input_tokens > 0 || told.output_tokens > 0;
    Usage {
        cost_micro_usd: micro_usd(line, "/total_cost_usd"),
        ..if is_told { told } else { so_far }
    }
}

fn tokens(usage: &Value) -> Usage {
    let cached = number(usage, "/cache_read_input_tokens");
    let written = number(usage, "/cache_creation_input_tokens");
    let input = number(usage, "/input_tokens");
    Usage {
        input_tokens: input.saturating_add(cached).saturating_add(written),
        output_tokens: number(usage, "/output_tokens"),
        cached_tokens: cached,
        cost_micro_usd: None,
        cumulative: false,
    }
}
