//! Agents that print one JSON object per line, and access to values in such lines.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;

use regreen_model::{AgentEvent, Ending, Usage};
use serde_json::Value;

use crate::trouble::lost_session;
use crate::{Assignment, Decoder, Reply, Stream};

/// The meaning of one agent's lines.
pub(crate) trait JsonProtocol: Debug + Default + Send + 'static {
    /// Whether the agent reports a session that it can't resume as text on standard error.
    const REPORTS_LOST_SESSION: bool = true;

    /// Reads an object of standard output.
    fn on_object(&mut self, line: &Value) -> Vec<AgentEvent>;

    /// Reads a line of standard error.
    fn on_log(&mut self, line: &[u8]) -> Option<AgentEvent>;

    /// Returns whether the last event was the end of its work.
    fn is_done(&self) -> bool;

    /// Returns the events that follow from the end of the program.
    fn on_end(&mut self, _ending: &Ending) -> Vec<AgentEvent> {
        Vec::new()
    }
}

/// Decodes the output of an agent that prints JSON lines.
#[derive(Debug)]
pub(crate) struct JsonDecoder<P> {
    protocol: P,
    watches_for_lost_session: bool,
}

impl<P: JsonProtocol> JsonDecoder<P> {
    pub(crate) fn boxed(assignment: &Assignment<'_>) -> Box<dyn Decoder> {
        Self::reading(P::default(), assignment)
    }

    pub(crate) fn reading(protocol: P, assignment: &Assignment<'_>) -> Box<dyn Decoder> {
        Box::new(Self {
            protocol,
            watches_for_lost_session: assignment.session.is_some() && P::REPORTS_LOST_SESSION,
        })
    }
}

impl<P: JsonProtocol> Decoder for JsonDecoder<P> {
    fn on_line(&mut self, stream: Stream, line: &[u8]) -> Reply {
        match stream {
            Stream::Out => {
                let line = object(line);
                Reply::of(line.iter().flat_map(|line| self.protocol.on_object(line)))
            }
            Stream::Err => {
                let lost = self.watches_for_lost_session.then(|| lost_session(line));
                Reply::of(lost.flatten().or_else(|| self.protocol.on_log(line)))
            }
        }
    }

    fn is_done(&self) -> bool {
        self.protocol.is_done()
    }

    fn on_end(&mut self, ending: &Ending) -> Vec<AgentEvent> {
        self.protocol.on_end(ending)
    }
}

/// Parses a line as an object; decoders skip all other lines.
pub(crate) fn object(line: &[u8]) -> Option<Value> {
    let line = line.trim_ascii();
    if !line.starts_with(b"{") {
        return None;
    }
    serde_json::from_slice(line).ok()
}

/// Returns the text at a path such as `/part/state/status`; empty if there is none.
pub(crate) fn text<'v>(value: &'v Value, path: &str) -> &'v str {
    value.pointer(path).and_then(Value::as_str).unwrap_or("")
}

pub(crate) fn number(value: &Value, path: &str) -> u64 {
    value.pointer(path).and_then(Value::as_u64).unwrap_or(0)
}

pub(crate) fn list<'v>(value: &'v Value, path: &str) -> &'v [Value] {
    let list = value.pointer(path).and_then(Value::as_array);
    list.map(Vec::as_slice).unwrap_or_default()
}

/// Returns an exit code or an HTTP status.
pub(crate) fn code(value: &Value, path: &str) -> Option<i32> {
    let code = value.pointer(path).and_then(Value::as_i64)?;
    i32::try_from(code).ok()
}

pub(crate) fn status(value: &Value, path: &str) -> Option<u16> {
    u16::try_from(code(value, path)?).ok()
}

/// Converts dollars to millionths.
pub(crate) fn micro_usd(value: &Value, path: &str) -> Option<u64> {
    const MICRO: f64 = 1e6;
    let dollars = value.pointer(path).and_then(Value::as_f64)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is within bounds, and casts of floats saturate"
    )]
    let micro = (dollars.clamp(0.0, 1e9) * MICRO).round() as u64;
    Some(micro)
}

/// Returns the event for a session that starts or is resumed.
pub(crate) fn session(id: &str) -> AgentEvent {
    AgentEvent::Session { id: id.to_owned() }
}

/// Returns the event for text that the agent wrote.
pub(crate) fn written(text: &str) -> AgentEvent {
    AgentEvent::Text {
        text: text.to_owned(),
    }
}

/// Returns the event for a question that needs an answer rather than a permission.
pub(crate) fn question(text: &str) -> AgentEvent {
    AgentEvent::Question {
        text: text.to_owned(),
        permission: false,
    }
}

/// Returns the event for an edit; `None` if the agent didn't name the file.
pub(crate) fn edited(path: &str) -> Option<AgentEvent> {
    (!path.is_empty()).then(|| AgentEvent::FileEdited {
        path: path.to_owned(),
    })
}

