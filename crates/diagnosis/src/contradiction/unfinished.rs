//! Admissions of unfinished work in words other than the five that always count.
//!
//! Prose is ambiguous, so an admission alone doesn't fail anything: it takes a second sign.

use std::sync::LazyLock;

use regex::Regex;

use super::Contradiction;
use crate::clauses::statement;
use crate::prose::{is_quote, sentence_ranges, unfenced_lines, with_code_masked};
use crate::question::question;
use crate::signal::is_signal_line;

/// The rest of a longer sentence isn't read, because no sentence needs more.
const MAX_SENTENCE: usize = 400;

type Rule = Result<Regex, regex::Error>;

static ADMITS: LazyLock<Rule> =
    LazyLock::new(|| any_of(include_str!("../../rules/unfinished_work.txt")));

static IS_HARMLESS: LazyLock<Rule> =
    LazyLock::new(|| any_of(include_str!("../../rules/finished_work.txt")));

static ADMITS_ELSEWHERE: LazyLock<Rule> = LazyLock::new(|| {
    any_word_of(include_str!(
        "../../rules/unfinished_work_other_languages.txt"
    ))
});

static IS_HARMLESS_ELSEWHERE: LazyLock<Rule> = LazyLock::new(|| {
    any_word_of(include_str!(
        "../../rules/finished_work_other_languages.txt"
    ))
});

static IS_FAILED_STATUS: LazyLock<Rule> = LazyLock::new(|| {
    let all = patterns(include_str!("../../rules/failed_status.txt"));
    Regex::new(&format!("(?i)^(?:{all})"))
});

/// Compiles the patterns of a file, one per line, into one.
///
/// They are made of English words, so `\w` and `\b` need to know ASCII only. With Unicode's letters,
/// compiling them takes four fifths of all instructions of a short run. Without the anchor, two thirds
/// of the rest go into texts to search for first, and there are none worth it.
fn any_of(text: &str) -> Rule {
    let with_any_apostrophe = patterns(text).replace('\'', "(?:'|(?u:’))");
    Regex::new(&format!(
        r"\A(?s:.)*?(?i-u)\b(?:{with_any_apostrophe})(?:\b|$| )"
    ))
}

/// Compiles patterns whose words may begin or end with a letter that isn't ASCII.
fn any_word_of(text: &str) -> Rule {
    let all = patterns(text);
    Regex::new(&format!(
        r"\A(?s:.)*?(?i)(?:\A|[ (:,;'’*_-])(?:{all})(?:$|[ .,;:!?)*_-])"
    ))
}

fn patterns(text: &str) -> String {
    let is_pattern = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let all: Vec<&str> = text.lines().filter(is_pattern).collect();
    all.join("|")
}

/// Finds the first sentence outside of code with which a message admits unfinished work: in words
/// that the rules list, or else by how it is built; or else the question that it ends with.
#[must_use]
pub fn admission(message: &str) -> Option<Contradiction> {
    let own =
        || unfenced_lines(message).filter(|(_, line)| !is_quote(line) && !is_signal_line(line));
    own()
        .find_map(|(n, line)| {
            let masked = with_code_masked(line);
            let admits = if is_failed_status(&masked) {
                0..line.len()
            } else {
                sentence_ranges(&masked).find(|at| admits(beginning(&masked[at.clone()])))?
            };
            Some(Contradiction {
                phrase: beginning(line[admits].trim()).to_owned(),
                line: n + 1,
            })
        })
        .or_else(|| stated(message))
        .or_else(|| open_question(own()))
}

/// Returns the sentence that states something against a success, in whatever words.
fn stated(message: &str) -> Option<Contradiction> {
    let stated = statement(message)?;
    Some(Contradiction {
        line: usize::try_from(stated.line).unwrap_or_default(),
        phrase: stated.text,
    })
}

/// The beginnings of questions that offer to do more.
const OFFERS: [&str; 6] = [
    "would you like",
    "do you want me",
    "want me to",
    "shall i continue",
    "should i continue",
    "should i proceed",
];

