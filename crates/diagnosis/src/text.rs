//! Strips colours and other terminal sequences from a stream of bytes.

use memchr::memchr;
use regreen_model::is_format_control;

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;

/// The position within a sequence. A line ending always ends a sequence, so that an unfinished one
/// doesn't swallow the rest of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    Escape,
    /// `ESC [ …`, up to a letter.
    Control,
    /// `ESC ] …`, up to BEL or `ESC \`.
    Command,
}

/// Strips terminal sequences from a stream of chunks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stripper {
    state: State,
}

impl Stripper {
    /// Appends the text in `chunk` to `out`.
    pub(crate) fn strip(&mut self, mut chunk: &[u8], out: &mut Vec<u8>) {
        while !chunk.is_empty() {
            if self.state == State::Text {
                let end = memchr(ESC, chunk).unwrap_or(chunk.len());
                out.extend_from_slice(&chunk[..end]);
                chunk = &chunk[end..];
            }
            let Some((&byte, rest)) = chunk.split_first() else {
                return;
            };
            self.state = self.next(byte);
            if byte == b'\n' {
                out.push(byte);
            }
            chunk = rest;
        }
    }

    fn next(self, byte: u8) -> State {
        match (self.state, byte) {
            (_, b'\n') => State::Text,
            (_, ESC) => State::Escape,
            (State::Escape, b'[') => State::Control,
            (State::Escape, b']' | b'P' | b'_' | b'^') => State::Command,
            // Character set sequences have one more byte, which isn't a letter.
            (State::Escape, b'(' | b')' | b'*' | b'+' | b'#' | b' ') => State::Escape,
            (State::Control, 0x20..=0x3f) => State::Control,
            (State::Command, byte) if byte != BEL => State::Command,
            _ => State::Text,
        }
    }
}

/// Strips a complete text.
pub(crate) fn strip(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    Stripper::default().strip(text.as_bytes(), &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// Longer texts are cut.
const MAX_CHARS: usize = 2000;

/// Puts untrusted text on one line: nothing in it can start another line or change how its
/// neighbours are read.
pub(crate) fn one_line(text: &str) -> String {
    let start = &text[..text.floor_char_boundary(MAX_CHARS * 8)];
    let plain = strip(start);
    let mut line = String::new();
    let mut length = 0;
    for c in plain.chars() {
        let c = if c.is_whitespace() { ' ' } else { c };
        let is_hidden = c.is_control() || is_format_control(c) || (c == ' ' && line.ends_with(' '));
        if is_hidden || length >= MAX_CHARS {
            continue;
        }
        line.push(c);
        length += 1;
    }
    line.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn colours_links_and_titles_are_removed_and_the_text_stays() {
        assert_eq!(
            strip("\u{1b}[1m\u{1b}[91merror[E0308]\u{1b}[0m: x"),
            "error[E0308]: x"
        );
        assert_eq!(
            strip("a\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{1b}\\b"),
            "alinkb"
        );
        assert_eq!(strip("\u{1b}(Bplain\u{1b}[2K\r"), "plain\r");
        assert_eq!(strip("[0m is no sequence"), "[0m is no sequence");
    }

    #[test]
    fn a_sequence_that_never_ends_hides_no_further_line() {
        assert_eq!(strip("\u{1b}]0;title\nerror: real\n"), "\nerror: real\n");
        assert_eq!(strip("x\u{1b}["), "x");
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0_usize..200) {
            let cut = cut.min(bytes.len());
            let mut whole = Vec::new();
            Stripper::default().strip(&bytes, &mut whole);
            let mut parts = Vec::new();
            let mut stripper = Stripper::default();
            stripper.strip(&bytes[..cut], &mut parts);
            stripper.strip(&bytes[cut..], &mut parts);
            prop_assert_eq!(whole, parts);
        }
    }

    #[test]
    fn breaks_colours_and_reversals_are_removed() {
        assert_eq!(
            one_line(" a\r\nb\u{2028}c\t\u{1b}[31md\u{202e}\0 "),
            "a b c d"
        );
    }

    proptest! {
        #[test]
        fn one_line_is_idempotent(text in any::<String>()) {
            let line = one_line(&text);
            prop_assert!(!line.contains(char::is_control));
            prop_assert_eq!(one_line(&line), line);
        }
    }
}
