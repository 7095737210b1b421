//! Decides whether the text after an anchor is a secret.
//!
//! Every shape except the key block is decided by a line break at the latest, so that a line-based
//! protocol never waits for a byte that is held back.

use crate::colours::{Code, has_code_at};
use crate::rule::{
    BASE64_URL, Before, Body, Class, DOTTED, KEY_HEADER, Needs, Rule, SCHEME, Shape, TOKEN68,
    URL_PASSWORD, URL_USER, WORD,
};
use crate::span::{Growth, KeyBlock, MatchOutcome, Span};

/// How far back a match looks.
pub(crate) const LOOK_BEHIND: usize = 24;

pub(crate) const MAX_SPACES: usize = 8;
const MAX_ESCAPES: usize = 4;
const MAX_USER: usize = 256;
const MIN_URL_TOKEN: usize = 16;
const MAX_PASSWORD: usize = 4096;
const MIN_JWT_PART: usize = 10;
const MAX_JWT_HEAD: usize = 8192;
const MAX_KEY_NAME: usize = 48;
const MAX_SCHEME: usize = 16;

const SCHEMES: [&str; 5] = ["bearer", "basic", "token", "apikey", "key"];
const CREDENTIALS: Body = Body::open(&TOKEN68, 8);
const BARE_CREDENTIALS: Body = Body::open(&TOKEN68, 16).needing(Needs::Digit);

/// The text around an anchor, as far as it has arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) text: &'a [u8],
    /// The positions at which the text changes colour.
    pub(crate) codes: &'a [Code],
    pub(crate) anchor: usize,
    pub(crate) after_anchor: usize,
    /// Whether no more will arrive.
    pub(crate) complete: bool,
    /// Whether the line starts like JSON.
    pub(crate) in_json: bool,
}

/// A position after the anchor, or the outcome if there is none.
pub(crate) type Position = Result<usize, MatchOutcome>;

pub(crate) fn match_rule(rule: &Rule, candidate: Candidate<'_>) -> MatchOutcome {
    let found = match &rule.shape {
        Shape::Token(body) => candidate.body(body, candidate.after_anchor, candidate.token_start()),
        Shape::After(body) => candidate.body(body, candidate.after_anchor, candidate.after_anchor),
        Shape::Assigned(body) => candidate
            .skip_assignment()
            .and_then(|at| candidate.body(body, at, at)),
        Shape::Authorization => candidate.authorization(),
        Shape::Jwt => candidate.jwt(),
        Shape::UrlPassword => candidate.url_password(),
        Shape::KeyBlock => candidate.key_block(),
        Shape::Named { min } => candidate.named_value(*min),
        Shape::Cookie => candidate.cookie(),
        Shape::BotToken => candidate.bot_token(),
    };
    let is_doubtful = rule.before == Before::NoWord && candidate.is_inside_word();
    if is_doubtful && found.is_ok() && !candidate.is_random(&rule.shape) {
        return MatchOutcome::No;
    }
    found.map_or_else(|outcome| outcome, MatchOutcome::Mask)
}

/// Masks a literal secret value.
pub(crate) fn literal(candidate: Candidate<'_>) -> MatchOutcome {
    MatchOutcome::Mask(Span {
        start: candidate.token_start(),
        end: candidate.after_anchor,
        growth: None,
    })
}

