//! Lines of JSON, of which nothing is taken for granted.

use std::collections::{BTreeMap, VecDeque};

use regreen_model::{AgentEvent, Usage};
use serde_json::Value;

/// The object that a line is; `None` for everything else, which decoders pass over.
pub(crate) fn object(line: &[u8]) -> Option<Value> {
    let line = line.trim_ascii();
    if !line.starts_with(b"{") {
        return None;
    }
    serde_json::from_slice(line).ok()
}

/// The text at a path such as `/part/state/status`; empty if there is none.
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

/// An exit code, or an HTTP status.
pub(crate) fn code(value: &Value, path: &str) -> Option<i32> {
    let code = value.pointer(path).and_then(Value::as_i64)?;
    i32::try_from(code).ok()
}

pub(crate) fn status(value: &Value, path: &str) -> Option<u16> {
    u16::try_from(code(value, path)?).ok()
}

/// Dollars, as millionths of one.
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

/// No agent has so many tools at work; calls whose ends were never told are forgotten.
const MOST: usize = 256;

/// The tools that have been started and have not ended: ends often do not say of what.
#[derive(Debug, Default)]
pub(crate) struct OpenTools {
    names: BTreeMap<String, String>,
}

impl OpenTools {
    pub(crate) fn started(&mut self, call: &str, name: &str) -> AgentEvent {
        if self.names.len() >= MOST {
            self.names.pop_first();
        }
        self.names.insert(call.to_owned(), name.to_owned());
        AgentEvent::ToolStarted {
            call: call.to_owned(),
            name: name.to_owned(),
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

/// So many messages may be told at the same time, by helpers of an agent; older ones have ended.
const OPEN: usize = 64;

/// What messages have used up, of an agent that tells a message more than once: its last word
/// on each counts.
#[derive(Debug, Default)]
pub(crate) struct MessageUsage {
    open: VecDeque<(String, Usage)>,
    ended: Usage,
}

impl MessageUsage {
    /// Whether that changes the total.
    pub(crate) fn told(&mut self, message: &str, usage: Usage) -> bool {
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
    use super::*;

    fn usage(input_tokens: u64) -> Usage {
        Usage {
            input_tokens,
            ..Usage::default()
        }
    }

    #[test]
    fn the_last_word_on_each_message_counts_however_many_there_are() {
        let mut spent = MessageUsage::default();
        assert!(spent.told("a", usage(7)));
        assert!(!spent.told("a", usage(7)));
        assert!(spent.told("b", usage(1)));
        assert!(spent.told("a", usage(9)));
        assert_eq!(spent.total().input_tokens, 10);
        for n in 0..1000 {
            assert!(spent.told(&n.to_string(), usage(1)));
        }
        assert_eq!(spent.total().input_tokens, 1010);
        assert!(spent.open.len() <= OPEN);
        spent.told("huge", usage(u64::MAX));
        assert_eq!(spent.total().input_tokens, u64::MAX);
    }
}
