//! Whether a phrase is said or denied: "does not require manual steps".
//!
//! A denial is believed only if it stands in the same clause and governs the phrase; "the
//! tests do not pass and need human help" denies something else. Two denials are none:
//! "does not work without manual intervention".

use std::ops::Range;

use super::{Break, Word, Words};

/// Deny a thing: "no step", "nothing", "without any".
const OF_THINGS: Words = "no nothing none nobody neither nor zero without";
/// Deny what is done: "does not", "never".
const OF_ACTIONS: Words = "not never cannot";
const VERBS: Words = "need needs needed needing require requires required requiring cannot can't could \
    couldn't can";
/// Words that pass a denial on.
const FILLERS: Words = "a an any some the further additional more other extra need for to of is was are were \
    be been being there will would should do does did has have had longer human manual \
    also still or";
/// Another clause begins.
const CONJUNCTIONS: Words = "but and because since so as while although though however yet if when until unless \
    then therefore thus hence means meaning";
const RELATIVES: Words = "that which who";

/// How many words may stand between a denial and what it denies.
const FAR: usize = 5;
const NEAR: usize = 1;

pub(super) fn is_negated(words: &[Word<'_>], phrase: Range<usize>) -> bool {
    let before = words.get(..phrase.start).unwrap_or_default();
    denials_before(words, before, phrase.start) % 2 == 1 || is_denied_after(words, phrase.end)
}

/// Walks from the phrase towards the beginning of its clause.
fn denials_before(words: &[Word<'_>], before: &[Word<'_>], start: usize) -> usize {
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
    /// Words passed that are neither fillers nor denials.
    others: usize,
    /// What was passed so far has its verb, so that a subject may follow.
    verb_seen: bool,
    /// "no review, approval or …": the denial stands before the first of them.
    in_list: bool,
    /// Only a denied thing reaches into a relative clause: "nothing that requires".
    in_relative: bool,
}

impl Walk {
    /// Takes one more word; `false` if a denial before it would deny something else.
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

/// "Manual intervention is not needed", "was unnecessary", ": none".
fn is_denied_after(words: &[Word<'_>], end: usize) -> bool {
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
        Break::None => is_denial_of_need(&words[end..]),
        Break::Comma | Break::Clause => false,
    }
}

fn is_denial_of_need(after: &[Word<'_>]) -> bool {
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
