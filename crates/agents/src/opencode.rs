//! opencode: `opencode run --format json`.

use regreen_model::{AgentEvent, Ending, ResetTime, TroubleClass, Usage};
use serde_json::Value;

use crate::coding_agent::{Abilities, Adapter, Credentials, Flags};
use crate::json_lines::{
    JsonDecoder, JsonProtocol, OpenTools, code, edited, micro_usd, number, question, session,
    status, text, tool_input, written,
};
use crate::message::MessageBuffer;
use crate::reset_time::retry_after;
use crate::trouble::{ApiError, passing};

/// Only its log shows that its service refuses it.
const FIRST: &[&str] = &[
    "run",
    "--format",
    "json",
    "--print-logs",
    "--log-level",
    "ERROR",
];

pub(crate) const ADAPTER: Adapter = Adapter {
    name: "opencode",
    title: "opencode",
    flags: Flags {
        first: FIRST,
        first_of_resumed: FIRST,
        skip: "--auto",
        model: "-m",
        session: Some("-s"),
        last: &[],
    },
    decoder: JsonDecoder::<OpencodeProtocol>::boxed,
    credentials: Credentials {
        variables: &[],
        files: &[
            ".local/share/opencode/auth.json",
            ".config/opencode/opencode.json",
        ],
        // It takes the key of any provider.
        elsewhere: &[
            "ANTHROPIC_API_KEY",
            "AWS_ACCESS_KEY_ID",
            "AWS_PROFILE",
            "GEMINI_API_KEY",
            "GITHUB_TOKEN",
            "OPENAI_API_KEY",
            "OPENCODE_CONFIG",
            "OPENROUTER_API_KEY",
            "XDG_CONFIG_HOME",
            "XDG_DATA_HOME",
        ],
    },
    abilities: Abilities {
        session: "with the first event",
        resume: "yes",
        tools: "end only",
        failed_commands: "yes, with exit code",
        files: "edits",
        tokens: "yes",
        cost: "yes",
        errors: "status; retries in its log on stderr",
        end: "`step_finish` with `stop`, then it exits",
    },
};

/// How often its context may be too small before a new session is better.
const MAX_OVERFLOWS: u32 = 2;

#[derive(Debug, Default)]
struct OpencodeProtocol {
    session: String,
    /// The id of the message in `text`.
    message: String,
    text: MessageBuffer,
    usage: Usage,
    overflows: u32,
    /// Whether it is compacting its context.
    is_compacting: bool,
    /// Whether its last step ended and nothing followed.
    stopped: bool,
    /// The last error, if nothing followed it.
    error: Option<AgentEvent>,
}

impl JsonProtocol for OpencodeProtocol {
    fn on_object(&mut self, line: &Value) -> Vec<AgentEvent> {
        let begun = self.begun(text(line, "/sessionID"));
        let kind = text(line, "/type");
        self.stopped = false;
        if kind != "error" {
            self.error = None;
        }
        let events = match kind {
            "text" => self.text(line).into_iter().collect(),
            "tool_use" => self.tool(line),
            "step_finish" => vec![self.step(line)],
            "error" => self.failed(line).into_iter().collect(),
            _ => Vec::new(),
        };
        begun.into_iter().chain(events).collect()
    }

    fn on_log(&mut self, line: &[u8]) -> Option<AgentEvent> {
        logged(line)
    }

    fn is_done(&self) -> bool {
        self.stopped
    }

    fn on_end(&mut self, ending: &Ending) -> Vec<AgentEvent> {
        let exited = ending.exit_code == Some(0) && ending.signal.is_none() && !ending.timed_out;
        if let Some(error) = self.error.take() {
            return vec![error, AgentEvent::Terminal { ok: false }];
        }
        if !(self.stopped && exited) {
            return Vec::new();
        }
        vec![self.text.event(), AgentEvent::Terminal { ok: true }]
    }
}

impl OpencodeProtocol {
    fn begun(&mut self, id: &str) -> Option<AgentEvent> {
        if id.is_empty() || self.session == id {
            return None;
        }
        self.session = id.to_owned();
        Some(session(id))
    }

