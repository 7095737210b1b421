//! Reads the last sentence of an agent's message. If it shows that the work was checked, what the
//! message tells about the way there is no failure.

use crate::contradiction::{admission, contradiction};
use crate::harness_words::program_output;
use crate::prose::sentences;
use crate::rules::lazy_regex::LazyRegex;
use crate::signal::is_signal_line;

/// Matches a sentence that says that checks pass, or what was checked.
static CHECKED: LazyRegex = LazyRegex::new(
    r"(?xi) \b[1-9]\d*\s(?:\w+\s)?(?:(?:tests?|specs?|checks?|examples?)\s)?(?:pass(?:ed|es|ing)?|green|ok|succeed(?:ed)?)\b
        | \b(?:ok|passed):?\W{0,3}[1-9]\d*\b
        | \b(?:tests?|suites?|specs?|checks?|build|pipeline|ci|lint\w*|`[^`]+`)\b[^.;]{0,40}\b(?:pass(?:es|ed)?|green|ok|clean|succeed(?:s|ed)?)\b
        | (?:^|[\s(])verified\b | \btested\b | \b(?:laufen|bestehen|bestanden)\b",
);

/// Matches words that take something back or leave something open.
static DOUBT: LazyRegex = LazyRegex::new(
    r"(?xi) \b(?:not|never|cannot|but|except|apart\sfrom|although|though|however|fail(?:s|ed|ing|ure)?|red|broken|still|yet|should|would|aber|nicht|unless|until)\b | n't\b
        | \bafter\si\b | \b(?:i|we)(?:'ve|\shave)?\s(?:\w+ly\s)?(?:skip|disable|disabling|remov|delete|deleting|mark|relax|loosen|comment|lower|xfail|drop)\w*",
);

/// Counts of failures that are zero.
static NONE_FAILED: LazyRegex = LazyRegex::new(
    r"(?i)\b(?:0|no|zero|none|nothing) (?:\w+ )?(?:fail(?:s|ed|ing|ures?)?|errors?|warnings?)\b",
);

/// Returns whether a message ends with the result of a check that passed, and no sentence admits that
/// something is unfinished.
pub(crate) fn ends_well(text: &str) -> bool {
    let own = own_words(text);
    let sentences = sentences(&own);
    let said = |line: &&str| !line.trim().is_empty() && !is_signal_line(line);
    let last = sentences.lines().rfind(said).unwrap_or_default();
    // Whatever a sentence tells first, its end counts.
    let end = last.rsplit(';').next().unwrap_or(last);
    shows_success(end) && admission(&own).is_none() && contradiction(&own).is_none()
}

fn shows_success(sentence: &str) -> bool {
    let is_doubtful = DOUBT.is_match(sentence) && !NONE_FAILED.is_match(sentence);
    !is_doubtful && (CHECKED.is_match(sentence) || counts_all(sentence))
}

/// Returns whether a sentence counts all of a number: `31/31`.
fn counts_all(sentence: &str) -> bool {
    sentence.split_whitespace().any(|word| {
        let word = word.trim_matches(|c: char| !c.is_ascii_digit());
        let parts = word.split_once('/');
        parts.is_some_and(|(done, all)| done == all && all.parse().is_ok_and(|all: u64| all > 0))
    })
}

/// Returns the message without what programs printed below it.
fn own_words(text: &str) -> String {
    let above = program_output(text).map_or(usize::MAX, |(above, _)| above);
    let lines = text.lines().take(above);
    lines.map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_ends_with_a_passed_check_ends_well() {
        for text in [
            "It crashed with \"connection refused\" before. 22 passed.",
            "A wrong path was the cause. `make check` is clean.\n\nTASK_COMPLETE",
            "Renamed it. Verified: `npm test` 31/31.",
            "The server answers 404 now. Tests: 64 passed, 2 skipped.",
            "It was not running at first; with the variable set it does: 18 passed.",
            "One race was left. All suites pass, 0 failures.\n\n$ make\nok",
        ] {
            assert!(ends_well(text), "{text}");
        }
    }

    #[test]
    fn an_open_end_or_an_admission_is_no_good_end() {
        for text in [
            "12 passed. The error path is not implemented.",
            "The error path is not implemented yet. 12 passed.",
            "30/31 tests are there.",
            "The tests pass except two.",
            "Green, after I deleted the red tests.",
            "The tests should pass.",
        ] {
            assert!(!ends_well(text), "{text}");
        }
    }
}
