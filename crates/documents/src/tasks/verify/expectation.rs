//! What the text after a command states about its result.
//!
//! This is a small grammar. A form counts only if it is the whole text or a whole clause of it:
//! "fails on warnings" is not "fails". Any other statement isn't guessed at: the command must exit
//! with 0, and the rest is reported as *not checked*.

mod clauses;
mod forms;
mod words;

use regreen_model::Expectation;

use super::introduction::without_asking;
use crate::shell::judging_program;

use self::clauses::{Clause, clauses};
use self::forms::{Meaning, meaning, opens_aside, states_something};

/// The known facts about the command.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Subject {
    /// Whether it prints a number: `grep -c`, `wc -l`.
    pub(super) is_counting: bool,
    /// Whether it is hedged ("If `x` fails", "nothing in `x` fails"), so that no failure is
    /// expected.
    pub(super) is_hedged: bool,
    /// Whether several commands are meant: "both return 3".
    pub(super) is_several: bool,
}

impl Subject {
    /// A single command, about which nothing else is said.
    pub(super) fn of(command: &str) -> Self {
        Self {
            is_counting: judging_program(command).is_some_and(|judge| judge.is_counting()),
            ..Self::default()
        }
    }
}

/// The result that a text states for a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stated {
    /// The expectation that replaces exit code 0.
    pub(super) expects: Option<Expectation>,
    /// Statements that can't be checked.
    pub(super) unchecked: Option<String>,
    /// Whether any of it was understood.
    pub(super) is_understood: bool,
}

/// Parses the text after a command.
pub(super) fn stated(after: &str, subject: Subject) -> Stated {
    let text = without_joints(after);
    if text.is_empty() {
        return Stated::default();
    }
    let is_set_off = is_set_off(after);
    if let Some(meaning) = meaning(unwrapped(text), is_set_off, subject)
        && !(subject.is_hedged && meaning.accepts_failure())
    {
        return Stated {
            expects: meaning.expectation(),
            unchecked: None,
            is_understood: true,
        };
    }
    in_parts(after, text, is_set_off, subject)
}

/// Parses clause by clause. A clause that would accept a failure counts only if all others are
/// understood, because they may take it back ("fails, but only on Windows").
fn in_parts(after: &str, text: &str, is_set_off: bool, subject: Subject) -> Stated {
    let mut meanings: Vec<Meaning> = Vec::new();
    let mut failures: Vec<Meaning> = Vec::new();
    let mut is_missing = false;
    let is_added = is_added(after);
    for Clause { text, is_remark } in clauses(text) {
        match meaning(text, is_set_off || !meanings.is_empty(), subject) {
            Some(meaning) if !meaning.accepts_failure() => meanings.push(meaning),
            Some(meaning) if !is_remark && !subject.is_hedged => failures.push(meaning),
            _ if is_remark && !meanings.is_empty() => {}
            // Text next to something that was understood counts as stated, too.
            _ if is_added || !meanings.is_empty() => is_missing = true,
            _ if is_remark || is_set_off || opens_aside(text) => {
                is_missing |= states_something(text);
            }
            _ => is_missing = true,
        }
    }
    if is_missing || meanings.is_empty() || meanings.contains(&Meaning::Passes) {
        is_missing |= !failures.is_empty();
    } else {
        failures.append(&mut meanings);
        meanings = failures;
    }
    let expected: Vec<Expectation> = meanings.iter().filter_map(Meaning::expectation).collect();
    let passes = meanings.contains(&Meaning::Passes);
    let expects = match (expected.len(), passes) {
        (0, _) => None,
        (1, false) => expected.into_iter().next(),
        (_, false) => Some(Expectation::All(expected)),
        (_, true) => {
            let all = std::iter::once(Expectation::Passes).chain(expected);
            Some(Expectation::All(all.collect()))
        }
    };
    Stated {
        expects,
        unchecked: is_missing.then(|| text.to_owned()),
        is_understood: !meanings.is_empty(),
    }
}

