//! Bounds what is kept of an agent's message.

use std::collections::VecDeque;

use regreen_model::AgentEvent;

/// Longer messages are cut while they are still being written.
const MAX_HELD: usize = 1024 * 1024;

/// The message that an agent is writing. Its last one is the final message.
#[derive(Debug, Default)]
pub(crate) struct MessageBuffer {
    text: String,
}

impl MessageBuffer {
    /// Adds a piece of the message.
    pub(crate) fn add(&mut self, piece: &str) {
        self.text.push_str(piece);
        if self.text.len() > MAX_HELD {
            self.text = bounded(&self.text);
        }
    }

    /// Starts a new message with this text.
    pub(crate) fn begin(&mut self, text: &str) {
        self.text.clear();
        self.add(text);
    }

    /// Returns the event for the message as the final one.
    pub(crate) fn event(&self) -> AgentEvent {
        AgentEvent::FinalMessage {
            text: bounded(&self.text),
        }
    }
}

/// Returns the part of a message that is kept.
pub(crate) fn bounded(text: &str) -> String {
    let mut answer = Answer::default();
    for line in text.lines() {
        answer.push_line(line.as_bytes());
    }
    answer.text()
}

/// Only the end of a longer answer is kept, because the important part is there.
const MAX_ANSWER: usize = 64 * 1024;
/// The lines before that end without which it would be misread.
const MAX_KEPT: usize = 64 * 1024;
/// A failure block consists of its head and the lines below it.
const BLOCK_LINES: u32 = 8;
/// Opens a code block that no answer closes, so that nothing after it counts as a claim.
const DOUBT: &[u8] = b"~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ text that could not be kept";

/// An answer of any length: its end, and those lines before it that decide how to read the end. A
/// claim in a code block stays in it, and an admitted failure stays admitted, however much was
/// printed in between.
#[derive(Debug)]
pub(crate) struct Answer {
    tail: Tail,
    kept: VecDeque<KeptLine>,
    kept_bytes: usize,
    /// Whether a line was dropped that should have been kept.
    in_doubt: bool,
    bytes: u64,
    lines_of_block: u32,
}

#[derive(Debug)]
struct KeptLine {
    at: u64,
    line: Vec<u8>,
}

impl Default for Answer {
    fn default() -> Self {
        Self {
            tail: Tail::new(MAX_ANSWER),
            kept: VecDeque::new(),
            kept_bytes: 0,
            in_doubt: false,
            bytes: 0,
            lines_of_block: 0,
        }
    }
}

impl Answer {
    pub(crate) fn push_line(&mut self, line: &[u8]) {
        if self.matters(line) {
            self.keep(line);
        }
        self.tail.push_line(line);
        self.bytes += line.len() as u64 + 1;
    }

    fn matters(&mut self, line: &[u8]) -> bool {
        if contains(line, b"FAILED") {
            self.lines_of_block = BLOCK_LINES;
        }
        let is_of_block = self.lines_of_block > 0;
        self.lines_of_block = self.lines_of_block.saturating_sub(1);
        is_of_block || is_fence(line) || admits(line)
    }

    fn keep(&mut self, line: &[u8]) {
        let end = line.len().min(MAX_KEPT / 16);
        let line = line.get(..end).unwrap_or_default().to_vec();
        self.kept_bytes += line.len() + 1;
        let at = self.bytes;
        self.kept.push_back(KeptLine { at, line });
        while self.kept_bytes > MAX_KEPT
            && let Some(oldest) = self.kept.pop_front()
        {
            self.kept_bytes -= oldest.line.len() + 1;
            self.in_doubt |= !admits(&oldest.line) || is_fence(&oldest.line);
        }
    }

    pub(crate) fn text(&mut self) -> String {
        let end = self.tail.text();
        let starts_at = self.bytes.saturating_sub(end.len() as u64);
        let mut text = String::new();
        if starts_at > 0 && self.in_doubt {
            text.push_str(&String::from_utf8_lossy(DOUBT));
            text.push('\n');
        }
        for kept in self.kept.iter().filter(|kept| kept.at < starts_at) {
            text.push_str(&String::from_utf8_lossy(&kept.line));
            text.push('\n');
        }
        text + &end
    }
}

fn is_fence(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    line.starts_with(b"```") || line.starts_with(b"~~~")
}

/// Returns whether the line may admit that something was not done.
fn admits(line: &[u8]) -> bool {
    let line = line.to_ascii_lowercase();
    let says = |word: &[u8]| contains(&line, word);
    let fails = says(b"complete") && (says(b"can") || says(b"could"));
    fails || says(b"manual") || says(b"human") || says(b"automated")
}

