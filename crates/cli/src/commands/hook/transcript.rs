//! The end of a session's transcript.

use std::path::Path;

use regreen_workspace::read_tail;
use serde_json::Value;

/// How much of the end is read.
const TAIL_LINES: usize = 500;
const TAIL_BYTES: u64 = 2 * 1024 * 1024;

const COMPLETION: &str = "ALL_TASKS_COMPLETE";

/// Returns the end of a transcript; empty if it can't be read.
pub(super) fn tail(path: &Path) -> String {
    read_tail(path, TAIL_BYTES).unwrap_or_default()
}

/// Whether the agent itself has said that everything is done. Prompts and tool output may contain
/// the word as well, but do not count.
pub(super) fn says_all_is_done(tail: &str) -> bool {
    let lines = tail.lines().rev().take(TAIL_LINES);
    lines.filter(|line| line.contains(COMPLETION)).any(says_it)
}

fn says_it(line: &str) -> bool {
    match serde_json::from_str::<Value>(line) {
        Ok(value) if value.is_object() => is_agents(&value) && has_word_in_text(&value),
        _ => has_word(line),
    }
}

/// Whether a line is the agent's. A line without a role counts as the agent's.
fn is_agents(line: &Value) -> bool {
    let role = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let roles = [
        role(line, "type"),
        role(line, "role"),
        line.get("message")
            .and_then(|message| role(message, "role")),
    ];
    let others = ["user", "system", "summary", "tool", "tool_result"];
    !roles
        .iter()
        .flatten()
        .any(|role| others.contains(&role.as_str()))
}

/// Searches all text except the agent's thoughts and the input of its tools.
fn has_word_in_text(value: &Value) -> bool {
    match value {
        Value::String(text) => has_word(text),
        Value::Array(values) => values.iter().any(has_word_in_text),
        Value::Object(fields) => {
            let kind = fields.get("type").and_then(Value::as_str);
            !matches!(kind, Some("tool_use" | "tool_result" | "thinking"))
                && fields.values().any(has_word_in_text)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn has_word(text: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(COMPLETION).any(|(at, word)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agents_own_word_counts() {
        for line in [
            "ALL_TASKS_COMPLETE",
            "done: ALL_TASKS_COMPLETE.",
            r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Done.\nALL_TASKS_COMPLETE"}]}}"#,
            r#"{"role":"assistant","content":"ALL_TASKS_COMPLETE"}"#,
            r#"{"text":"ALL_TASKS_COMPLETE"}"#,
        ] {
            assert!(says_all_is_done(&format!("{{}}\n{line}\n")), "{line}");
        }
    }

    #[test]
    fn text_that_the_agent_was_given_or_read_does_not_count() {
        for line in [
            "NOT_ALL_TASKS_COMPLETE",
            "ALL_TASKS_COMPLETED",
            r#"{"type":"user","message":{"role":"user","content":"end with ALL_TASKS_COMPLETE"}}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"tool_use","input":{"command":"grep ALL_TASKS_COMPLETE x"}}]}}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"not yet ALL_TASKS_COMPLETE"}]}}"#,
            r#"{"type":"system","content":"ALL_TASKS_COMPLETE"}"#,
        ] {
            assert!(!says_all_is_done(line), "{line}");
        }
    }

    #[test]
    fn only_the_end_of_a_transcript_is_looked_at() {
        let long = format!("ALL_TASKS_COMPLETE\n{}", "{}\n".repeat(TAIL_LINES));
        assert!(!says_all_is_done(&long));
    }
}