    fn text(&mut self, line: &Value) -> Option<AgentEvent> {
        let is_its_own = line.pointer("/part/synthetic").and_then(Value::as_bool) == Some(true);
        // The summary from compacting isn't an answer.
        let is_summary = self.is_compacting && !is_its_own;
        self.is_compacting &= !is_its_own;
        if is_its_own || is_summary {
            return None;
        }
        let (message, piece) = (text(line, "/part/messageID"), text(line, "/part/text"));
        if self.message == message {
            self.text.add("\n");
            self.text.add(piece);
        } else {
            self.message = message.to_owned();
            self.text.begin(piece);
        }
        Some(written(piece))
    }

    /// Reads a tool call, which is reported once it has ended.
    fn tool(&mut self, line: &Value) -> Vec<AgentEvent> {
        self.overflows = 0;
        let (call, name) = (text(line, "/part/callID"), text(line, "/part/tool"));
        if name == "question" {
            return vec![question(text(
                line,
                "/part/state/input/questions/0/question",
            ))];
        }
        let exit = code(line, "/part/state/metadata/exit");
        let completed = text(line, "/part/state/status") == "completed";
        let ok = completed && exit.is_none_or(|exit| exit == 0);
        let file = edited(text(line, "/part/state/input/filePath"));
        let file = file.filter(|_| ok && ["write", "edit", "patch"].contains(&name));
        let mut tools = OpenTools::default();
        let input = tool_input(&line["part"]["state"]["input"]);
        let started = tools.started(call, name, input);
        let ended = tools.ended(call, ok, exit);
        [started].into_iter().chain(file).chain([ended]).collect()
    }

    fn step(&mut self, line: &Value) -> AgentEvent {
        let of = |name: &str| number(line, &format!("/part/tokens/{name}"));
        let cached = of("cache/read");
        self.usage.input_tokens += of("input") + cached + of("cache/write");
        self.usage.output_tokens += of("output") + of("reasoning");
        self.usage.cached_tokens += cached;
        let cost = micro_usd(line, "/part/cost").unwrap_or(0);
        *self.usage.cost_micro_usd.get_or_insert(0) += cost;
        self.stopped = text(line, "/part/reason") == "stop" && !self.is_compacting;
        AgentEvent::Usage(self.usage)
    }

    fn failed(&mut self, line: &Value) -> Option<AgentEvent> {
        let name = text(line, "/error/name");
        let error = ApiError {
            status: status(line, "/error/data/statusCode"),
            resets: resets(line),
            ..ApiError::named(name, text(line, "/error/data/message"))
        };
        let event = error.into_event();
        self.error = Some(event.clone());
        if name != "ContextOverflowError" {
            return Some(event);
        }
        // It compacts its context itself, but might do nothing else for ever.
        self.overflows += 1;
        self.is_compacting = true;
        (self.overflows >= MAX_OVERFLOWS).then_some(event)
    }
}

fn resets(line: &Value) -> Option<ResetTime> {
    let header = |name: &str| text(line, &format!("/error/data/responseHeaders/{name}"));
    let millis = header("retry-after-ms").parse().ok();
    let after = millis.map(ResetTime::After);
    after.or_else(|| retry_after(header("retry-after")))
}

/// Reads a line of its log: a failed request that it will retry, or a permission that nobody can
/// give.
pub(crate) fn logged(line: &[u8]) -> Option<AgentEvent> {
    let line = String::from_utf8_lossy(line.get(..line.len().min(8 * 1024))?);
    if line.contains("permission requested:") {
        let text = line.trim().to_owned();
        let permission = true;
        return Some(AgentEvent::Question { text, permission });
    }
    // A small model makes titles, on which nothing depends.
    let is_main = line.contains("message=\"stream error\"") && !line.contains("small=true");
    let (_, why) = line.split_once("error.error=").filter(|_| is_main)?;
    let trouble = passing(&ApiError::of(why.trim().trim_matches('"')));
    // An error that it doesn't retry comes as its own event.
    (trouble.class == TroubleClass::Transient).then_some(AgentEvent::Trouble(trouble))
}