fn contains(line: &[u8], word: &[u8]) -> bool {
    line.windows(word.len()).any(|window| window == word)
}

/// The last lines of a text of any length.
#[derive(Clone, Debug)]
pub(crate) struct Tail {
    bytes: Vec<u8>,
    limit: usize,
    /// Whether the kept text starts in the middle of a line.
    starts_inside: bool,
}

impl Tail {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            limit,
            starts_inside: false,
        }
    }

    pub(crate) fn push_line(&mut self, line: &[u8]) {
        let from = line.len().saturating_sub(self.limit);
        self.bytes
            .extend_from_slice(line.get(from..).unwrap_or_default());
        self.bytes.push(b'\n');
        // Cut rarely, because each cut moves the rest.
        if self.bytes.len() > 2 * self.limit {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let from = self.bytes.len().saturating_sub(self.limit);
        if let Some(before) = from.checked_sub(1) {
            self.starts_inside = self.bytes.get(before) != Some(&b'\n');
        }
        self.bytes.drain(..from);
    }

    /// Returns the kept text, from the start of a line if there is one.
    pub(crate) fn text(&mut self) -> String {
        self.cut();
        let first_end = self.bytes.iter().position(|byte| *byte == b'\n');
        let from = match first_end {
            Some(end) if self.starts_inside && end + 1 < self.bytes.len() => end + 1,
            _ => 0,
        };
        String::from_utf8_lossy(self.bytes.get(from..).unwrap_or_default()).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(lines: &[&str]) -> String {
        let mut answer = Answer::default();
        for line in lines {
            answer.push_line(line.as_bytes());
        }
        answer.text()
    }

    fn long(before: &[&str], after: &[&str]) -> String {
        let noise = "just some output of a program".to_owned();
        let noise = vec![noise.as_str(); 10_000];
        text(&[before, &noise, after].concat())
    }

    #[test]
    fn a_short_answer_is_kept_as_it_is() {
        assert_eq!(text(&["```", "a", "```", "b"]), "```\na\n```\nb\n");
    }

    #[test]
    fn a_block_of_code_that_is_opened_long_before_the_end_is_still_open() {
        let text = long(&["```"], &["TASK_COMPLETE"]);
        assert!(text.starts_with("```\njust some"), "{}", &text[..40]);
        assert!(text.ends_with("TASK_COMPLETE\n"));
        assert!(text.len() < 2 * MAX_ANSWER);
    }

    #[test]
    fn a_failure_admitted_long_before_the_end_is_still_admitted() {
        let text = long(
            &[
                "Task 1.1: x FAILED",
                "- Error: no",
                "this requires manual steps",
            ],
            &["TASK_COMPLETE"],
        );
        assert!(
            text.starts_with("Task 1.1: x FAILED\n- Error: no\nthis requires manual steps\n"),
            "{}",
            &text[..80]
        );
    }

    #[test]
    fn an_answer_with_too_much_to_keep_claims_nothing() {
        let fences = vec!["``` some code"; 10_000];
        let text = text(&[&fences[..], &["TASK_COMPLETE"]].concat());
        assert!(text.starts_with("~~~~"), "{}", &text[..20]);
    }

    fn tail(limit: usize, lines: &[&str]) -> String {
        let mut tail = Tail::new(limit);
        for line in lines {
            tail.push_line(line.as_bytes());
        }
        tail.text()
    }

    #[test]
    fn short_text_is_kept_whole_and_long_text_from_the_start_of_a_line() {
        assert_eq!(tail(20, &["one", "", "two"]), "one\n\ntwo\n");
        assert_eq!(tail(9, &["first", "second", "x"]), "second\nx\n");
        assert_eq!(tail(4, &["abcdefgh"]), "fgh\n");
        assert_eq!(tail(8, &[]), "");
    }

    proptest! {
        #[test]
        fn it_is_the_end_of_the_text_and_no_longer_than_allowed(
            lines in prop::collection::vec("[a-zä]{0,12}", 0..30),
            limit in 1_usize..60,
        ) {
            let whole: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let kept = tail(limit, &lines.iter().map(String::as_str).collect::<Vec<_>>());
            let readable = kept.trim_start_matches(char::REPLACEMENT_CHARACTER);
            prop_assert!(whole.ends_with(readable), "{kept:?} of {whole:?}");
            prop_assert!(readable.len() <= limit);
            prop_assert!(whole.len() > limit || kept == whole);
        }
    }
}
