use crate::rule::{BASE64, Class};

/// Whether a secret starts at an anchor.
#[derive(Debug)]
pub(crate) enum MatchOutcome {
    No,
    /// More of the stream is needed.
    Undecided,
    Mask(Span),
}

/// A range of text to mask.
#[derive(Debug)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Set while it extends to the end of what has arrived, and may continue.
    pub(crate) growth: Option<Growth>,
}

/// How a known secret continues, so that it can be dropped as it arrives.
#[derive(Debug)]
pub(crate) enum Growth {
    While(&'static Class),
    KeyBlock(KeyBlock),
}

impl Growth {
    /// Returns how many of `bytes` belong to it, and whether it has ended.
    pub(crate) fn grow(&mut self, bytes: &[u8]) -> (usize, bool) {
        match self {
            Self::While(class) => {
                let len = class.run(bytes);
                (len, len < bytes.len())
            }
            Self::KeyBlock(block) => block.follow(bytes),
        }
    }
}

impl Span {
    /// Extends it by what has arrived since.
    pub(crate) fn grow(&mut self, text: &[u8]) {
        if let Some(growth) = &mut self.growth {
            let (len, over) = growth.grow(&text[self.end..]);
            self.end += len;
            if over {
                self.growth = None;
            }
        }
    }
}

/// The maximum length of a key block: an RSA key of 16,384 bits has 13 KB.
const MAX_BLOCK: usize = 64 * 1024;
/// This many base64 characters in a row are key material.
const MATERIAL: usize = 32;
/// A block without an end stops after this many lines in a row without key material. Headers
/// (`Proc-Type`, `DEK-Info`) and a short last line are fewer.
const MAX_OTHER_LINES: u8 = 4;
const DASHES: u8 = 5;

/// Follows a private key byte by byte, from the end of its first line to its end.
///
/// Lines may end with real line breaks or, inside strings, with escaped ones, and may have a prefix
/// (`+` in a diff, a line number): only key material in them counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyBlock {
    /// Whether this is a line of JSON. Then the block ends with the string that contains it, so
    /// that the line stays JSON.
    in_json: bool,
    seen: usize,
    escaped: bool,
    line_len: usize,
    material_run: usize,
    has_material: bool,
    other_lines: u8,
    ending: EndMarker,
}

/// How much of `-----END …-----` has been seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndMarker {
    Dashes(u8),
    Word(u8),
    Name,
    LastDashes(u8),
}

enum Advance {
    Continue,
    /// The block ends before this byte.
    Before,
    /// This byte is its last.
    After,
}

impl KeyBlock {
    pub(crate) fn new(in_json: bool) -> Self {
        Self {
            in_json,
            seen: 0,
            escaped: false,
            line_len: 0,
            material_run: 0,
            has_material: false,
            other_lines: 0,
            ending: EndMarker::Dashes(0),
        }
    }

    /// Returns how many of `bytes` belong to the block, and whether it has ended.
    pub(crate) fn follow(&mut self, bytes: &[u8]) -> (usize, bool) {
        for (at, &byte) in bytes.iter().enumerate() {
            match self.step(byte) {
                Advance::Continue => {}
                Advance::Before => return (at, true),
                Advance::After => return (at + 1, true),
            }
        }
        (bytes.len(), false)
    }

    fn step(&mut self, byte: u8) -> Advance {
        self.seen += 1;
        if self.seen > MAX_BLOCK || self.leaves_json(byte) {
            return Advance::Before;
        }
        if self.escaped {
            self.escaped = false;
            return Advance::Continue;
        }
        if matches!(byte, b'\n' | b'\r' | b'\\') {
            return self.end_line(byte);
        }
        self.count(byte);
        if self.is_end_marker(byte) {
            return Advance::After;
        }
        Advance::Continue
    }

    fn leaves_json(&self, byte: u8) -> bool {
        self.in_json && (byte == b'\n' || byte == b'"' && !self.escaped)
    }

    fn end_line(&mut self, byte: u8) -> Advance {
        let was_empty = self.line_len == 0;
        let named = matches!(self.ending, EndMarker::Name | EndMarker::LastDashes(_));
        if named || !was_empty && self.is_over() {
            return Advance::Before;
        }
        self.escaped = byte == b'\\';
        self.line_len = 0;
        self.material_run = 0;
        self.has_material = false;
        self.ending = EndMarker::Dashes(0);
        Advance::Continue
    }

    fn is_over(&mut self) -> bool {
        self.other_lines = if self.has_material {
            0
        } else {
            self.other_lines + 1
        };
        self.other_lines >= MAX_OTHER_LINES
    }

    fn count(&mut self, byte: u8) {
        self.line_len += 1;
        self.material_run = if BASE64.has(byte) {
            self.material_run + 1
        } else {
            0
        };
        self.has_material |= self.material_run >= MATERIAL;
    }

    fn is_end_marker(&mut self, byte: u8) -> bool {
        let dash = byte == b'-';
        self.ending = match self.ending {
            EndMarker::Dashes(n) if dash => EndMarker::Dashes((n + 1).min(DASHES)),
            EndMarker::Dashes(DASHES) if byte == b'E' => EndMarker::Word(1),
            EndMarker::Word(1) if byte == b'N' => EndMarker::Word(2),
            EndMarker::Word(2) if byte == b'D' => EndMarker::Name,
            EndMarker::Dashes(_) | EndMarker::Word(_) => EndMarker::Dashes(u8::from(dash)),
            EndMarker::Name if dash => EndMarker::LastDashes(1),
            EndMarker::LastDashes(n) if dash => EndMarker::LastDashes(n + 1),
            EndMarker::Name | EndMarker::LastDashes(_) => EndMarker::Name,
        };
        self.ending == EndMarker::LastDashes(DASHES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn followed(in_json: bool, text: &str) -> &str {
        let (len, _) = KeyBlock::new(in_json).follow(text.as_bytes());
        &text[..len]
    }

    #[test]
    fn a_block_ends_with_its_last_dashes() {
        let text = "\nAAAA\n-----END PRIVATE KEY-----";
        assert_eq!(followed(false, &format!("{text} and more")), text);
    }

    #[test]
    fn an_unfinished_block_ends_after_four_lines_without_key_material() {
        let key = "\nHeader: x\n\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        let text = format!("{key}\none line\ntwo lines\nthree lines\nfour lines");
        assert_eq!(followed(false, &format!("{text}\nfive\n")), text);
    }

    #[test]
    fn an_unfinished_block_in_json_ends_with_its_string() {
        assert_eq!(followed(true, r#"\nAA\"BB","next":1}"#), r#"\nAA\"BB"#);
    }

    #[test]
    fn an_endless_block_is_bounded() {
        let text = "A".repeat(MAX_BLOCK + 100);
        assert_eq!(followed(false, &text).len(), MAX_BLOCK);
    }
}
