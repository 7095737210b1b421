//! The forms of the grammar. Each must match a text to its end.

use regreen_model::{Comparison, Expectation};

use super::Subject;
use super::words::{
    COMPARISONS, DISTRIBUTIVE, FAILS, LINES, NOTHING, PASSES, PRINTING, RETURNING, SHOWING,
    SOMETHING, STATING, TRAILING, Verb, Words,
};

/// The meaning of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Exit code 0.
    Passes,
    /// Another result.
    Expects(Expectation),
}

impl Meaning {
    pub(super) fn expectation(&self) -> Option<Expectation> {
        match self {
            Self::Passes => None,
            Self::Expects(expected) => Some(expected.clone()),
        }
    }

    /// Returns whether a failing command could meet the expectation without printing anything that
    /// proves it.
    pub(super) fn accepts_failure(&self) -> bool {
        match self {
            Self::Expects(Expectation::Fails | Expectation::Exits(_)) => true,
            Self::Expects(Expectation::Returns(_, number)) => *number != 0,
            Self::Expects(_) | Self::Passes => false,
        }
    }
}

/// Words that start an aside.
const ASIDE: &[&str] = &[
    "exists", "exist", "exists)", "passes", "pass", "manual", "is", "are", "has",
];

/// Returns the meaning of a text, if all of it is one form.
pub(super) fn meaning(text: &str, is_set_off: bool, subject: Subject) -> Option<Meaning> {
    let mut words = Words(text.trim());
    let mut is_distributive = false;
    loop {
        if words.eat_any(DISTRIBUTIVE).is_some() {
            is_distributive = true;
        } else if words.is_any(PASSES) {
            return Some(Meaning::Passes);
        } else if words.is_any(FAILS) {
            return Some(fails(subject));
        } else if let Some(meaning) = exit_code(words) {
            return Some(meaning);
        } else if !words.eat_filler() {
            break;
        }
    }
    let verb = words.eat_verb();
    let is_success = words.is_success() || (is_distributive && words.is_any(PASSES));
    if verb.is_some() && is_success {
        return Some(Meaning::Passes);
    }
    let form = Form {
        verb,
        is_distributive,
        is_set_off,
        subject,
    };
    form.object(words).map(Meaning::Expects)
}

/// Returns whether a text says something about a result.
pub(super) fn states_something(text: &str) -> bool {
    let is_word = |word: &str| {
        let lower = word.to_lowercase();
        let lower = lower.trim_matches(|c: char| !c.is_alphanumeric() && c != '-');
        [STATING, PRINTING, SHOWING, RETURNING]
            .iter()
            .any(|list| list.contains(&lower))
    };
    let is_sign = |word: &str| {
        word.starts_with(['→', '>', '<', '≥', '≤', '='])
            || word.starts_with(|c: char| c.is_ascii_digit())
    };
    let mut words = text.split_whitespace();
    if opens_aside(text) {
        return words.any(|word| is_word(word) && !ASIDE.contains(&word.to_lowercase().as_str()));
    }
    words.any(|word| is_word(word) || is_sign(word))
}

/// Returns whether the text is an aside, such as "or equivalent", "if it exists" or "to confirm
/// AC-1".
pub(super) fn opens_aside(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    let openings = [
        "or", "if", "to", "in", "for", "from", "at", "via", "using", "under", "inside", "within",
        "on", "as", "after",
    ];
    openings.contains(&first.to_lowercase().as_str())
}

/// Returns the meaning of "fails". A counter like `grep -c x file` is non-zero if it prints another
/// number.
fn fails(subject: Subject) -> Meaning {
    Meaning::Expects(if subject.is_counting {
        Expectation::Prints(Comparison::MoreThan, 0)
    } else {
        Expectation::Fails
    })
}

/// Parses `exits 0`, `exit code is 2`, `returns exit code 1`, `exits with a non-zero status`.
fn exit_code(mut words: Words<'_>) -> Option<Meaning> {
    words.eat_any(&["returns", "return", "with"]);
    words.eat_any(&["exits", "exit"])?;
    while words
        .eat_any(&["with", "a", "an", "code", "status", "is", "of", "=", ":"])
        .is_some()
    {}
    if words.is_any(&[
        "non-zero",
        "nonzero",
        "non-zero code",
        "non-zero status",
        "non-zero exit code",
    ]) {
        return Some(Meaning::Expects(Expectation::Fails));
    }
    let number = words.eat_number()?;
    let meaning = match number {
        0 => Meaning::Passes,
        number => Meaning::Expects(Expectation::Exits(number)),
    };
    words.0.is_empty().then_some(meaning)
}

