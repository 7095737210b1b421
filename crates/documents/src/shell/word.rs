//! Words: where they end, with everything they may contain.

use super::reader::{End, Reader};
use super::{List, Stage, Word};

/// Characters that end a word outside of quotes.
const BREAKS: &[u8] = b" \t\n;&|()<>";

/// Returns a word without the quotes and backslashes that the shell removes. Nothing is expanded,
/// so substitutions stay as they are.
pub(super) fn unquoted(word: &str) -> String {
    if word.contains("$(") || word.contains('`') {
        let inside = word
            .strip_prefix('"')
            .and_then(|word| word.strip_suffix('"'));
        return inside.unwrap_or(word).to_owned();
    }
    let mut plain = String::new();
    let mut quote = None;
    let mut chars = word.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None | Some('"'), '\\') => plain.extend(chars.next()),
            _ => plain.push(c),
        }
    }
    plain
}

/// Returns whether a word has characters that stay whatever the shell replaces, so that it is never
/// empty.
pub(super) fn has_literal(word: &str) -> bool {
    let mut rest = word;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' | '\'' => 1,
            '$' => expansion(rest),
            '`' => rest[1..].find('`').map_or(rest.len(), |end| end + 2),
            _ => return true,
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    false
}

/// Returns the length of `$x`, `${x}` or `$(x)`.
fn expansion(text: &str) -> usize {
    let (open, close) = match text.as_bytes().get(1) {
        Some(b'(') => ('(', ')'),
        Some(b'{') => ('{', '}'),
        _ => {
            let is_name = |c: char| c.is_alphanumeric() || c == '_';
            let name = text[1..].find(|c| !is_name(c)).unwrap_or(text.len() - 1);
            let special = text[1..].chars().next().map_or(0, char::len_utf8);
            return 1 + if name == 0 { special } else { name };
        }
    };
    let mut depth = 0_u32;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return at + 1;
            }
        }
    }
    text.len()
}

impl Reader<'_> {
    /// Parses one word; `None` if none starts here, or if something in it never ends.
    pub(super) fn word(&mut self) -> Option<Word> {
        let start = self.at;
        let mut substituted = None;
        while let Some(byte) = self.byte() {
            match byte {
                b'\\' => self.skip_escaped(),
                b'\'' => self.until(b'\'')?,
                b'"' => self.double_quoted(&mut substituted)?,
                b'`' => self.backquoted()?,
                b'$' => self.dollar(&mut substituted)?,
                b'<' | b'>' if self.text[self.at + 1..].starts_with('(') => {
                    self.at += 1;
                    self.parenthesized()?;
                }
                b'(' if self.is_pattern_or_array(start) => self.balanced(b'(', b')')?,
                byte if BREAKS.contains(&byte) => break,
                _ => self.at += 1,
            }
        }
        let text = self.text.get(start..self.at)?;
        (!text.is_empty()).then(|| Word {
            text: text.to_owned(),
            substituted,
        })
    }

    /// Skips a backslash and the character after it.
    fn skip_escaped(&mut self) {
        let escaped = self.text[self.at + 1..].chars().next();
        self.at += 1 + escaped.map_or(0, char::len_utf8);
    }

    /// Whether this is `a=(x y)` or `@(a|b)`.
    fn is_pattern_or_array(&self, start: usize) -> bool {
        let before = self.text.as_bytes()[start..self.at].last();
        before.is_some_and(|before| b"=@!*?+".contains(before))
    }

    /// Skips past the next such byte, starting after the current one.
    fn until(&mut self, end: u8) -> Option<()> {
        let rest = self.text.as_bytes().get(self.at + 1..)?;
        let length = rest.iter().position(|byte| *byte == end)?;
        self.at += length + 2;
        Some(())
    }

    fn double_quoted(&mut self, substituted: &mut Option<String>) -> Option<()> {
        self.at += 1;
        loop {
            match self.byte()? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => self.skip_escaped(),
                b'`' => self.backquoted()?,
                // `$"` is a dollar at the end of the quote.
                b'$' if self.text[self.at..].starts_with("$\"") => self.at += 1,
                b'$' if self.text[self.at..].starts_with("$'") => self.at += 2,
                b'$' => self.dollar(substituted)?,
                _ => self.at += 1,
            }
        }
    }

    fn backquoted(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            match self.byte()? {
                b'`' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => self.skip_escaped(),
                _ => self.at += 1,
            }
        }
    }

    /// Parses `$x`, `$'…'`, `${…}`, `$((…))` or `$(…)`.
    fn dollar(&mut self, substituted: &mut Option<String>) -> Option<()> {
        let rest = &self.text[self.at + 1..];
        if rest.starts_with('\'') {
            self.at += 1;
            return self.escaped_quote();
        }
        if rest.starts_with('{') {
            self.at += 1;
            return self.balanced(b'{', b'}');
        }
        if rest.starts_with("((") {
            let here = self.at;
            self.at += 1;
            if self.arithmetic().is_some() {
                return Some(());
            }
            self.at = here;
        }
        self.at += 1;
        if rest.starts_with('(') {
            *substituted = Some(ending_program(self.parenthesized()?));
        }
        Some(())
    }

    /// Parses `$'it\'s'`.
    fn escaped_quote(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            match self.byte()? {
                b'\'' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => self.skip_escaped(),
                _ => self.at += 1,
            }
        }
    }

    /// Parses `( … )` around a script.
    pub(super) fn parenthesized(&mut self) -> Option<List> {
        self.at += 1;
        let outer = std::mem::take(&mut self.heredocs);
        let list = self.list(End::Parenthesis)?;
        self.heredocs = outer;
        self.at += 1;
        Some(list)
    }

    /// Parses `((…))`: anything up to the matching parentheses.
    pub(super) fn arithmetic(&mut self) -> Option<()> {
        let start = self.at;
        self.balanced(b'(', b')')?;
        let inside = &self.text.as_bytes()[start..self.at];
        (inside.starts_with(b"((") && inside.ends_with(b"))")).then_some(())
    }

    /// Skips past the bracket that closes the current one.
    fn balanced(&mut self, open: u8, close: u8) -> Option<()> {
        let mut depth = 0_u32;
        loop {
            match self.byte()? {
                byte if byte == open => {
                    depth += 1;
                    self.at += 1;
                }
                byte if byte == close => {
                    depth -= 1;
                    self.at += 1;
                    if depth == 0 {
                        return Some(());
                    }
                }
                b'\\' => self.skip_escaped(),
                b'\'' if open == b'(' => self.until(b'\'')?,
                b'"' => self.double_quoted(&mut None)?,
                b'`' => self.backquoted()?,
                _ => self.at += 1,
            }
        }
    }
}

fn ending_program(mut list: List) -> String {
    let pipeline = list
        .statements
        .pop()
        .and_then(|mut last| last.pipelines.pop());
    match pipeline.and_then(|(_, mut pipeline)| pipeline.stages.pop()) {
        Some(Stage::Simple(simple)) => simple.program().to_owned(),
        _ => String::new(),
    }
}
