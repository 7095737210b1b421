/// A set of bytes, asked once per byte of a candidate.
#[derive(Debug)]
pub(crate) struct Class([bool; 256]);

pub(crate) const HEX: Class = Class::of(b"0-9a-f");
pub(crate) const UPPER: Class = Class::of(b"A-Z0-9");
pub(crate) const ALNUM: Class = Class::of(b"A-Za-z0-9");
pub(crate) const WORD: Class = Class::of(b"A-Za-z0-9_");
pub(crate) const BASE64: Class = Class::of(b"A-Za-z0-9+/=");
pub(crate) const BASE64_URL: Class = Class::of(b"A-Za-z0-9_-");
pub(crate) const DOTTED: Class = Class::of(b"A-Za-z0-9_.-");
/// What RFC 7235 lets a bearer token and basic credentials consist of.
pub(crate) const TOKEN68: Class = Class::of(b"A-Za-z0-9._~+/=-");
/// Slack writes some tokens with percent signs.
pub(crate) const SLACK: Class = Class::of(b"A-Za-z0-9%-");
pub(crate) const PATH: Class = Class::of(b"A-Za-z0-9_/-");
pub(crate) const SCHEME: Class = Class::of(b"A-Za-z");
/// Everything visible but what ends a URL's authority or the text around it. Bytes beyond
/// ASCII are in: a password may have an umlaut.
pub(crate) const URL_USER: Class = Class::of(b"!$%&(-.0-9;=A-Z^-_a-z{-~\x80-\xff");
pub(crate) const URL_PASSWORD: Class = Class::of(b"!$%&(-.0-9:;=@A-Z^-_a-z{-~\x80-\xff");
pub(crate) const KEY_HEADER: Class = Class::of(b"A-Z0-9 ");

impl Class {
    /// Reads `a-z0-9_`: single bytes and ranges; a dash at the end is a dash.
    const fn of(spec: &[u8]) -> Self {
        let mut set = [false; 256];
        let mut at = 0;
        while at < spec.len() {
            let first = spec[at] as usize;
            let is_range = at + 2 < spec.len() && spec[at + 1] == b'-';
            let last = if is_range {
                spec[at + 2] as usize
            } else {
                first
            };
            let mut byte = first;
            while byte <= last {
                set[byte] = true;
                byte += 1;
            }
            at += if is_range { 3 } else { 1 };
        }
        Self(set)
    }

    pub(crate) fn has(&self, byte: u8) -> bool {
        self.0[usize::from(byte)]
    }

    /// How many bytes at the beginning of `text` are in this class.
    pub(crate) fn run(&self, text: &[u8]) -> usize {
        text.iter()
            .position(|&byte| !self.has(byte))
            .unwrap_or(text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_single_bytes_and_a_last_dash_are_read() {
        assert!(b"azAZ09_-".iter().all(|&b| BASE64_URL.has(b)));
        assert!(b" .+/=\n\"".iter().all(|&b| !BASE64_URL.has(b)));
    }

    #[test]
    fn no_class_has_what_ends_a_line_or_a_json_string() {
        let all = [
            &HEX,
            &UPPER,
            &ALNUM,
            &WORD,
            &BASE64,
            &BASE64_URL,
            &DOTTED,
            &TOKEN68,
            &SLACK,
            &PATH,
            &SCHEME,
            &URL_USER,
            &URL_PASSWORD,
            &KEY_HEADER,
        ];
        for class in all {
            assert!(b"\n\r\"\\\x1b".iter().all(|&b| !class.has(b)), "{class:?}");
        }
    }

    #[test]
    fn a_run_ends_at_the_first_other_byte() {
        assert_eq!(HEX.run(b"c0ffeeg1"), 6);
        assert_eq!(HEX.run(b""), 0);
        assert_eq!(HEX.run(b"abc"), 3);
    }
}
