//! A message that claims success and admits failure in the same breath.

mod negation;
mod word;

use anstream::adapter::strip_str;

use self::negation::is_negated;
use self::word::{Break, Word, words};

/// What is logged when a claim is not believed.
pub const CONTRADICTION: &str = "CONTRADICTION: claimed completion while admitting failure";

/// Words of a final message that say that something was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// As the agent wrote it.
    pub phrase: String,
    /// 1-based, in the message.
    pub line: usize,
}

/// The first admission outside code, negated ones ("no manual intervention needed") aside.
#[must_use]
pub fn contradiction(message: &str) -> Option<Contradiction> {
    let plain: String = strip_str(message).collect();
    let words = words(&plain);
    (0..words.len()).find_map(|start| {
        let end = PHRASES
            .iter()
            .find_map(|phrase| match_phrase(&words, start, phrase))?;
        (!is_negated(&words, start..end)).then(|| admission(&words[start..end]))
    })
}

fn admission(words: &[Word<'_>]) -> Contradiction {
    let shown: Vec<&str> = words.iter().map(|word| word.shown).collect();
    Contradiction {
        phrase: shown.join(" "),
        line: words.first().map_or(0, |word| word.line + 1),
    }
}

/// One place of a phrase: the words that may stand there.
type Place = &'static [&'static str];

const REQUIRE: Place = &["require", "requires", "required", "requiring"];
const NEED: Place = &["need", "needs", "needed", "needing"];
const MANUAL: Place = &["manual", "manually"];
const HUMAN: Place = &["human", "humans"];
const CANNOT: Place = &["cannot", "can't", "couldn't"];
const CAN: Place = &["can", "could"];
const NOT: Place = &["not"];
const BE: Place = &["be"];
const COMPLETE: Place = &["complete"];
const COMPLETED: Place = &["completed"];
const AUTOMATED: Place = &["automated"];
const INTERVENTION: Place = &["intervention", "interventions"];

const PHRASES: &[&[Place]] = &[
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

/// Words that may stand anywhere inside a phrase: "needs a human", "requires some manual".
const BETWEEN: &[&str] = &[
    "a",
    "an",
    "any",
    "some",
    "the",
    "further",
    "additional",
    "more",
];

/// Where the phrase that starts at `start` ends.
fn match_phrase(words: &[Word<'_>], start: usize, phrase: &[Place]) -> Option<usize> {
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

#[cfg(test)]
mod tests;
