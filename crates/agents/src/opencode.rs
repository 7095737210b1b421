//! opencode: `opencode run --format json`.

use regreen_model::{AgentEvent, Ending, ResetTime, TroubleClass, Usage};
use serde_json::Value;

use crate::coding_agent::Abilities;
use crate::coding_agent::{Adapter, Credentials};
use crate::json_lines::{code, micro_usd, number, object, status, text};
use crate::message::{MessageBuffer, bounded};
use crate::reset_time::retry_after;
use crate::trouble::{ApiError, lost_session, passing, trouble};
use crate::{AgentOptions, Assignment, Decoder, Permissions, Reply, Stream};

pub(crate) const ADAPTER: Adapter = Adapter {
    name: "opencode",
    title: "opencode",
    argv,
    decoder: |assignment| {
        Box::new(OpencodeDecoder {
            resumed: assignment.session.is_some(),
            ..OpencodeDecoder::default()
        })
    },
    skips_with: "--auto",
    credentials: Credentials {
        variables: &[],
        files: &[
            ".local/share/opencode/auth.json",
            ".config/opencode/opencode.json",
        ],
    },
    abilities: Abilities {
        session: "with its first event",
        resume: "yes",
        tools: "end only",
        failed_commands: "yes, with exit code",
        files: "edits",
        tokens: "yes",
        cost: "yes",
        errors: "status; retries in its log on stderr",
        end: "`step_finish` with `stop`, then its exit",
    },
};

/// So many times it may find its context too small before a new session is better.
const MOST_OVERFLOWS: u32 = 2;

fn argv(options: &AgentOptions, assignment: &Assignment<'_>) -> Vec<String> {
    // Its log is the only place where it tells that its service refuses it.
    let mut argv = vec![
        "run",
        "--format",
        "json",
        "--print-logs",
        "--log-level",
        "ERROR",
    ];
    if options.permissions == Permissions::Skip {
        argv.push(ADAPTER.skips_with);
    }
    if let Some(model) = &options.model {
        argv.extend(["-m", model]);
    }
    if let Some(session) = assignment.session {
        argv.extend(["-s", session]);
    }
    argv.extend(options.arguments.iter().map(String::as_str));
    argv.into_iter().map(str::to_owned).collect()
}

#[derive(Debug, Default)]
struct OpencodeDecoder {
    resumed: bool,
    session: String,
    message: String,
    said: MessageBuffer,
    usage: Usage,
    overflows: u32,
    /// It makes its context smaller.
    summing_up: bool,
    /// Its last step came to an end, and nothing was heard since.
    stopped: bool,
    /// The error that nothing followed.
    error: Option<AgentEvent>,
}

impl Decoder for OpencodeDecoder {
    fn on_line(&mut self, stream: Stream, line: &[u8]) -> Reply {
        if stream == Stream::Err {
            let lost = self.resumed.then(|| lost_session(line)).flatten();
            return Reply::of(lost.or_else(|| logged(line)).into_iter().collect());
        }
        let Some(line) = object(line) else {
            return Reply::default();
        };
        let session = self.begun(text(&line, "/sessionID"));
        let events = self.events(&line);
        Reply::of(session.into_iter().chain(events).collect())
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
        vec![
            AgentEvent::FinalMessage {
                text: self.said.text(),
            },
            AgentEvent::Terminal { ok: true },
        ]
    }
}

impl OpencodeDecoder {
    fn begun(&mut self, session: &str) -> Option<AgentEvent> {
        if session.is_empty() || self.session == session {
            return None;
        }
        self.session = session.to_owned();
        let id = session.to_owned();
        Some(AgentEvent::Session { id })
    }

    fn events(&mut self, line: &Value) -> Vec<AgentEvent> {
        let kind = text(line, "/type");
        self.stopped = false;
        if kind != "error" {
            self.error = None;
        }
        match kind {
            "text" => self.text(line),
            "tool_use" => self.tool(line),
            "step_finish" => self.step(line),
            "error" => self.failed(line),
            _ => Vec::new(),
        }
    }

