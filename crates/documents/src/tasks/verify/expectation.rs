//! What the text behind a command says that it gives.

use regreen_model::{Comparison, Expectation};

/// Words that lead from a command to what it gives.
const VERBS: &[&str] = &[
    "returns", "return", "returned", "outputs", "output", "prints", "print", "shows", "show",
    "gives", "finds", "has", "find", "yields", "reports", "equals", "is", "be", "expect",
    "expected", "expects", "result", "count", "contains", "includes", "→", "->", "=>", "==", "=",
];
const SHOWN: &[&str] = &["shows", "show", "reports"];
/// Words without a meaning of their own here.
const FILLERS: &[&str] = &[
    "should", "must", "will", "and", "which", "that", "it", "to", "still", "now", "exactly",
    "value", "of", "a", "the",
];
const COMPARISONS: &[(&str, Comparison)] = &[
    (">=", Comparison::AtLeast),
    ("≥", Comparison::AtLeast),
    ("at least", Comparison::AtLeast),
    ("<=", Comparison::AtMost),
    ("≤", Comparison::AtMost),
    ("at most", Comparison::AtMost),
    (">", Comparison::MoreThan),
    ("more than", Comparison::MoreThan),
    ("greater than", Comparison::MoreThan),
    ("<", Comparison::LessThan),
    ("less than", Comparison::LessThan),
    ("fewer than", Comparison::LessThan),
];
const NOTHING: &[&str] = &[
    "no output",
    "empty output",
    "nothing",
    "empty",
    "no results",
    "no result",
    "zero results",
];
const MATCHES: &[&str] = &[
    "matches",
    "match",
    "results",
    "hits",
    "occurrences",
    "lines",
];
/// Words that say that a failure is over.
const END_OF_TROUBLE: &[&str] = &["no more", "no longer", "any more", "anymore"];
const PASSES: &[&str] = &["passes", "pass", "succeeds", "succeed", "works", "is green"];
const FAILS: &[&str] = &[
    "fails",
    "fail",
    "not pass",
    "returns non-zero",
    "returns nonzero",
    "non-zero",
    "does not pass",
    "exits non-zero",
    "exits nonzero",
    "exit non-zero",
    "non-zero exit",
];

/// Returns what is judged instead of exit code 0, if the text states it.
pub(super) fn stated(after: &str) -> Option<Expectation> {
    let clause = clause(after);
    if END_OF_TROUBLE.iter().any(|words| clause.contains(words)) {
        return None;
    }
    exit_code(clause)
        .or_else(|| starts_with_any(clause, FAILS).then_some(Expectation::Fails))
        .or_else(|| without_verb(clause, is_set_off(after)))
        .or_else(|| behind_verb(clause))
        .or_else(|| compared_by_sign(clause))
}

/// Returns whether a dash or the like says that what follows is the result.
fn is_set_off(after: &str) -> bool {
    let after = after.trim_start_matches([' ', '\t']);
    !after.starts_with(|c: char| c.is_alphanumeric() || c == '\n')
}

/// Returns whether the text says anything about the result that is understood.
pub(super) fn is_stated(after: &str) -> bool {
    let clause = clause(after);
    stated(after).is_some()
        || starts_with_any(clause, PASSES)
        || starts_with_any(clause, &["exit", "exits"])
}

/// Returns whether the text before a span says that the span is what the command before it gives.
pub(super) fn introduces_output(before: &str) -> bool {
    let before = before
        .trim()
        .trim_end_matches([':', '"', '('])
        .trim_end()
        .to_lowercase();
    let last = before
        .rsplit(|c: char| c.is_whitespace())
        .next()
        .unwrap_or_default();
    VERBS.contains(&last)
}

pub(super) fn of_output(code: &str) -> Expectation {
    compared(code, true).unwrap_or_else(|| Expectation::Outputs(code.to_owned()))
}

/// Returns whether the text behind a span says that it is not to be run.
pub(super) fn is_not_meant(after: &str) -> bool {
    starts_with_any(
        clause(after),
        &["is not needed", "not needed", "is not required"],
    )
}

/// Returns the first statement of a text, without punctuation and fillers before it.
fn clause(after: &str) -> &str {
    // What stands on the next line is another statement, or the next item of a list.
    let line = after.lines().next().unwrap_or_default().trim_start();
    let line = line.trim_start_matches(|c: char| {
        c.is_whitespace() || "—–-:;,.()".contains(c) && !line.starts_with("->")
    });
    let end = [
        "; ", ". ", ", ", " && ", " (", ") ", " and ", " — ", " – ", " - ", " for ", " in ",
    ]
    .iter()
    .filter_map(|stop| line.find(stop))
    .min();
    let clause = line[..end.unwrap_or(line.len())].trim_end_matches(['.', ';', ',', ')', ' ']);
    without_fillers(clause)
}