/// Returns the question that the author's own lines end with, except for an offer to do more.
fn open_question<'t>(own: impl Iterator<Item = (usize, &'t str)>) -> Option<Contradiction> {
    let is_said = |(_, line): &(usize, &str)| !line.trim().is_empty();
    let said: Vec<(usize, &str)> = own.filter(is_said).collect();
    let (n, last) = said.last()?;
    let phrase = question(last)?;
    let start = phrase.to_lowercase();
    let offers = OFFERS.iter().any(|offer| start.starts_with(offer)) && !start.contains(" or ");
    let is_last = last.trim_end_matches(['*', '_', ' ']).ends_with(&phrase);
    (is_last && !offers).then(|| Contradiction {
        phrase: beginning(&phrase).to_owned(),
        line: n + 1,
    })
}

fn beginning(sentence: &str) -> &str {
    &sentence[..sentence.floor_char_boundary(MAX_SENTENCE)]
}

fn is_match(rule: &Rule, text: &str) -> bool {
    rule.as_ref().is_ok_and(|rule| rule.is_match(text))
}

fn admits(sentence: &str) -> bool {
    is_match(&ADMITS, sentence) && !is_match(&IS_HARMLESS, sentence)
        || is_in_other_language(sentence)
            && is_match(&ADMITS_ELSEWHERE, sentence)
            && !is_match(&IS_HARMLESS_ELSEWHERE, sentence)
}

/// Words of other languages. The patterns for those are compiled only if one occurs.
const OTHER_WORDS: [&str; 27] = [
    "der",
    "das",
    "ich",
    "nicht",
    "noch",
    "ist",
    "sind",
    "wurde",
    "fehlgeschlagen",
    "gescheitert",
    "le",
    "les",
    "je",
    "pas",
    "est",
    "ont",
    "échoué",
    "échec",
    "el",
    "los",
    "las",
    "una",
    "falló",
    "pude",
    "muss",
    "müssen",
    "konnte",
];

fn is_in_other_language(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    words.any(|word| OTHER_WORDS.contains(&word))
}

/// Whether a line states that the task, or a part of it, failed or is open.
fn is_failed_status(line: &str) -> bool {
    let text = beginning(without_list_mark(line));
    is_match(&IS_FAILED_STATUS, text) && !is_match(&IS_HARMLESS, text)
}

/// Removes the marks of lists, tables, headings and emphasis before a line.
fn without_list_mark(line: &str) -> &str {
    let is_mark = |c: char| c.is_whitespace() || "*_#+|•-".contains(c);
    let text = line.trim_start_matches(is_mark);
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    match number.strip_prefix(['.', ')']) {
        Some(rest) if number.len() < text.len() => rest.trim_start_matches(is_mark),
        _ => text,
    }
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
        for rule in [
            &ADMITS,
            &IS_HARMLESS,
            &ADMITS_ELSEWHERE,
            &IS_HARMLESS_ELSEWHERE,
            &IS_FAILED_STATUS,
        ] {
            rule.as_ref().unwrap();
        }
    }

    #[test]
    fn an_admission_is_quoted_as_the_agent_wrote_it() {
        check(
            "Done. `pay()` isn’t tested yet, see `a. b`. All else is.",
            Some("`pay()` isn’t tested yet, see `a. b`."),
        );
    }

    #[test]
    fn a_status_that_is_not_good_is_an_admission() {
        for line in [
            "**Status:** BLOCKED",
            "TASK_FAILED",
            "- [ ] publish it",
            "1. Publish: not done",
            "| publish | ❌ |",
            "Partially done.",
        ] {
            check(line, Some(line));
        }
        check("Status: complete", None);
        check("- [x] publish it", None);
    }

    #[test]
    fn a_question_at_the_end_is_an_admission_and_an_offer_is_not() {
        let asks = "Which channel should I use?";
        check(&format!("Done.\n\nTASK_COMPLETE\n{asks}"), Some(asks));
        check(&format!("{asks} I chose the first.\n\nTASK_COMPLETE"), None);
        check("Done. Would you like me to go on with 1.2?", None);
        check("Anything else?", None);
    }

    #[test]
    fn code_and_what_others_say_admit_nothing() {
        check("Fixed it. Before:\n```\nnot implemented\n```", None);
        check("> the retry is not implemented\n\nNow it is.", None);
        check("The page answers \"I could not test it\".", None);
        check("The linter finds “not implemented”.", None);
    }
}
