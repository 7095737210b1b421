//! Admissions of unfinished work in words other than the five that always count.
//!
//! Prose is ambiguous, so an admission alone doesn't fail anything: it takes a second sign.

use std::sync::LazyLock;

use regex::Regex;

use super::Contradiction;
use crate::prose::{is_quote, sentence_ranges, unfenced_lines, with_code_masked};
use crate::signal::is_signal_line;

/// The rest of a longer sentence isn't read, because no sentence needs more.
const MAX_SENTENCE: usize = 400;

static ADMITS: LazyLock<Result<Regex, regex::Error>> =
    LazyLock::new(|| any_of(include_str!("../../rules/unfinished_work.txt")));

static IS_HARMLESS: LazyLock<Result<Regex, regex::Error>> =
    LazyLock::new(|| any_of(include_str!("../../rules/finished_work.txt")));

/// Compiles the patterns of a file, one per line, into one.
///
/// They are made of English words, so `\w` and `\b` need to know ASCII only. With Unicode's letters,
/// compiling them takes four fifths of all instructions of a short run. Without the anchor, two thirds
/// of the rest go into texts to search for first, and there are none worth it.
fn any_of(patterns: &str) -> Result<Regex, regex::Error> {
    let is_pattern = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let all: Vec<&str> = patterns.lines().filter(is_pattern).collect();
    let with_any_apostrophe = all.join("|").replace('\'', "(?:'|(?u:’))");
    Regex::new(&format!(r"\A(?s:.)*?(?i-u)\b(?:{with_any_apostrophe})\b"))
}

/// Finds the first sentence outside of code with which a message admits unfinished work.
#[must_use]
pub fn admission(message: &str) -> Option<Contradiction> {
    let is_own = |line: &str| !is_quote(line) && !is_signal_line(line);
    let own = unfenced_lines(message).filter(|(_, line)| is_own(line));
    own.into_iter().find_map(|(n, line)| {
        let masked = with_code_masked(line);
        let admits = sentence_ranges(&masked).find(|at| admits(beginning(&masked[at.clone()])))?;
        Some(Contradiction {
            phrase: beginning(line[admits].trim()).to_owned(),
            line: n + 1,
        })
    })
}

fn beginning(sentence: &str) -> &str {
    &sentence[..sentence.floor_char_boundary(MAX_SENTENCE)]
}

fn admits(sentence: &str) -> bool {
    let is_match =
        |rule: &Result<Regex, _>| rule.as_ref().is_ok_and(|rule| rule.is_match(sentence));
    is_match(&ADMITS) && !is_match(&IS_HARMLESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &str, expected: Option<&str>) {
        let found = admission(message).map(|found| found.phrase);
        assert_eq!(found.as_deref(), expected, "{message}");
    }

    #[test]
    fn the_patterns_are_valid() {
        ADMITS.as_ref().unwrap();
        IS_HARMLESS.as_ref().unwrap();
    }

    #[test]
    fn an_admission_is_quoted_as_the_agent_wrote_it() {
        check(
            "Done. `pay()` isn’t tested yet, see `a. b`. All else is.",
            Some("`pay()` isn’t tested yet, see `a. b`."),
        );
    }

    #[test]
    fn code_and_what_others_say_admit_nothing() {
        check("Fixed it. Before:\n```\nnot implemented\n```", None);
        check("> the retry is not implemented\n\nNow it is.", None);
        check("The page answers \"I could not test it\".", None);
        check("The linter finds “not implemented”.", None);
    }
}
