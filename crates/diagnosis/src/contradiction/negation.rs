//! Decides whether a phrase is stated or negated: "does not require manual steps".
//!
//! A negation counts only if it is in the same clause and governs the phrase; in "the tests do not
//! pass and need human help" it negates something else. Two negations cancel out: "does not work
//! without manual intervention".

use std::ops::Range;

use super::{Break, Word, Words};

/// Words that negate a thing: "no step", "nothing", "without any".
const OF_THINGS: Words = "no nothing none nobody neither nor zero without";
/// Words that negate an action: "does not", "never".
const OF_ACTIONS: Words = "not never cannot";
const VERBS: Words = "need needs needed needing require requires required requiring cannot can't could \
    couldn't can";
/// Words that a negation can reach across.
const FILLERS: Words = "a an any some the further additional more other extra need for to of is was are were \
    be been being there will would should do does did has have had longer human manual \
    also still or";
/// Words that start another clause.
const CONJUNCTIONS: Words = "but and because since so as while although though however yet if when until unless \
    then therefore thus hence means meaning";
const RELATIVES: Words = "that which who";

/// How many words may come between a negation and what it negates.
const FAR: usize = 5;
const NEAR: usize = 1;

pub(super) fn is_negated(words: &[Word<'_>], phrase: Range<usize>) -> bool {
    let before = words.get(..phrase.start).unwrap_or_default();
    negations_before(words, before, phrase.start) % 2 == 1 || is_negated_after(words, phrase.end)
}

/// Walks from the phrase back towards the start of its clause.
fn negations_before(words: &[Word<'_>], before: &[Word<'_>], start: usize) -> usize {
    let mut walk = Walk {
        verb_seen: words.get(start).is_some_and(|word| word.is_one_of(VERBS)),
        ..Walk::default()
    };
    let mut next = words.get(start);
    for word in before.iter().rev() {
        let joins = next.is_some_and(|next| next.is_one_of("or nor"));
        walk.in_list |= joins;
        let ends = match word.then {
            Break::None => false,
            Break::Comma => !walk.in_list,
            Break::Colon | Break::Clause => true,
        };
        if ends || !walk.pass(word) {
            break;
        }
        next = Some(word);
    }
    walk.denials
}

#[derive(Default)]
struct Walk {
    denials: usize,
    /// The number of words passed that are neither fillers nor negations.
    others: usize,
    /// Whether a verb was passed, so that a subject may precede it.
    verb_seen: bool,
    /// Whether this is a list such as "no review, approval or …", with the negation before the
    /// first item.
    in_list: bool,
    /// Whether this is a relative clause, into which only a negated thing reaches: "nothing that
    /// requires".
    in_relative: bool,
}

impl Walk {
    /// Passes one more word. Returns `false` if any negation before it would negate something else.
    fn pass(&mut self, word: &Word<'_>) -> bool {
        if word.is_one_of(OF_THINGS) {
            self.denials += 1;
        } else if word.is_one_of(OF_ACTIONS) || word.is_not_contracted() {
            self.denials += usize::from(self.others <= NEAR && !self.in_relative);
        } else if word.is_one_of(CONJUNCTIONS) {
            return false;
        } else if word.is_one_of(RELATIVES) {
            self.in_relative = true;
            return self.verb_seen;
        } else if word.is_one_of(VERBS) {
            self.verb_seen = true;
        } else if !word.is_one_of(FILLERS) {
            self.others += 1;
        }
        let far = if self.in_relative { FAR - 2 } else { FAR };
        self.others
            <= if self.verb_seen || self.in_list {
                far
            } else {
                NEAR
            }
    }
}

/// Whether the phrase is negated after it: "Manual intervention is not needed", "was unnecessary",
/// ": none".
fn is_negated_after(words: &[Word<'_>], end: usize) -> bool {
    let Some(last) = end.checked_sub(1).and_then(|last| words.get(last)) else {
        return false;
    };
    let mut after = words.get(end..).unwrap_or_default().iter();
    let Some(first) = after.next() else {
        return false;
    };
    match last.then {
        Break::Colon => {
            first.is_one_of("none no n/a") && (first.then != Break::None || after.next().is_none())
        }
        Break::None => negates_need(&words[end..]),
        Break::Comma | Break::Clause => false,
    }
}

fn negates_need(after: &[Word<'_>]) -> bool {
    let mut denied = false;
    for word in after.iter().take(6) {
        if word.is_one_of("unnecessary avoided") {
            return true;
        }
        if word.is_one_of(OF_ACTIONS) || word.is_one_of("no") || word.is_not_contracted() {
            denied = true;
        } else if word.is_one_of("needed required necessary involved expected") {
            return denied;
        } else if !word.is_one_of(FILLERS) {
            return false;
        }
        if word.then != Break::None {
            return false;
        }
    }
    false
}