    fn text(&mut self, line: &Value) -> Vec<AgentEvent> {
        let is_its_own = line.pointer("/part/synthetic").and_then(Value::as_bool) == Some(true);
        // A summary of itself, made because its context was too small, is no answer.
        let is_summary = self.summing_up && !is_its_own;
        self.summing_up &= !is_its_own;
        if is_its_own || is_summary {
            return Vec::new();
        }
        let (message, said) = (text(line, "/part/messageID"), text(line, "/part/text"));
        if self.message == message {
            self.said.add("\n");
            self.said.add(said);
        } else {
            self.message = message.to_owned();
            self.said.begin(said);
        }
        vec![AgentEvent::Text {
            text: said.to_owned(),
        }]
    }

    /// Only told when it has ended.
    fn tool(&mut self, line: &Value) -> Vec<AgentEvent> {
        self.overflows = 0;
        let (call, name) = (text(line, "/part/callID"), text(line, "/part/tool"));
        let exit = code(line, "/part/state/metadata/exit");
        let completed = text(line, "/part/state/status") == "completed";
        let ok = completed && exit.is_none_or(|exit| exit == 0);
        let path = text(line, "/part/state/input/filePath");
        let is_edit = ok && ["write", "edit", "patch"].contains(&name) && !path.is_empty();
        let edited = is_edit.then(|| AgentEvent::FileEdited {
            path: path.to_owned(),
        });
        let (call, name) = (call.to_owned(), name.to_owned());
        let started = AgentEvent::ToolStarted {
            call: call.clone(),
            name: name.clone(),
        };
        let ended = AgentEvent::ToolEnded {
            call,
            name,
            ok,
            exit,
        };
        [started].into_iter().chain(edited).chain([ended]).collect()
    }

    fn step(&mut self, line: &Value) -> Vec<AgentEvent> {
        let tokens = "/part/tokens";
        let of = |name: &str| number(line, &format!("{tokens}/{name}"));
        let cached = of("cache/read");
        self.usage.input_tokens += of("input") + cached + of("cache/write");
        self.usage.output_tokens += of("output") + of("reasoning");
        self.usage.cached_tokens += cached;
        let cost = micro_usd(line, "/part/cost").unwrap_or(0);
        *self.usage.cost_micro_usd.get_or_insert(0) += cost;
        self.stopped = text(line, "/part/reason") == "stop" && !self.summing_up;
        vec![AgentEvent::Usage(self.usage)]
    }

    fn failed(&mut self, line: &Value) -> Vec<AgentEvent> {
        let name = text(line, "/error/name");
        let error = ApiError {
            status: status(line, "/error/data/statusCode"),
            word: name,
            message: text(line, "/error/data/message"),
            resets: resets(line),
        };
        let told = match trouble(&error) {
            Some(trouble) => AgentEvent::Trouble(trouble),
            None => AgentEvent::FinalMessage {
                text: bounded(error.message),
            },
        };
        if name != "ContextOverflowError" {
            self.error = Some(told.clone());
            return vec![told];
        }
        // It makes its context smaller itself, but may do nothing else for ever.
        self.overflows += 1;
        self.summing_up = true;
        let is_loop = self.overflows >= MOST_OVERFLOWS;
        self.error = Some(told.clone());
        [told].into_iter().filter(|_| is_loop).collect()
    }
}

fn resets(line: &Value) -> Option<ResetTime> {
    let headers = "/error/data/responseHeaders";
    let header = |name: &str| text(line, &format!("{headers}/{name}"));
    let millis = header("retry-after-ms").parse().ok();
    let after = millis.map(ResetTime::After);
    after.or_else(|| retry_after(header("retry-after")))
}

/// A line of its log about a request that failed and will be made again, or about a
/// permission that nobody can give.
pub(crate) fn logged(line: &[u8]) -> Option<AgentEvent> {
    let line = String::from_utf8_lossy(line.get(..line.len().min(8 * 1024))?);
    if line.contains("permission requested:") {
        let text = line.trim().to_owned();
        let permission = true;
        return Some(AgentEvent::Question { text, permission });
    }
    // Titles are asked for with a small model; nothing depends on them.
    let is_ours = line.contains("message=\"stream error\"") && !line.contains("small=true");
    let (_, why) = line.split_once("error.error=").filter(|_| is_ours)?;
    let error = ApiError {
        message: why.trim().trim_matches('"'),
        ..ApiError::default()
    };
    // What it does not try again comes as an event of its own.
    let trouble = Some(passing(&error)).filter(|found| found.class == TroubleClass::Transient);
    trouble.map(AgentEvent::Trouble)
}