fn without_fillers(mut text: &str) -> &str {
    while let Some(rest) = FILLERS.iter().find_map(|filler| strip_word(text, filler)) {
        text = rest;
    }
    text
}

fn strip_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let start = text.get(..word.len())?;
    let rest = &text[word.len()..];
    if !start.eq_ignore_ascii_case(word) {
        return None;
    }
    let is_sign = !word.ends_with(char::is_alphanumeric);
    (rest.is_empty() || is_sign || rest.starts_with([' ', ':']))
        .then(|| rest.trim_start_matches([' ', ':']))
}

fn starts_with_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| strip_word(text, word).is_some())
}

/// `exits 2`, `exit code 2`, `exits with status 2`. Exit 0 is what is judged anyway.
fn exit_code(clause: &str) -> Option<Expectation> {
    let clause = strip_word(clause, "returns").unwrap_or(clause);
    let mut rest = strip_word(clause, "exits").or_else(|| strip_word(clause, "exit"))?;
    while let Some(shorter) = ["with", "code", "status", "is", "of"]
        .iter()
        .find_map(|word| strip_word(rest, word))
    {
        rest = shorter;
    }
    let (number, _) = number(rest)?;
    (number != 0).then_some(Expectation::Exits(number))
}

/// `0 matches`, `no output`, `no matches`: no verb needed.
fn without_verb(clause: &str, is_set_off: bool) -> Option<Expectation> {
    if starts_with_any(clause, NOTHING) {
        return Some(Expectation::NoOutput);
    }
    let (count, rest) = match strip_word(clause, "no").or_else(|| strip_word(clause, "zero")) {
        Some(rest) => (0, rest),
        None => number(clause)?,
    };
    if starts_with_any(rest, MATCHES) {
        return Some(Expectation::Matches(count));
    }
    (is_set_off && rest.is_empty()).then_some(Expectation::Returns(Comparison::Equal, count))
}

/// `returns 0`, `→ 3`, `should be ≤ 3`, `outputs "ok"`.
fn behind_verb(clause: &str) -> Option<Expectation> {
    let rest = VERBS.iter().find_map(|verb| strip_word(clause, verb))?;
    let rest = without_fillers(rest);
    let inner = VERBS
        .iter()
        .find_map(|verb| strip_word(rest, verb))
        .unwrap_or(rest);
    let is_shown = starts_with_any(clause, SHOWN);
    without_verb(inner, true)
        .or_else(|| compared(inner, is_shown))
        .or_else(|| counted(clause, inner))
        .or_else(|| quoted(inner))
        .or_else(|| one_word(clause, inner))
}

/// `>= 5` right behind a command.
fn compared_by_sign(clause: &str) -> Option<Expectation> {
    let has_sign = COMPARISONS
        .iter()
        .any(|(sign, _)| strip_word(clause, sign).is_some());
    has_sign.then(|| compared(clause, false))?
}

/// `prints hello`: one word that is not prose.
fn one_word(clause: &str, text: &str) -> Option<Expectation> {
    let is_printed = starts_with_any(clause, &["prints", "outputs"]);
    let is_word = !text.is_empty() && !text.contains(char::is_whitespace);
    (is_printed && is_word).then(|| Expectation::Outputs(text.to_owned()))
}

/// `3`, `>= 3`, `>= 3 sections`. What is merely shown ("shows 3 new tests") counts something
/// else than what the command prints.
fn compared(text: &str, is_shown: bool) -> Option<Expectation> {
    let sign = COMPARISONS
        .iter()
        .find_map(|(sign, comparison)| Some((*comparison, strip_word(text, sign)?)));
    let (comparison, rest) = sign.unwrap_or((Comparison::Equal, text));
    let (number, unit) = number(rest)?;
    let is_number = unit.is_empty() || (sign.is_some() && !is_shown);
    is_number.then_some(Expectation::Returns(comparison, number))
}

/// `returns 2 files`, `→ 0 errors`: so many lines, or the number that a counter prints.
fn counted(clause: &str, text: &str) -> Option<Expectation> {
    let is_explicit = starts_with_any(clause, &["returns", "return", "→", "->", "=>", "equals"]);
    let (number, _) = number(text)?;
    is_explicit.then_some(Expectation::Matches(number))
}

fn quoted(text: &str) -> Option<Expectation> {
    let inner = text.strip_prefix('"')?.split_once('"')?.0;
    (!inner.is_empty()).then(|| Expectation::Outputs(inner.to_owned()))
}

/// A number and what follows it.
fn number(text: &str) -> Option<(u64, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let number = text[..end].parse().ok()?;
    let rest = &text[end..];
    (rest.is_empty() || rest.starts_with(' ')).then(|| (number, rest.trim()))
}