/// The keys for what a tool is used on, most informative first.
const INPUT_KEYS: [&str; 13] = [
    "command",
    "cmd",
    "file_path",
    "filePath",
    "absolute_path",
    "notebook_path",
    "pattern",
    "query",
    "url",
    "path",
    "dir_path",
    "description",
    "prompt",
];

/// Returns the command, path or pattern in a tool's input, exactly as the agent wrote it: a secret
/// that is cut or reformatted can no longer be masked.
pub(crate) fn tool_input(input: &Value) -> String {
    let values = INPUT_KEYS.iter().filter_map(|key| input.get(key));
    let text = values.map(input_text).find(|text| !text.trim().is_empty());
    text.unwrap_or_default()
}

fn input_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            words.join(" ")
        }
        _ => String::new(),
    }
}

/// No agent runs this many tools at once; older calls whose end was never reported are forgotten.
const MOST: usize = 256;

/// Tools that have started but not ended. The end of a call often doesn't name its tool.
#[derive(Debug, Default)]
pub(crate) struct OpenTools {
    names: BTreeMap<String, String>,
}

impl OpenTools {
    pub(crate) fn started(&mut self, call: &str, name: &str, input: String) -> AgentEvent {
        if self.names.len() >= MOST {
            self.names.pop_first();
        }
        self.names.insert(call.to_owned(), name.to_owned());
        AgentEvent::ToolStarted {
            call: call.to_owned(),
            name: name.to_owned(),
            input,
        }
    }

    pub(crate) fn has(&self, call: &str) -> bool {
        self.names.contains_key(call)
    }

    pub(crate) fn ended(&mut self, call: &str, ok: bool, exit: Option<i32>) -> AgentEvent {
        AgentEvent::ToolEnded {
            call: call.to_owned(),
            name: self.names.remove(call).unwrap_or_default(),
            ok,
            exit,
        }
    }
}

/// How many messages may be open at once, because agents have subagents; older ones have ended.
const OPEN: usize = 64;

/// The usage of messages that an agent may report more than once: the last report for each counts.
#[derive(Debug, Default)]
pub(crate) struct MessageUsage {
    open: VecDeque<(String, Usage)>,
    ended: Usage,
}

impl MessageUsage {
    /// Records a report. Returns whether it changes the total.
    pub(crate) fn report(&mut self, message: &str, usage: Usage) -> bool {
        let before = self.total();
        match self.open.iter_mut().find(|(id, _)| id == message) {
            Some((_, known)) => *known = usage,
            None => self.open.push_back((message.to_owned(), usage)),
        }
        if self.open.len() > OPEN
            && let Some((_, oldest)) = self.open.pop_front()
        {
            self.ended = self.ended.plus(&oldest);
        }
        self.total() != before
    }

    pub(crate) fn total(&self) -> Usage {
        let open = self.open.iter();
        open.fold(self.ended, |total, (_, usage)| total.plus(usage))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn usage(input_tokens: u64) -> Usage {
        Usage {
            input_tokens,
            ..Usage::default()
        }
    }

    #[track_caller]
    fn check_input(input: &Value, expected: &str) {
        assert_eq!(tool_input(input), expected);
    }

    #[test]
    fn a_tool_is_shown_with_its_most_telling_input() {
        check_input(
            &json!({"command": "pytest -q", "description": "Run"}),
            "pytest -q",
        );
        check_input(&json!({"path": "src", "pattern": "fn main"}), "fn main");
        check_input(&json!({"command": ["git", "log", 7]}), "git log");
        check_input(&json!({"command": " \n", "query": "x"}), "x");
        for nothing in [json!({}), json!({"command": 7}), json!("x"), Value::Null] {
            check_input(&nothing, "");
        }
    }

    #[test]
    fn an_input_stays_as_it_is_until_it_is_masked() {
        let command = format!("echo 'two\n  lines'{}", "x".repeat(1000));
        check_input(&json!({"command": command}), &command);
    }

    #[test]
    fn the_last_report_of_each_message_counts_however_many_there_are() {
        let mut spent = MessageUsage::default();
        assert!(spent.report("a", usage(7)));
        assert!(!spent.report("a", usage(7)));
        assert!(spent.report("b", usage(1)));
        assert!(spent.report("a", usage(9)));
        assert_eq!(spent.total().input_tokens, 10);
        for n in 0..1000 {
            assert!(spent.report(&n.to_string(), usage(1)));
        }
        assert_eq!(spent.total().input_tokens, 1010);
        assert!(spent.open.len() <= OPEN);
        spent.report("huge", usage(u64::MAX));
        assert_eq!(spent.total().input_tokens, u64::MAX);
    }
}