#[derive(Clone, Copy)]
struct Form {
    verb: Option<Verb>,
    is_distributive: bool,
    is_set_off: bool,
    subject: Subject,
}

impl Form {
    /// Parses the expected output: nothing, something, a number, or a text.
    fn object(self, mut words: Words<'_>) -> Option<Expectation> {
        while words.eat_any(&["exactly", "the", "only"]).is_some() {}
        if self.verb == Some(Verb::Lacking) {
            return lacks(words);
        }
        if words.is_any(NOTHING) {
            return Some(Expectation::NoOutput);
        }
        let is_meant = self.verb.is_some() || self.is_distributive || self.is_set_off;
        if is_meant && words.is_any(SOMETHING) {
            return Some(self.something());
        }
        self.number(words)
            .or_else(|| self.no_lines(words))
            .or_else(|| {
                let mut words = words;
                words.eat_any(&["no"])?;
                lacks(words)
            })
            .or_else(|| self.text(words))
    }

    fn something(self) -> Expectation {
        if self.is_distributive && !self.subject.is_several {
            let lines = Expectation::Lines(Comparison::AtLeast, 2);
            return Expectation::All(vec![Expectation::Passes, lines]);
        }
        Expectation::Lines(Comparison::AtLeast, 1)
    }

    /// Parses `3`, `>= 3`, `5+`, `3 files`, or `0 errors` for a command that counts them.
    fn number(self, mut words: Words<'_>) -> Option<Expectation> {
        if let Some((code, rest)) = words.code() {
            let inner = Words(code);
            words = if rest.is_empty() { inner } else { return None };
        }
        let sign = COMPARISONS
            .iter()
            .find_map(|(sign, comparison)| words.eat_any(&[sign]).map(|_| *comparison));
        let number = words.eat_number()?;
        let comparison = match (sign, words.eat_any(&["+", "or more"])) {
            (None, Some(_)) => Comparison::AtLeast,
            (Some(sign), None) => sign,
            (None, None) => Comparison::Equal,
            (Some(_), Some(_)) => return None,
        };
        let is_meant = self.verb.is_some() || sign.is_some() || self.is_set_off;
        if words.0.is_empty() {
            let is_plain = matches!(self.verb, None | Some(Verb::Returning));
            return is_meant.then(|| {
                if is_plain && comparison == Comparison::Equal && !self.subject.is_counting {
                    Expectation::Returns(comparison, number)
                } else {
                    Expectation::Prints(comparison, number)
                }
            });
        }
        if self.subject.is_counting && words.is_noun() {
            return Some(Expectation::Prints(comparison, number));
        }
        words.eat_any(LINES)?;
        words.eat_any(TRAILING);
        words
            .0
            .is_empty()
            .then_some(Expectation::Lines(comparison, number))
    }

    /// Parses `no matches`, `zero lines`.
    fn no_lines(self, mut words: Words<'_>) -> Option<Expectation> {
        words.eat_any(&["no", "zero"])?;
        words.eat_any(LINES)?;
        words
            .0
            .is_empty()
            .then_some(Expectation::Lines(Comparison::Equal, 0))
    }

    /// Parses `outputs "ok then"`, `shows 4.2.0`, `prints hello`, `both return 1.0.0`.
    fn text(self, mut words: Words<'_>) -> Option<Expectation> {
        let verb = self.verb?;
        let text = words.eat_text(verb == Verb::Printing)?;
        words.eat_any(TRAILING);
        if !words.0.is_empty() {
            return None;
        }
        if self.is_distributive && !self.subject.is_several {
            let every = Expectation::EveryLine(text);
            return Some(Expectation::All(vec![Expectation::Passes, every]));
        }
        Some(Expectation::Outputs(text))
    }
}

/// Parses `no CHANGES_REQUESTED or PENDING states`.
fn lacks(mut words: Words<'_>) -> Option<Expectation> {
    let mut texts = Vec::new();
    loop {
        let text = words.eat_text(false)?;
        texts.push(Expectation::Lacks(text));
        if words.eat_any(&["or", "and"]).is_none() {
            break;
        }
    }
    words.eat_any(TRAILING);
    if !words.0.is_empty() {
        return None;
    }
    match texts.len() {
        1 => texts.pop(),
        _ => Some(Expectation::All(texts)),
    }
}
