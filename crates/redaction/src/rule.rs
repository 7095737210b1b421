//! The parts of a rule: how to detect a secret, and the bytes it consists of.

/// One kind of secret: how to detect it, and which part of it to hide.
#[derive(Debug)]
pub(crate) struct Rule {
    /// The text of the mask: `***name***`.
    pub(crate) name: &'static str,
    /// Texts, at least one of which occurs in every such secret. No other part of a log is examined
    /// closely.
    pub(crate) anchors: &'static [&'static str],
    pub(crate) before: Before,
    pub(crate) shape: Shape,
    /// Examples to mask: exactly the part between `«` and `»`. `{alnum:36}` stands for that many
    /// made-up characters, so that no scanner takes this table for a leak.
    #[cfg_attr(not(test), expect(dead_code, reason = "the examples are the tests"))]
    pub(crate) masks: &'static [&'static str],
    /// Similar examples that must stay.
    #[cfg_attr(not(test), expect(dead_code, reason = "the examples are the tests"))]
    pub(crate) keeps: &'static [&'static str],
}

/// The text that may precede an anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// Anything, because the anchor is distinctive enough.
    Anything,
    /// The anchor could be the end of a word (`risk-`) or a piece of base64. After a word, only
    /// random-looking text is a secret.
    NoWord,
}

/// The position of the secret relative to its anchor.
#[derive(Debug)]
pub(crate) enum Shape {
    /// The secret starts with the anchor.
    Token(Body),
    /// The secret follows the anchor directly.
    After(Body),
    /// The anchor is a name; the secret is its value.
    Assigned(Body),
    /// A header name, then a scheme and credentials.
    Authorization,
    /// `header.payload.signature`.
    Jwt,
    /// The end of a URL scheme, then `user:password@`.
    UrlPassword,
    /// The beginning of a private key in PEM format.
    KeyBlock,
    /// The anchor is a name; the secret is its value, if that looks like a value of at least `min`
    /// bytes rather than code or prose.
    Named { min: usize },
    /// A header name, then cookies.
    Cookie,
    /// The anchor is between the number of a bot and its secret.
    BotToken,
}

impl Rule {
    /// Returns whether only a name reveals the secret, not its own form.
    pub(crate) fn is_general(&self) -> bool {
        matches!(self.shape, Shape::Named { .. })
    }
}

/// The bytes of a secret.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) class: &'static Class,
    pub(crate) min: usize,
    /// `None` if it has no limit. With a maximum, a longer word isn't a secret.
    pub(crate) max: Option<usize>,
    pub(crate) needs: Needs,
}

/// The property that distinguishes a secret from a word. Only the first `min` bytes count, so that
/// the length of the secret doesn't matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    /// A digit, or both upper and lower case.
    Mix,
    Digit,
}

impl Body {
    pub(crate) const fn open(class: &'static Class, min: usize) -> Self {
        Self {
            class,
            min,
            max: None,
            needs: Needs::Nothing,
        }
    }

    pub(crate) const fn exact(class: &'static Class, len: usize) -> Self {
        Self {
            class,
            min: len,
            max: Some(len),
            needs: Needs::Nothing,
        }
    }

    pub(crate) const fn needing(mut self, needs: Needs) -> Self {
        self.needs = needs;
        self
    }
}

impl Needs {
    pub(crate) fn are_met_by(self, text: &[u8]) -> bool {
        let digit = text.iter().any(u8::is_ascii_digit);
        match self {
            Self::Nothing => true,
            Self::Digit => digit,
            Self::Mix => {
                digit
                    || text.iter().any(u8::is_ascii_uppercase)
                        && text.iter().any(u8::is_ascii_lowercase)
            }
        }
    }
}

/// A set of bytes.
#[derive(Debug)]
pub(crate) struct Class([bool; 256]);

pub(crate) const HEX: Class = Class::of(b"0-9a-f");
pub(crate) const UPPER: Class = Class::of(b"A-Z0-9");
pub(crate) const ALNUM: Class = Class::of(b"A-Za-z0-9");
pub(crate) const WORD: Class = Class::of(b"A-Za-z0-9_");
pub(crate) const BASE64: Class = Class::of(b"A-Za-z0-9+/=");
pub(crate) const BASE64_URL: Class = Class::of(b"A-Za-z0-9_-");
pub(crate) const DOTTED: Class = Class::of(b"A-Za-z0-9_.-");
/// The characters of bearer tokens and basic credentials, by RFC 7235.
pub(crate) const TOKEN68: Class = Class::of(b"A-Za-z0-9._~+/=-");
/// Some of Slack's tokens contain percent signs.
pub(crate) const SLACK: Class = Class::of(b"A-Za-z0-9%-");
pub(crate) const PATH: Class = Class::of(b"A-Za-z0-9_/-");
pub(crate) const SCHEME: Class = Class::of(b"A-Za-z");
/// Everything visible except what ends a URL's authority or the text around it. Bytes beyond ASCII
/// are included: a password may have an umlaut.
pub(crate) const URL_USER: Class = Class::of(b"!$%&(-.0-9;=A-Z^-_a-z{-~\x80-\xff");
pub(crate) const URL_PASSWORD: Class = Class::of(b"!$%&(-.0-9:;=@A-Z^-_a-z{-~\x80-\xff");
/// The characters of a quoted value: everything visible except quotes and backslashes.
pub(crate) const QUOTED: Class = Class::of(b"!#-&(-[]-_a-~\x80-\xff");
/// The characters of an unquoted value: additionally, nothing that separates values or is code.
pub(crate) const BARE: Class = Class::of(b"!#-%*+./0-:=?@A-Z^-_a-z~\x80-\xff-");
pub(crate) const COOKIE: Class = Class::of(b"!#-&(-+./0-:=-[]-_a-~-");
/// Several cookies with their separators.
pub(crate) const COOKIES: Class = Class::of(b" !#-&(-+./0-[]-_a-~-");
pub(crate) const COOKIE_NAME: Class = Class::of(b"A-Za-z0-9_.-");
pub(crate) const KEY_HEADER: Class = Class::of(b"A-Z0-9 ");

impl Class {
    /// Parses `a-z0-9_`: single bytes and ranges; a dash at the end is literal.
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

    /// Returns how many bytes at the start of `text` are in this class.
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
    fn a_class_is_parsed_from_ranges_single_bytes_and_a_last_dash() {
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
            &QUOTED,
            &BARE,
            &COOKIE,
            &COOKIES,
            &COOKIE_NAME,
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