impl Candidate<'_> {
    fn is_inside_word(self) -> bool {
        let before = &self.text[..self.anchor];
        before.last().is_some_and(|&byte| WORD.has(byte))
            && !has_code_at(self.codes, self.anchor)
            && !ends_in_escape(before)
    }

    /// Returns whether the text after an anchor is a secret even if the anchor is the end of a
    /// word.
    fn is_random(self, shape: &Shape) -> bool {
        let part = |len: usize| &self.text[self.after_anchor..][..len];
        match shape {
            Shape::Token(body) | Shape::After(body) => {
                let has = |is: fn(&u8) -> bool| part(body.min).iter().any(is);
                let follows_capital = self.text[self.anchor - 1].is_ascii_uppercase();
                let is_upper = has(u8::is_ascii_uppercase);
                let has_two_cases = is_upper && has(u8::is_ascii_lowercase);
                has(u8::is_ascii_digit) && (has_two_cases || is_upper && !follows_capital)
            }
            // The payload is JSON as well.
            Shape::Jwt => {
                let head = BASE64_URL.run(&self.text[self.after_anchor..]);
                self.text[self.after_anchor + head..].starts_with(b".eyJ")
            }
            _ => false,
        }
    }

    /// Returns where a mask that includes the anchor starts. A backslash before it makes `\npm_…` a
    /// line break in JSON: its letter must stay, or the line is no longer JSON.
    fn token_start(self) -> usize {
        let backslashes = self.text[..self.anchor]
            .iter()
            .rev()
            .take(LOOK_BEHIND)
            .take_while(|&&byte| byte == b'\\')
            .count();
        let may_be_escape = b"\"\\/bfnrtu".contains(&self.text[self.anchor]);
        self.anchor + usize::from(backslashes % 2 == 1 && may_be_escape)
    }

    /// Returns the span of a body that starts at `from`, masked from `start` on.
    pub(crate) fn body(self, body: &Body, from: usize, start: usize) -> Result<Span, MatchOutcome> {
        let cap = body.max.map_or(usize::MAX, |max| max + 1);
        let end = from + self.run(body.class, from, cap);
        if end - from < body.min {
            return Err(self.undecided_at(end));
        }
        if !body.needs.are_met_by(&self.text[from..from + body.min]) {
            return Err(MatchOutcome::No);
        }
        let ends_here = self.ends_at(end);
        if let Some(max) = body.max {
            let end = end.min(from + max);
            let goes_on = self.text.get(end).is_some_and(|&b| WORD.has(b));
            if has_code_at(self.codes, end) {
                let growth = None;
                return Ok(Span { start, end, growth });
            }
            if goes_on {
                return Err(MatchOutcome::No);
            }
            if ends_here {
                return Err(MatchOutcome::Undecided);
            }
        }
        Ok(Span {
            start,
            end,
            growth: ends_here.then_some(Growth::While(body.class)),
        })
    }

    fn authorization(self) -> Result<Span, MatchOutcome> {
        let value = self.skip_assignment()?;
        let word = value + self.run(&SCHEME, value, MAX_SCHEME);
        if self.ends_at(word) {
            return Err(MatchOutcome::Undecided);
        }
        let credentials = self.skip(word, |b| b == b' ', MAX_SPACES)?;
        let is_scheme = credentials > word
            && SCHEMES
                .iter()
                .any(|scheme| self.text[value..word].eq_ignore_ascii_case(scheme.as_bytes()));
        if is_scheme {
            self.body(&CREDENTIALS, credentials, credentials)
        } else {
            self.body(&BARE_CREDENTIALS, value, value)
        }
    }

    fn jwt(self) -> Result<Span, MatchOutcome> {
        let dot = self.after_anchor + self.run(&BASE64_URL, self.after_anchor, MAX_JWT_HEAD);
        if dot - self.after_anchor < MIN_JWT_PART || self.text.get(dot) != Some(&b'.') {
            return Err(self.undecided_at(dot));
        }
        let rest = Body::open(&DOTTED, MIN_JWT_PART);
        self.body(&rest, dot + 1, self.token_start())
    }

    fn url_password(self) -> Result<Span, MatchOutcome> {
        let user = self.run(&URL_USER, self.after_anchor, MAX_USER);
        let colon = self.after_anchor + user;
        let name = &self.text[self.after_anchor..colon];
        match self.text.get(colon) {
            Some(b':') => {}
            Some(b'@') if is_url_token(name) => {
                return Ok(Span {
                    start: self.after_anchor,
                    end: colon,
                    growth: None,
                });
            }
            _ => return Err(self.undecided_at(colon)),
        }
        let start = colon + 1;
        let authority_end = start + self.run(&URL_PASSWORD, start, MAX_PASSWORD);
        if self.ends_at(authority_end) && authority_end - start < MAX_PASSWORD {
            return Err(MatchOutcome::Undecided);
        }
        let authority = &self.text[start..authority_end];
        let password = authority.iter().rposition(|&byte| byte == b'@');
        match password.map(|len| &authority[..len]) {
            // A token may be given as the user, with any password or none.
            Some(password) if is_url_token(name) => Ok(Span {
                start: self.after_anchor,
                end: start + password.len(),
                growth: None,
            }),
            // A single letter is an example, not a secret.
            Some(password) if password.len() > 1 && !is_placeholder(password) => Ok(Span {
                start,
                end: start + password.len(),
                growth: None,
            }),
            _ => Err(MatchOutcome::No),
        }
    }

    fn key_block(self) -> Result<Span, MatchOutcome> {
        let name_end = self.after_anchor + self.run(&KEY_HEADER, self.after_anchor, MAX_KEY_NAME);
        let end = self.skip(name_end, |b| b == b'-', 5)?;
        let name = &self.text[self.after_anchor..name_end];
        let is_private = name.ends_with(b"PRIVATE KEY") || name.ends_with(b"PRIVATE KEY BLOCK");
        if !is_private || end - name_end < 5 {
            return Err(self.undecided_at(end));
        }
        let after_escapes = self.skip(end, |b| b == b'\\', MAX_ESCAPES)?;
        // Code that only mentions the line closes its string right away.
        let is_mention = self
            .text
            .get(after_escapes)
            .is_some_and(|b| b"\"'`".contains(b));
        if is_mention {
            return Err(MatchOutcome::No);
        }
        let mut span = Span {
            start: self.anchor,
            end,
            growth: Some(Growth::KeyBlock(KeyBlock::new(self.in_json))),
        };
        span.grow(self.text);
        Ok(span)
    }

    /// Skips from a name to its value: `=`, `: "`, `\": \"`, ` => '`, or blanks.
    fn skip_assignment(self) -> Position {
        let quoted = self.skip_quote(self.after_anchor)?;
        let spaced = self.skip(quoted, is_blank, MAX_SPACES)?;
        let sign = self.skip(spaced, |b| matches!(b, b'=' | b':' | b'>'), 2)?;
        let spaced = self.skip(sign, is_blank, MAX_SPACES)?;
        if spaced == quoted {
            return Err(MatchOutcome::No);
        }
        self.skip_quote(spaced)
    }

    pub(crate) fn skip_quote(self, from: usize) -> Position {
        let escapes = self.skip(from, |b| b == b'\\', MAX_ESCAPES)?;
        let quote = self.skip(escapes, |b| matches!(b, b'"' | b'\''), 1)?;
        Ok(if quote > escapes { quote } else { from })
    }

    /// Returns the first position from `from` on whose byte isn't skipped; it must have arrived.
    pub(crate) fn skip(self, from: usize, is_skipped: impl Fn(u8) -> bool, max: usize) -> Position {
        let rest = &self.text[from..];
        let len = rest
            .iter()
            .take(max)
            .take_while(|&&byte| is_skipped(byte))
            .count();
        if self.ends_at(from + len) {
            return Err(MatchOutcome::Undecided);
        }
        Ok(from + len)
    }

    pub(crate) fn run(self, class: &Class, from: usize, max: usize) -> usize {
        let rest = &self.text[from..];
        class.run(&rest[..rest.len().min(max)])
    }

    pub(crate) fn ends_at(self, at: usize) -> bool {
        at == self.text.len() && !self.complete
    }

    /// Returns no match, unless the rest may still arrive.
    pub(crate) fn undecided_at(self, at: usize) -> MatchOutcome {
        if self.ends_at(at) {
            MatchOutcome::Undecided
        } else {
            MatchOutcome::No
        }
    }
}

pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Returns whether the user of a URL is a token rather than a name.
fn is_url_token(user: &[u8]) -> bool {
    user.len() >= MIN_URL_TOKEN
        && DOTTED.run(user) == user.len()
        && user.iter().any(u8::is_ascii_digit)
        && user.iter().any(u8::is_ascii_alphabetic)
}

/// Whether this is a placeholder such as `${PASS}`, `{password}` or `$PASS`, rather than a
/// password.
pub(crate) fn is_placeholder(password: &[u8]) -> bool {
    match password {
        [b'$', b'{' | b'(', ..] | [b'{', ..] => true,
        [b'$', name @ ..] => name
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_'),
        _ => false,
    }
}

/// Returns whether the last letter of `before` is part of an escape (`\n`, `\u001b`, `%3D`, a
/// colour) rather than of a word.
fn ends_in_escape(before: &[u8]) -> bool {
    let near = &before[before.len().saturating_sub(LOOK_BEHIND)..];
    match near {
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f'] => true,
        [.., b'%', a, b] if is_hex(*a) && is_hex(*b) => true,
        [parameters @ .., b'm'] => ends_in_colour(parameters),
        _ => ends_in_unicode_escape(near),
    }
}

fn ends_in_unicode_escape(near: &[u8]) -> bool {
    near.len() >= 6 && {
        let (start, digits) = near[near.len() - 6..].split_at(2);
        start == b"\\u" && digits.iter().copied().all(is_hex)
    }
}

fn ends_in_colour(parameters: &[u8]) -> bool {
    let numbers = parameters
        .iter()
        .rev()
        .take_while(|b| b.is_ascii_digit() || **b == b';')
        .count();
    parameters[..parameters.len() - numbers].ends_with(b"[")
}

fn is_hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}
