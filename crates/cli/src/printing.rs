//! Passes on text of any length from others, as it arrives.

use std::io::{self, IsTerminal as _, Read, StdoutLock, Write as _};

use regreen_model::visible_line;
use regreen_redaction::{Filter, Masks};

use crate::problem::Problem;

/// A longer line is shown in pieces.
const MAX_LINE: usize = 32 * 1024;

/// Standard output for text from others: masked and without control sequences on a terminal,
/// verbatim elsewhere.
pub struct Printing {
    out: StdoutLock<'static>,
    shown: Option<(Filter, Visible)>,
    failed: Option<io::Error>,
}

impl Printing {
    pub fn new(masks: &Masks) -> Self {
        let out = io::stdout().lock();
        let shown = out.is_terminal();
        Self {
            out,
            shown: shown.then(|| (masks.filter(), Visible::default())),
            failed: None,
        }
    }

    /// Returns whether anyone is still reading.
    pub fn take(&mut self, bytes: &[u8]) -> bool {
        match &mut self.shown {
            None => self.failed = self.out.write_all(bytes).err(),
            Some((filter, visible)) => {
                let mut masked = Vec::new();
                filter.feed(bytes, &mut masked);
                let text = visible.feed(&masked);
                self.failed = self.out.write_all(text.as_bytes()).err();
            }
        }
        self.failed.is_none()
    }

    /// Passes on everything.
    pub fn take_all(&mut self, from: &mut impl Read) -> io::Result<()> {
        let mut chunk = vec![0; 64 * 1024];
        loop {
            match from.read(&mut chunk) {
                Ok(0) => return Ok(()),
                Ok(count) if self.take(chunk.get(..count).unwrap_or_default()) => {}
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// It is not an error if the reader is gone: it has what it wanted.
    pub fn finish(mut self) -> Result<(), Problem> {
        let mut failed = self.failed.take();
        if let (None, Some((mut filter, mut visible))) = (&failed, self.shown.take()) {
            let mut masked = Vec::new();
            filter.finish(&mut masked);
            let text = visible.feed(&masked) + &visible.finish();
            failed = self.out.write_all(text.as_bytes()).err();
        }
        match failed.or_else(|| self.out.flush().err()) {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Problem::Print(error)),
            _ => Ok(()),
        }
    }
}

/// Turns bytes that arrive in pieces into printable lines.
#[derive(Debug, Default)]
struct Visible {
    /// An incomplete line.
    line: Vec<u8>,
    /// The last line ended with a carriage return, which a line feed may follow.
    returned: bool,
}

impl Visible {
    fn feed(&mut self, bytes: &[u8]) -> String {
        let mut text = String::new();
        for byte in bytes {
            let is_second_half = std::mem::take(&mut self.returned) && *byte == b'\n';
            match byte {
                b'\n' if is_second_half => {}
                b'\n' | b'\r' => {
                    self.returned = *byte == b'\r';
                    self.end_line(&mut text);
                }
                byte => self.push(*byte, &mut text),
            }
        }
        text
    }

    fn finish(&mut self) -> String {
        let mut text = String::new();
        if !self.line.is_empty() {
            self.end_line(&mut text);
        }
        text
    }

    fn push(&mut self, byte: u8, text: &mut String) {
        // Not in the middle of a character.
        if self.line.len() >= MAX_LINE && (byte.is_ascii() || byte >= 0xC0) {
            self.end_line(text);
        }
        self.line.push(byte);
    }

    fn end_line(&mut self, text: &mut String) {
        text.push_str(&visible_line(
            &String::from_utf8_lossy(&self.line),
            usize::MAX,
        ));
        text.push('\n');
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(pieces: &[&[u8]]) -> String {
        let mut visible = Visible::default();
        let text: String = pieces.iter().map(|piece| visible.feed(piece)).collect();
        text + &visible.finish()
    }

    #[test]
    fn lines_stay_lines_and_nothing_overwrites_another() {
        assert_eq!(
            shown(&[b"a\r\nb\rc\n\n\x1b[2Jd\x07 \xff", b"\xc3", b"\xa4"]),
            "a\nb\nc\n\nd \u{fffd}ä\n"
        );
        assert_eq!(shown(&[b"a\r", b"\nb"]), "a\nb\n");
        assert_eq!(shown(&[]), "");
    }

    #[test]
    fn a_line_without_end_is_shown_in_pieces() {
        let long = "ä".repeat(MAX_LINE);
        let text = shown(&[long.as_bytes()]);
        assert_eq!(text.replace('\n', ""), long);
        assert!(text.lines().all(|line| line.len() <= MAX_LINE + 1));
    }

    proptest! {
        #[test]
        fn the_cuts_make_no_difference(bytes in any::<Vec<u8>>(), at in any::<prop::sample::Index>()) {
            let at = at.index(bytes.len() + 1);
            let (first, second) = bytes.split_at(at);
            prop_assert_eq!(shown(&[first, second]), shown(&[&bytes]));
        }

        #[test]
        fn nothing_commands_a_terminal(bytes in any::<Vec<u8>>()) {
            let text = shown(&[&bytes]);
            prop_assert!(!text.contains(|c: char| c.is_control() && c != '\n'));
        }
    }
}
