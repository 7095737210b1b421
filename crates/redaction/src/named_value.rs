//! Values whose names reveal that they are secret: `password=…`, `"api_key": "…"`, cookies.
//!
//! The value has no form of its own here, so everything depends on telling values from code
//! (`password=form.password`), prose (`password: at least 8 characters`) and placeholders.

use crate::matching::{Candidate, LOOK_BEHIND, MAX_SPACES, Position, is_blank, is_placeholder};
use crate::rule::{BARE, BASE64_URL, Body, COOKIE, COOKIE_NAME, COOKIES, Class, QUOTED, WORD};
use crate::span::{Growth, MatchOutcome, Span};

/// A longer value is judged by its beginning.
const MAX_VALUE: usize = 256;
const MAX_COOKIE_NAME: usize = 64;
const MIN_COOKIE: usize = 6;
/// A quoted value without digits and capitals is secret only if it has at least this many letters.
const MIN_LETTERS: usize = 12;
/// The secret of a bot, after its number.
const BOT_SECRET: Body = Body::exact(&BASE64_URL, 35);
const BOT_NUMBER: std::ops::RangeInclusive<usize> = 6..=12;

/// Parts of values that are names, placeholders or rules for values.
const NOT_SECRET: [&str; 20] = [
    "password",
    "passwd",
    "passwort",
    "api_key",
    "api-key",
    "apikey",
    "secret",
    "token",
    "your",
    "change",
    "placeholder",
    "example",
    "redacted",
    "filtered",
    "masked",
    "xxxx",
    "required",
    "min:",
    "min=",
    "env.",
];

/// Beginnings of values that are types or algorithms.
const TYPES: [&str; 10] = [
    "uint", "int", "float", "sha", "md5", "base64", "argon2", "bcrypt", "utf", "http",
];

impl Candidate<'_> {
    /// Finds the value assigned to a name.
    pub(crate) fn named_value(self, min: usize) -> Result<Span, MatchOutcome> {
        let key_end = self.skip_quote(self.after_anchor)?;
        let value = self.skip_sign(key_end)?;
        let open = self.skip_quote(value)?;
        if open > value {
            return self.value(&QUOTED, open, |value, next| {
                matches!(next, Some(b'"' | b'\'' | b'\\') | None) && is_quoted_secret(value, min)
            });
        }
        // Without its own quotes, it is a number or a variable.
        if key_end > self.after_anchor {
            return Err(MatchOutcome::No);
        }
        self.value(&BARE, value, |value, next| {
            !matches!(next, Some(b'(' | b')' | b'[' | b'{' | b'<')) && is_bare_secret(value, min)
        })
    }

    /// Skips what assigns a value to a name: `=`, `:`, `=>`, `:=`, or the blank after an option.
    fn skip_sign(self, from: usize) -> Position {
        let bracket = self.skip(from, |b| b == b']', 1)?;
        let spaced = self.skip(bracket, is_blank, MAX_SPACES)?;
        let sign = self.skip(spaced, |b| matches!(b, b'=' | b':' | b'>'), 3)?;
        let is_sign = match &self.text[spaced..sign] {
            b"=" | b":" | b"=>" | b":=" => true,
            b"" => spaced > from && self.is_option(),
            _ => false,
        };
        if !is_sign {
            return Err(MatchOutcome::No);
        }
        self.skip(sign, is_blank, MAX_SPACES)
    }

    /// Returns whether the name belongs to an option: `--db-password`.
    fn is_option(self) -> bool {
        let near = &self.text[self.anchor.saturating_sub(LOOK_BEHIND)..self.anchor];
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'-';
        let len = near.iter().rev().take_while(is_name).count();
        memchr::memmem::find(&near[near.len() - len..], b"--").is_some()
    }

    /// Returns the span of a value of this class if it is secret, judging also by what follows.
    fn value(
        self,
        class: &'static Class,
        start: usize,
        is_secret: impl Fn(&[u8], Option<u8>) -> bool,
    ) -> Result<Span, MatchOutcome> {
        let end = start + self.run(class, start, MAX_VALUE);
        let is_long = end - start == MAX_VALUE;
        if self.ends_at(end) && !is_long {
            return Err(MatchOutcome::Undecided);
        }
        let next = self.text.get(end).copied().filter(|_| !is_long);
        if !is_secret(&self.text[start..end], next) {
            return Err(MatchOutcome::No);
        }
        let mut span = Span {
            start,
            end,
            growth: is_long.then_some(Growth::While(class)),
        };
        span.grow(self.text);
        Ok(span)
    }

    /// Finds the cookies in a header: all of `Cookie: a=1; b=2`, but one in `Set-Cookie: a=1;
    /// Path=/`.
    pub(crate) fn cookie(self) -> Result<Span, MatchOutcome> {
        let before = &self.text[..self.anchor];
        let is_set = before.ends_with(b"et-") || before.ends_with(b"ET-");
        let class = if is_set { &COOKIE } else { &COOKIES };
        let name_end = self.skip_quote(self.after_anchor)?;
        let spaced = self.skip(name_end, is_blank, MAX_SPACES)?;
        let sign = self.skip(spaced, |b| b == b':', 1)?;
        if sign == spaced {
            return Err(MatchOutcome::No);
        }
        let spaced = self.skip(sign, is_blank, MAX_SPACES)?;
        let listed = self.skip(spaced, |b| b == b'[', 1)?;
        let name = self.skip_quote(listed)?;
        let equals = name + self.run(&COOKIE_NAME, name, MAX_COOKIE_NAME);
        if equals == name || self.text.get(equals) != Some(&b'=') {
            return Err(self.undecided_at(equals));
        }
        let start = equals + 1;
        let first = self.text.get(start);
        if first.is_none_or(|byte| b"<;*${".contains(byte)) {
            return Err(self.undecided_at(start));
        }
        self.body(&Body::open(class, MIN_COOKIE), start, start)
    }

    /// Finds the secret of a bot after its number and a colon.
    pub(crate) fn bot_token(self) -> Result<Span, MatchOutcome> {
        let near = &self.text[self.anchor.saturating_sub(LOOK_BEHIND)..self.anchor];
        let digits = near.iter().rev().take_while(|b| b.is_ascii_digit()).count();
        if !BOT_NUMBER.contains(&digits) {
            return Err(MatchOutcome::No);
        }
        let secret = self.anchor + 1;
        self.body(&BOT_SECRET, secret, secret)
    }
}

