use std::fmt::Debug;

use regreen_model::{AgentEvent, Ending};

/// Which of its two outputs a program wrote to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Out,
    Err,
}

/// What a line came to: what happened, and what is to be said to the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Reply {
    pub events: Vec<AgentEvent>,
    /// Lines for its standard input, without their endings.
    pub write: Vec<String>,
}

impl Reply {
    pub(crate) fn of(events: Vec<AgentEvent>) -> Self {
        let write = Vec::new();
        Self { events, write }
    }
}

/// Reads what an agent prints, and answers where it has to be answered.
pub trait Decoder: Debug + Send {
    /// What is to be said before the program says anything.
    fn on_start(&mut self) -> Reply {
        Reply::default()
    }

    /// One line, without its ending. A longer line than the caller likes to hold may come
    /// in pieces; what a decoder cannot read it passes over.
    fn on_line(&mut self, stream: Stream, line: &[u8]) -> Reply;

    /// Whether it has said all that it is going to say. Who does not exit then is ended after
    /// a while, and counts as one that did.
    fn is_done(&self) -> bool {
        false
    }

    /// What is to be said before the program is ended from outside.
    fn on_cancel(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// The program has ended, and all of its output was seen.
    fn on_end(&mut self, ending: &Ending) -> Vec<AgentEvent>;
}

/// Whether a program without a protocol has come to its end by itself: then its end is the
/// terminal event.
pub(crate) fn terminal_of(ending: &Ending) -> Option<AgentEvent> {
    let code = ending
        .exit_code
        .filter(|_| !ending.timed_out && ending.signal.is_none())?;
    Some(AgentEvent::Terminal { ok: code == 0 })
}

/// Cuts a stream into lines, however it arrives. A line longer than anybody reads comes in
/// pieces.
#[derive(Debug, Default)]
pub struct Lines {
    held: Vec<u8>,
}

/// As long as a line may get before it is cut. The pieces are the same however it arrives.
const MAX_LINE: usize = 1024 * 1024;

impl Lines {
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

    /// The last line may have no ending.
    pub fn finish(&mut self, mut line: impl FnMut(&[u8])) {
        if !self.held.is_empty() {
            pieces(without_return(&self.held), &mut line);
            self.held.clear();
        }
    }
}

fn pieces(text: &[u8], line: &mut impl FnMut(&[u8])) {
    // An empty line is a line, too.
    match text.len() <= MAX_LINE {
        true => line(text),
        false => text.chunks(MAX_LINE).for_each(line),
    }
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
