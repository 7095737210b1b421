//! Claude Code: `claude -p --output-format stream-json`.

use regreen_model::{AgentEvent, ResetTime, Usage};
use serde_json::Value;

use crate::coding_agent::{Abilities, Adapter, Credentials, Flags};
use crate::json_lines::{
    JsonDecoder, JsonProtocol, MessageUsage, OpenTools, edited, list, micro_usd, number, question,
    session, status, text, tool_input, written,
};
use crate::message::bounded;
use crate::trouble::{ApiError, passing};

const FIRST: &[&str] = &["-p", "--output-format", "stream-json", "--verbose"];

pub(crate) const ADAPTER: Adapter = Adapter {
    name: "claude",
    title: "Claude Code",
    flags: Flags {
        first: FIRST,
        first_of_resumed: FIRST,
        skip: "--dangerously-skip-permissions",
        model: "--model",
        session: Some("--resume"),
        last: &[],
    },
    decoder: JsonDecoder::<ClaudeProtocol>::boxed,
    credentials: Credentials {
        variables: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
        ],
        files: &[".claude/.credentials.json"],
        elsewhere: &[
            "ANTHROPIC_BASE_URL",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
            "CLAUDE_CONFIG_DIR",
        ],
    },
    abilities: Abilities {
        session: "at the start",
        resume: "yes",
        tools: "start and end",
        failed_commands: "yes",
        files: "edits",
        tokens: "yes",
        cost: "yes",
        errors: "status and error type, each retry",
        end: "`result`",
    },
};

#[derive(Debug, Default)]
struct ClaudeProtocol {
    tools: OpenTools,
    usage: MessageUsage,
    done: bool,
}

impl JsonProtocol for ClaudeProtocol {
    const REPORTS_LOST_SESSION: bool = false;

    fn on_object(&mut self, line: &Value) -> Vec<AgentEvent> {
        match (text(line, "/type"), text(line, "/subtype")) {
            ("system", "init") => vec![session(text(line, "/session_id"))],
            ("system", "api_retry") => vec![AgentEvent::Trouble(passing(&retry(line)))],
            ("system", "permission_denied") => denied(line).into_iter().collect(),
            ("rate_limit_event", _) => rejected(line).into_iter().collect(),
            ("assistant", _) if text(line, "/message/model") != "<synthetic>" => {
                let usage = self.message_usage(line);
                let parts = list(line, "/message/content").iter();
                let parts = parts.filter_map(|part| self.part(part));
                usage.into_iter().chain(parts).collect()
            }
            ("user", _) => {
                let parts = list(line, "/message/content").iter();
                parts.flat_map(|part| self.tool_ended(line, part)).collect()
            }
            ("result", _) => {
                self.done = true;
                ended(line, self.usage.total())
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

impl ClaudeProtocol {
    fn part(&mut self, part: &Value) -> Option<AgentEvent> {
        match text(part, "/type") {
            "text" => Some(written(text(part, "/text"))),
            "tool_use" if text(part, "/name") == "AskUserQuestion" => {
                Some(question(text(part, "/input/questions/0/question")))
            }
            "tool_use" => {
                let (call, name) = (text(part, "/id"), text(part, "/name"));
                Some(self.tools.started(call, name, tool_input(&part["input"])))
            }
            _ => None,
        }
    }

    /// Reports usage with each message, because an agent that is ended early has used it too.
    fn message_usage(&mut self, line: &Value) -> Option<AgentEvent> {
        let usage = tokens(line.pointer("/message/usage")?);
        let is_news = self.usage.report(text(line, "/message/id"), usage);
        is_news.then(|| AgentEvent::Usage(self.usage.total()))
    }

    fn tool_ended(&mut self, line: &Value, part: &Value) -> Vec<AgentEvent> {
        if text(part, "/type") != "tool_result" {
            return Vec::new();
        }
        let failed = part.pointer("/is_error").and_then(Value::as_bool) == Some(true);
        let exit = failed.then(|| exit_code(text(part, "/content"))).flatten();
        let ended = self.tools.ended(text(part, "/tool_use_id"), !failed, exit);
        // The result of a tool that only reads also names a file, but has none of these fields.
        let is_edit = ["oldString", "structuredPatch", "originalFile"]
            .iter()
            .any(|key| line.pointer(&format!("/tool_use_result/{key}")).is_some());
        let file = edited(text(line, "/tool_use_result/filePath"));
        let file = file.filter(|_| is_edit && !failed);
        file.into_iter().chain([ended]).collect()
    }
}

/// Parses `Exit code 1`, the first line of a failed command's output.
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

/// Returns the question for a permission that only a person can give. Something that the user's
/// rules or hooks forbid is just a failed tool, after which the agent continues.
fn denied(line: &Value) -> Option<AgentEvent> {
    let (tool, why) = (text(line, "/tool_name"), text(line, "/message"));
    let is_forbidden = matches!(text(line, "/decision_reason_type"), "rule" | "hook");
    // A rule may also require a person.
    let asks = ["approval", "granted"]
        .iter()
        .any(|word| why.contains(word));
    (asks || !is_forbidden).then(|| AgentEvent::Question {
        text: format!("{tool}: {why}"),
        permission: true,
    })
}

/// Returns the trouble of an exhausted subscription, with its reset time.
fn rejected(line: &Value) -> Option<AgentEvent> {
    let is_rejected = text(line, "/rate_limit_info/status") == "rejected";
    let seconds = i64::try_from(number(line, "/rate_limit_info/resetsAt")).ok();
    let millis = seconds.and_then(|at| at.checked_mul(1000));
    let error = ApiError {
        resets: millis.filter(|at| *at > 0).map(ResetTime::At),
        ..ApiError::named("rate_limit", "usage limit reached")
    };
    is_rejected.then(|| AgentEvent::Trouble(passing(&error)))
}

fn ended(line: &Value, so_far: Usage) -> Vec<AgentEvent> {
    let failed = line.pointer("/is_error").and_then(Value::as_bool) != Some(false);
    let message = match text(line, "/result") {
        "" => text(line, "/errors/0"),
        message => message,
    };
    let error = ApiError {
        status: status(line, "/api_error_status"),
        word: match text(line, "/terminal_reason") {
            reason @ ("prompt_too_long" | "max_turns") => reason,
            _ => text(line, "/api_error_type"),
        },
        ..ApiError::of(message)
    };
    let end = if failed {
        error.into_event()
    } else {
        AgentEvent::FinalMessage {
            text: bounded(message),
        }
    };
    vec![
        AgentEvent::Usage(usage(line, so_far)),
        end,
        AgentEvent::Terminal { ok: !failed },
    ]
}

/// Returns the usage of the whole run, or the sum of its messages if the end doesn't report it.
fn usage(line: &Value, so_far: Usage) -> Usage {
    let reported = line.pointer("/usage").map(tokens).unwrap_or_default();
    let is_reported = reported.input_tokens > 0 || reported.output_tokens > 0;
    Usage {
        cost_micro_usd: micro_usd(line, "/total_cost_usd"),
        ..if is_reported { reported } else { so_far }
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