fn is_quoted_secret(value: &[u8], min: usize) -> bool {
    let is_word = value.len() < MIN_LETTERS || !value.iter().all(u8::is_ascii_lowercase);
    let is_secret = has(value, u8::is_ascii_digit) || has_symbol_inside(value) || !is_word;
    value.len() >= min && is_secret && has(value, u8::is_ascii_alphanumeric) && !is_other(value)
}

fn is_bare_secret(value: &[u8], min: usize) -> bool {
    value.len() >= min
        && has(value, u8::is_ascii_digit)
        && has(value, u8::is_ascii_alphabetic)
        && !is_other(value)
        && !is_code(value)
        && !is_prose(value)
}

fn has(value: &[u8], is: fn(&u8) -> bool) -> bool {
    value.iter().any(is)
}

fn has_symbol_inside(value: &[u8]) -> bool {
    let [_, inside @ .., _] = value else {
        return false;
    };
    inside.iter().any(|byte| b"!@#$%^&+~".contains(byte))
}

/// Returns whether a value is a placeholder, a path, a version, a type or a rule for values.
fn is_other(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let has_word = |word: &str| memchr::memmem::find(&lower, word.as_bytes()).is_some();
    is_placeholder(value)
        || value
            .first()
            .is_some_and(|first| b"<%[(*&/.#@~".contains(first))
        || TYPES.iter().any(|name| lower.starts_with(name.as_bytes()))
        || NOT_SECRET.into_iter().any(has_word)
        || is_version(value)
}

/// Whether this is the version of a package, such as `^1.7.0` or `~2.0.0-rc.1`.
fn is_version(value: &[u8]) -> bool {
    let is_sign = |byte: &&u8| b"^~<>=v".contains(byte);
    let number = &value[value.iter().take_while(is_sign).count()..];
    let major = number.iter().take_while(|b| b.is_ascii_digit()).count();
    let minor = number.get(major + 1).is_some_and(u8::is_ascii_digit);
    major > 0 && minor && number[major] == b'.'
}

/// Whether this is an identifier, such as `self.pw1`, `config::KEY2` or `DEFAULT_KEY_2`.
fn is_code(value: &[u8]) -> bool {
    let is_name = |part: &[u8]| {
        WORD.run(part) == part.len() && part.first().is_some_and(|b| !b.is_ascii_digit())
    };
    let dotted = value.contains(&b'.') && value.split(|b| *b == b'.').all(is_name);
    let is_constant =
        |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    let constant = value.contains(&b'_') && value.iter().all(is_constant);
    dotted || constant || memchr::memmem::find(value, b"::").is_some()
}

/// Whether this is a number at the start of a phrase, such as `32-character` or `8+`.
fn is_prose(value: &[u8]) -> bool {
    let number = value.iter().take_while(|b| b.is_ascii_digit()).count();
    let rest = &value[number..];
    number > 0 && !rest.iter().any(u8::is_ascii_digit) && !rest.iter().any(u8::is_ascii_uppercase)
}
