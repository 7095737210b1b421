//! Sets colour codes aside, so that a secret is found even if it changes colour in the middle.

use memchr::memchr;
use memchr::memmem;

const ESCAPE: u8 = 0x1b;
/// The escape character in JSON, up to the digit whose case may vary.
const IN_JSON: &[u8] = b"\\u001";
const MAX_PARAMETERS: usize = 20;
const MAX_LEN: usize = IN_JSON.len() + 2 + MAX_PARAMETERS + 1;
/// More codes than this at one position count as text, because the held-back part must be bounded.
const MAX_AT_ONE_POSITION: usize = 8;
/// How many backslashes are counted to tell whether the last one is escaped.
const MAX_BACKSLASHES: usize = 24;

/// A colour code in the stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code {
    /// The position in the text before which it comes.
    pub(crate) at: usize,
    bytes: [u8; MAX_LEN],
    len: usize,
}

impl Code {
    fn new(at: usize, code: &[u8]) -> Self {
        let mut bytes = [0; MAX_LEN];
        bytes[..code.len()].copy_from_slice(code);
        let len = code.len();
        Self { at, bytes, len }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// Returns whether the text changes colour at a position.
pub(crate) fn has_code_at(codes: &[Code], at: usize) -> bool {
    codes.binary_search_by_key(&at, |code| code.at).is_ok()
}

/// Appends `bytes` to the text and its colour codes to `codes`. Returns the end of `bytes` if it
/// may be the beginning of a code.
pub(crate) fn set_colours_aside(
    bytes: &[u8],
    text: &mut Vec<u8>,
    codes: &mut Vec<Code>,
) -> Vec<u8> {
    let mut from = 0;
    let mut beginnings = Beginnings::default();
    while let Some(at) = beginnings.first_in(bytes, from) {
        text.extend_from_slice(&bytes[from..at]);
        from = at;
        match code_len(&bytes[at..]) {
            CodeLen::Cut if !is_escaped(text) => return bytes[at..].to_vec(),
            CodeLen::Known(len) if !is_escaped(text) && has_room(codes, text.len()) => {
                codes.push(Code::new(text.len(), &bytes[at..at + len]));
                from += len;
            }
            _ => {
                text.push(bytes[at]);
                from += 1;
            }
        }
    }
    text.extend_from_slice(&bytes[from..]);
    Vec::new()
}

fn has_room(codes: &[Code], at: usize) -> bool {
    let here = codes.iter().rev().take_while(|code| code.at == at);
    here.count() < MAX_AT_ONE_POSITION
}

/// Returns whether a backslash after `text` would be escaped by the one at its end.
fn is_escaped(text: &[u8]) -> bool {
    let near = text.iter().rev().take(MAX_BACKSLASHES);
    near.take_while(|&&byte| byte == b'\\').count() % 2 == 1
}

/// The next escape characters, raw and in JSON, so that each is searched for only once.
#[derive(Default)]
struct Beginnings {
    raw: Option<Option<usize>>,
    in_json: Option<Option<usize>>,
}

impl Beginnings {
    fn first_in(&mut self, bytes: &[u8], from: usize) -> Option<usize> {
        let rest = &bytes[from..];
        let is_passed = |found: Option<Option<usize>>| match found {
            None => true,
            Some(at) => at.is_some_and(|at| at < from),
        };
        if is_passed(self.raw) {
            self.raw = Some(memchr(ESCAPE, rest).map(|at| from + at));
        }
        if is_passed(self.in_json) {
            let whole = memmem::find(rest, IN_JSON).or_else(|| cut_at_end(rest));
            self.in_json = Some(whole.map(|at| from + at));
        }
        match (self.raw.flatten(), self.in_json.flatten()) {
            (Some(raw), Some(in_json)) => Some(raw.min(in_json)),
            (raw, in_json) => raw.or(in_json),
        }
    }
}

/// Returns where the last bytes may start an escape character in JSON.
fn cut_at_end(bytes: &[u8]) -> Option<usize> {
    let first = bytes.len().saturating_sub(IN_JSON.len() - 1);
    (first..bytes.len()).find(|&at| IN_JSON.starts_with(&bytes[at..]))
}

enum CodeLen {
    No,
    /// More of the stream is needed.
    Cut,
    Known(usize),
}

/// Returns the length of the code that `bytes` starts with: `ESC [ 1 ; 3 1 m`, or `ESC [ K`, which
/// grep adds to every colour.
fn code_len(bytes: &[u8]) -> CodeLen {
    let Some(escape) = escape_len(bytes) else {
        return CodeLen::No;
    };
    let Some(rest) = bytes.get(escape..) else {
        return CodeLen::Cut;
    };
    let parameters = match rest {
        [] => return CodeLen::Cut,
        [b'[', parameters @ ..] => parameters,
        _ => return CodeLen::No,
    };
    let is_parameter = |byte: &&u8| byte.is_ascii_digit() || matches!(byte, b';' | b':');
    let len = parameters.iter().take_while(is_parameter).count();
    match parameters.get(len) {
        _ if len > MAX_PARAMETERS => CodeLen::No,
        Some(b'm' | b'K') => CodeLen::Known(escape + 1 + len + 1),
        Some(_) => CodeLen::No,
        None => CodeLen::Cut,
    }
}

/// Returns the length of an escape character, which may extend beyond the end of `bytes`.
fn escape_len(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [ESCAPE, ..] => Some(1),
        [b'\\', ..] => {
            let (known, last) = bytes.split_at(bytes.len().min(IN_JSON.len()));
            let is_it = IN_JSON.starts_with(known) && matches!(last, [] | [b'b' | b'B', ..]);
            is_it.then_some(IN_JSON.len() + 1)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(pieces: &[&str]) -> (String, Vec<(usize, String)>) {
        let (mut text, mut codes, mut cut) = (Vec::new(), Vec::new(), Vec::new());
        for piece in pieces {
            cut.extend_from_slice(piece.as_bytes());
            cut = set_colours_aside(&cut, &mut text, &mut codes);
        }
        text.append(&mut cut);
        let codes = codes
            .iter()
            .map(|code| (code.at, String::from_utf8(code.bytes().to_vec()).unwrap()))
            .collect();
        (String::from_utf8(text).unwrap(), codes)
    }

    fn check(pieces: &[&str], text: &str, codes: &[(usize, &str)]) {
        let (found, found_codes) = apart(pieces);
        let found_codes: Vec<(usize, &str)> = found_codes
            .iter()
            .map(|(at, code)| (*at, code.as_str()))
            .collect();
        assert_eq!(
            (found.as_str(), found_codes.as_slice()),
            (text, codes),
            "{pieces:?}"
        );
    }

    #[test]
    fn codes_are_set_aside_with_their_positions() {
        check(
            &["a\u{1b}[31mb\u{1b}[0m\u{1b}[Kc"],
            "abc",
            &[(1, "\u{1b}[31m"), (2, "\u{1b}[0m"), (2, "\u{1b}[K")],
        );
        check(&[r"a\u001b[1;31mb"], "ab", &[(1, r"\u001b[1;31m")]);
        check(&[r"a\u001B[mb"], "ab", &[(1, r"\u001B[m")]);
    }

    #[test]
    fn a_code_may_be_cut_anywhere() {
        for code in ["\u{1b}[38;5;196m", r"\u001b[31m"] {
            let text = format!("ab{code}cd");
            for cut in 0..=text.len() {
                let (first, last) = text.split_at(cut);
                check(&[first, last], "abcd", &[(2, code)]);
            }
        }
    }

    #[test]
    fn other_escapes_are_text() {
        for text in [
            "\u{1b}[2J",
            "\u{1b}]0;title\u{7}",
            "\u{1b}",
            r"\u001",
            r"\u001c[1m",
            r"\\u001b[31m",
            "\u{1b}[111111111111111111111111111111m",
        ] {
            check(&[text], text, &[]);
        }
    }

    #[test]
    fn endless_codes_at_one_position_are_text_in_the_end() {
        let (text, codes) = apart(&["x", &"\u{1b}[1m".repeat(MAX_AT_ONE_POSITION + 1)]);
        assert_eq!(text, "x\u{1b}[1m");
        assert_eq!(codes.len(), MAX_AT_ONE_POSITION);
    }
}
