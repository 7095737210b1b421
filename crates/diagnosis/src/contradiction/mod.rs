//! Finds messages that claim success and admit failure at the same time.

mod negation;
mod unfinished;

use anstream::adapter::strip_str;

use self::negation::is_negated;
pub use self::unfinished::admission;
use crate::prose::unfenced_lines;

/// Logged when a claim of success is contradicted.
pub const CONTRADICTION: &str = "CONTRADICTION: claimed completion while admitting failure";

/// Words in a final message that admit that something was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The words as the agent wrote them.
    pub phrase: String,
    /// The 1-based line in the message.
    pub line: usize,
}

/// Finds the first admission outside of code, except for negated ones ("no manual intervention
/// needed").
#[must_use]
pub fn contradiction(message: &str) -> Option<Contradiction> {
    let plain: String = strip_str(message).collect();
    let words = words(&plain);
    (0..words.len()).find_map(|start| {
        let end = PHRASES
            .iter()
            .find_map(|phrase| match_phrase(&words, start, phrase))?;
        (!is_negated(&words, start..end)).then(|| contradiction_of(&words[start..end]))
    })
}

fn contradiction_of(words: &[Word<'_>]) -> Contradiction {
    let shown: Vec<&str> = words.iter().map(|word| word.shown).collect();
    Contradiction {
        phrase: shown.join(" "),
        line: words.first().map_or(0, |word| word.line + 1),
    }
}

/// Alternatives for one position in a phrase, separated by spaces.
type Words = &'static str;

const REQUIRE: Words = "require requires required requiring";
const NEED: Words = "need needs needed needing";
const MANUAL: Words = "manual manually";
const HUMAN: Words = "human humans";
const CANNOT: Words = "cannot can't couldn't";
const CAN: Words = "can could";
const NOT: Words = "not";
const BE: Words = "be";
const COMPLETE: Words = "complete";
const COMPLETED: Words = "completed";
const AUTOMATED: Words = "automated";
const INTERVENTION: Words = "intervention interventions";

const PHRASES: &[&[Words]] = &[
    &[REQUIRE, MANUAL],
    &[NEED, HUMAN],
    &[CANNOT, BE, AUTOMATED],
    &[CAN, NOT, BE, AUTOMATED],
    &[CANNOT, COMPLETE],
    &[CAN, NOT, COMPLETE],
    &[CANNOT, BE, COMPLETED],
    &[CAN, NOT, BE, COMPLETED],
    &[MANUAL, INTERVENTION],
];

/// Words that may occur anywhere inside a phrase: "needs a human", "requires some manual".
const BETWEEN: Words = "a an any some the further additional more";

/// Returns the end of the phrase that starts at `start`.
fn match_phrase(words: &[Word<'_>], start: usize, phrase: &[Words]) -> Option<usize> {
    let mut at = start;
    for (n, place) in phrase.iter().enumerate() {
        let mut between = 0;
        while n > 0 && between < 2 && words.get(at)?.is_one_of(BETWEEN) {
            at += 1;
            between += 1;
        }
        let goes_on = n == 0 || words.get(at.checked_sub(1)?)?.then == Break::None;
        if !goes_on || !words.get(at)?.is_one_of(place) {
            return None;
        }
        at += 1;
    }
    Some(at)
}

/// The separator between a word and the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Break {
    None,
    Comma,
    Colon,
    /// A full stop, a dash, a bracket, another paragraph or list item, or code in between.
    Clause,
}

#[derive(Clone, Debug)]
pub(super) struct Word<'t> {
    /// As written, without surrounding punctuation.
    pub(super) shown: &'t str,
    /// In lower case, with a straight apostrophe.
    plain: String,
    /// 0-based.
    pub(super) line: usize,
    pub(super) then: Break,
}

impl Word<'_> {
    pub(super) fn is_one_of(&self, words: Words) -> bool {
        words.split(' ').any(|word| word == self.plain)
    }

    pub(super) fn is_not_contracted(&self) -> bool {
        self.plain.ends_with("n't")
    }
}

/// Returns the words outside of fences and code spans.
pub(super) fn words(text: &str) -> Vec<Word<'_>> {
    let mut words: Vec<Word<'_>> = Vec::new();
    let mut next_line = 0;
    for (n, line) in unfenced_lines(text) {
        if n != next_line || starts_block(line) {
            end_clause(&mut words);
        }
        next_line = n + 1;
        let marks = line.bytes().filter(|byte| *byte == b'`').count();
        for (at, piece) in line.split('`').enumerate() {
            // Text between two backticks is code; a lone backtick is punctuation.
            if at % 2 == 1 && marks > at {
                end_clause(&mut words);
                continue;
            }
            for raw in piece.split_whitespace() {
                push(&mut words, raw, n);
            }
        }
    }
    words
}

fn push<'t>(words: &mut Vec<Word<'t>>, raw: &'t str, line: usize) {
    let is_part = |c: char| c.is_alphanumeric();
    let Some(start) = raw.find(is_part) else {
        // A dash or other punctuation on its own separates clauses; emphasis doesn't.
        if !raw.chars().all(|c| matches!(c, '*' | '_')) {
            end_clause(words);
        }
        return;
    };
    let end = raw.rfind(is_part).map_or(raw.len(), |at| {
        at + raw[at..].chars().next().map_or(0, char::len_utf8)
    });
    if raw[..start].contains('(') {
        end_clause(words);
    }
    let shown = &raw[start..end];
    words.push(Word {
        shown,
        plain: shown.to_lowercase().replace('’', "'"),
        line,
        then: break_of(&raw[end..]),
    });
}

fn break_of(marks: &str) -> Break {
    if marks.contains(['.', ';', '!', '?', ')', '—', '–', '…']) {
        Break::Clause
    } else if marks.contains([':', '：']) {
        Break::Colon
    } else if marks.contains(',') {
        Break::Comma
    } else {
        Break::None
    }
}

fn end_clause(words: &mut [Word<'_>]) {
    if let Some(last) = words.last_mut() {
        last.then = Break::Clause;
    }
}

/// Returns whether a line starts a new block instead of continuing the sentence before it.
fn starts_block(line: &str) -> bool {
    let text = line.trim_start();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text.is_empty()
        || text.starts_with(['#', '>', '|', '•'])
        || ["- ", "* ", "+ "]
            .iter()
            .any(|bullet| text.starts_with(bullet))
        || (digits > 0 && text[digits..].starts_with(['.', ')']))
}

#[cfg(test)]
mod tests;