/// Parses the text before a command, which must be one form as a whole: "Must fail", "No matches",
/// "Expected: 3".
pub(super) fn introduced(before: &str, subject: Subject) -> Option<Stated> {
    let text = without_joints(before);
    let texts = [
        text,
        without_subject(text),
        without_subject(without_asking(text)),
    ];
    let mut meanings = texts
        .into_iter()
        .filter_map(|text| meaning(text, true, subject));
    let meaning = meanings
        .next()
        .filter(|meaning| !subject.is_several || *meaning == Meaning::Passes)?;
    (!(subject.is_hedged && meaning.accepts_failure())).then(|| Stated {
        expects: meaning.expectation(),
        unchecked: None,
        is_understood: true,
    })
}

/// Strips what the statement is about, which is the command itself.
fn without_subject(text: &str) -> &str {
    let subjects = [
        "this command",
        "the command",
        "the tests",
        "the test",
        "the build",
        "the output",
        "this",
        "it",
        "tests",
        "test",
        "command",
        "output",
        "build",
        "result",
        "and this",
    ];
    let without = |subject: &&str| {
        let start = text.get(..subject.len())?;
        let rest = text.get(subject.len()..)?;
        let rest = rest.strip_prefix([' ', ':'])?;
        start.eq_ignore_ascii_case(subject).then(|| rest.trim())
    };
    subjects.iter().find_map(without).unwrap_or(text)
}

/// Returns whether a text without a command states a result.
pub(super) fn is_stated(line: &str) -> bool {
    let text = without_joints(line);
    let subject = Subject::default();
    let passes = meaning(text, false, subject) == Some(Meaning::Passes);
    !passes && states_something(text)
}

/// Returns whether the text after a span says not to run it.
pub(super) fn is_not_meant(after: &str) -> bool {
    let text = after.trim_start().to_lowercase();
    ["is not needed", "not needed", "is not required"]
        .iter()
        .any(|words| text.starts_with(words))
}

/// Returns whether a condition or a negation precedes a command in the same sentence.
pub(super) fn is_hedged(before: &str) -> bool {
    // Every second piece is code.
    let prose: Vec<&str> = before.split('`').step_by(2).collect();
    let prose = prose.join(" ").replace(". ", "\n").to_lowercase();
    let sentence = prose.rsplit([';', ':', '\n']).next().unwrap_or(&prose);
    sentence.split_whitespace().any(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_negation = words::NEGATIONS.contains(&word);
        is_negation || words::CONDITIONS.contains(&word) || word.ends_with("n't")
    })
}

/// Returns whether a dash or the like introduces the text as the result.
fn is_set_off(after: &str) -> bool {
    let after = after.trim_start();
    after.starts_with(['—', '–', '-', '→', '=', ':', '(', '>', '<', '≥', '≤'])
}

/// Returns whether a text is joined to the command as another thing to do or to see.
fn is_added(after: &str) -> bool {
    let after = after.trim_start();
    let first = after.split_whitespace().next().unwrap_or_default();
    after.starts_with([';', ',', '.', '+']) || ["and", "AND", "then", "&&"].contains(&first)
}

/// Strips the punctuation and words that join a text to its surroundings.
fn without_joints(text: &str) -> &str {
    let mut text = text.trim();
    loop {
        let is_arrow = text.starts_with("->");
        let rest = text.trim_start_matches(|c: char| {
            c.is_whitespace() || (matches!(c, '—' | '–' | '-' | ':' | ';' | ',' | '.') && !is_arrow)
        });
        let rest = rest.trim_end_matches(|c: char| c.is_whitespace() || ".;,:—–-✅".contains(c));
        let last = rest.rsplit(char::is_whitespace).next().unwrap_or_default();
        let joints = [
            "and", "AND", "or", "OR", "nor", "then", "also", "plus", "+", "&&", "&",
        ];
        let is_joint = joints.contains(&last);
        let rest = if is_joint {
            &rest[..rest.len() - last.len()]
        } else {
            rest
        };
        if rest == text {
            return text;
        }
        text = rest;
    }
}

/// Strips parentheses around the whole text.
fn unwrapped(text: &str) -> &str {
    let inner = text
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'));
    match inner {
        Some(inner) if !inner.contains(['(', ')']) => inner.trim(),
        _ => text,
    }
}
