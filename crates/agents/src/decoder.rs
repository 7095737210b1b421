use std::fmt::Debug;

use regreen_model::{AgentEvent, Ending};

/// The stream a program wrote to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// The response to a line: events and answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Reply {
    /// The events.
    pub events: Vec<AgentEvent>,
    /// Lines for the program's standard input, without line endings.
    pub write: Vec<String>,
}

impl Reply {
    pub(crate) fn of(events: impl IntoIterator<Item = AgentEvent>) -> Self {
        Self {
            events: events.into_iter().collect(),
            write: Vec::new(),
        }
    }
}

/// Reads an agent's output, and answers where its protocol requires it.
pub trait Decoder: Debug + Send {
    /// Returns what to write before the program prints anything.
    fn on_start(&mut self) -> Reply {
        Reply::default()
    }

    /// Reads one line, without its line ending. Very long lines may come in pieces. Decoders skip
    /// lines that they can't read.
    fn on_line(&mut self, stream: Stream, line: &[u8]) -> Reply;

    /// Returns whether the agent has printed everything. If it doesn't exit then, it is ended after
    /// a while, as if it had.
    fn is_done(&self) -> bool {
        false
    }

    /// Returns what to write before the program is ended from outside.
    fn on_cancel(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the events that follow from the end of the program, after all of its output.
    fn on_end(&mut self, _ending: &Ending) -> Vec<AgentEvent> {
        Vec::new()
    }
}

/// The final events of a program without a protocol: its message, and its exit as the terminal
/// event if it ended by itself.
pub(crate) fn end_of_program(message: String, ending: &Ending) -> Vec<AgentEvent> {
    let code = ending
        .exit_code
        .filter(|_| !ending.timed_out && ending.signal.is_none());
    let has_message = !message.trim().is_empty();
    let message = has_message.then_some(AgentEvent::FinalMessage { text: message });
    let terminal = code.map(|code| AgentEvent::Terminal { ok: code == 0 });
    message.into_iter().chain(terminal).collect()
}

/// Splits a stream into lines, in whatever chunks it arrives. Very long lines come in pieces.
#[derive(Debug, Default)]
pub struct Lines {
    held: Vec<u8>,
}

/// The maximum length of a piece. The pieces don't depend on the chunks.
const MAX_LINE: usize = 1024 * 1024;

impl Lines {
    /// Calls `line` with each line that `bytes` completes.
    pub fn feed(&mut self, bytes: &[u8], mut line: impl FnMut(&[u8])) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (head, tail) = rest.split_at(end);
            if self.held.is_empty() {
                pieces(without_return(head), &mut line);
            } else {
                self.held.extend_from_slice(head);
                pieces(without_return(&self.held), &mut line);
                self.held.clear();
            }
            rest = tail.get(1..).unwrap_or_default();
        }
        self.held.extend_from_slice(rest);
        while self.held.len() > MAX_LINE {
            line(&self.held[..MAX_LINE]);
            self.held.drain(..MAX_LINE);
        }
    }

    /// Calls `line` with the last line if it has no line ending.
    pub fn finish(&mut self, mut line: impl FnMut(&[u8])) {
        if !self.held.is_empty() {
            pieces(without_return(&self.held), &mut line);
            self.held.clear();
        }
    }
}

fn pieces(text: &[u8], line: &mut impl FnMut(&[u8])) {
    if text.is_empty() {
        line(text);
    }
    text.chunks(MAX_LINE).for_each(line);
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(chunks: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        let mut lines = Lines::default();
        for chunk in chunks {
            lines.feed(chunk, |line| found.push(line.to_vec()));
        }
        lines.finish(|line| found.push(line.to_vec()));
        found
    }

    proptest! {
        #[test]
        fn lines_are_the_same_however_they_arrive(text in "[ab\r\n]{0,40}", at in 0..40_usize) {
            let at = at.min(text.len());
            let (head, tail) = text.as_bytes().split_at(at);
            prop_assert_eq!(lines(&[head, tail]), lines(&[text.as_bytes()]));
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_in_the_same_places_however_it_arrives() {
        let mut text = vec![b'x'; 2 * MAX_LINE + 7];
        text.extend_from_slice(b"\nnext\n");
        let whole = lines(&[&text]);
        assert_eq!(whole.len(), 4);
        for size in [1000, MAX_LINE - 1, MAX_LINE + 1] {
            let chunks: Vec<&[u8]> = text.chunks(size).collect();
            assert!(lines(&chunks) == whole, "{size}");
        }
    }

    #[test]
    fn a_line_without_end_is_not_held_for_ever() {
        let piece = vec![b'x'; MAX_LINE + 1];
        let mut lines = Lines::default();
        let mut seen = 0;
        for _ in 0..4 {
            lines.feed(&piece, |line| seen += line.len());
        }
        assert!(4 * piece.len() - seen <= MAX_LINE);
    }
}
