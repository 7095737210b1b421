//! Finds the question at the end of an agent's message, to which nobody replies.

use std::sync::LazyLock;

use regex::Regex;

use crate::clauses::wishes_to_know;
use crate::prose::sentences;

/// How many sentences, not counting lists of options, may follow a question that is still open.
const MAX_AFTER: usize = 2;

/// Matches sentences that ask for something without a question mark.
static REQUEST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let what = "(?:input|answers?|repl(?:y|ies)|responses?|decisions?|choice|confirmation|\
        clarifications?|approval|instructions?|guidance|directions?|feedback|go-ahead|permissions?)";
    Regex::new(&format!(
        r"(?xi)
          \b(?:await(?:ing|s)?|wait(?:ing|s)?\sfor|pending)\s(?:\S+\s){{0,3}}{what}\b
        | \bplease\s(?:\w+\s){{0,2}}(?:confirm|clarify|advise|specify|decide|choose|pick|select|answer|approve|respond|reply|tell\sme|let\sme\sknow|indicate)\b
        | \b(?:let\sme\sknow|tell\sme)\s(?:which|whether|what|how|who|where|when|if\s(?:you(?:'d|\swould)?\s(?:want|prefer|like)|(?:i|we|it|this|that)\s(?:should|is|shall)))\b
        | \b(?:i|we)(?:'ll|\swill|\swould)?\s(?:need|require)\s(?:you\sto\s(?:\w+\s)?(?:confirm|decide|choose|tell|clarify|specify|approve|pick|say)|(?:your|an?|some|more|further)\s(?:\w+\s)?{what})\b
        | \bwarte\s(?:\w+\s){{0,3}}auf\s(?:\w+\s){{0,3}}(?:antwort|bestätigung|entscheidung|freigabe|rückmeldung)\b"
    ))
    .ok()
});

/// Matches polite questions, after which nothing is missing.
static COURTESY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:any(?:thing)? (?:other|else|further|more)|(?:any|further|more) questions|questions or concerns|happy to help|how does (?:that|this) (?:look|sound)|sounds? good|look good)\b",
    )
    .ok()
});

/// Matches sentences after a question in which the agent answers it itself.
static OWN_ANSWER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:i|we)(?:'ll|'ve|'m| will| have| am)? ?(?:assum\w+|chose|picked|decided|went with|go(?:ing)? with|us(?:e|ed|ing)|kept|keep|default\w*)\b",
    )
    .ok()
});

/// Returns the sentence with which a message asks for an answer, if it stops there.
#[must_use]
pub fn question(message: &str) -> Option<String> {
    let text = sentences(message);
    let mut after = 0;
    let prose = text.lines().map(str::trim).filter(|line| !line.is_empty());
    for sentence in prose.rev() {
        if asks(sentence) {
            return Some(plain(sentence));
        }
        if matches(&OWN_ANSWER, sentence) {
            return None;
        }
        // A list of options follows its question.
        after += usize::from(!is_list_item(sentence));
        if after > MAX_AFTER {
            return None;
        }
    }
    None
}

fn asks(sentence: &str) -> bool {
    let end = sentence.trim_end_matches(|c: char| "\"'`*_)]”’".contains(c) || c.is_whitespace());
    // A word must precede the mark: `cache[key]?` or `a ? b` is code.
    let is_question = end.ends_with(['?', '？']) && sentence.split_whitespace().count() > 1;
    let is_question = is_question || end.ends_with('？');
    let is_request = || matches(&REQUEST, sentence) || wishes_to_know(sentence);
    (is_question || is_request()) && !matches(&COURTESY, sentence)
}

fn is_list_item(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = rest.len() < line.len() && rest.starts_with(['.', ')']);
    let lettered = line.strip_prefix(|c: char| c.is_ascii_alphabetic());
    let is_lettered = lettered.is_some_and(|rest| rest.starts_with([')', '.']));
    is_numbered || is_lettered || line.starts_with(['-', '*', '•', '+', '|'])
}

fn plain(sentence: &str) -> String {
    let text = sentence.trim_start_matches(['-', '*', '•', '#', ' ']);
    text.replace("**", "").trim().to_owned()
}

fn matches(regex: &LazyLock<Option<Regex>>, text: &str) -> bool {
    regex.as_ref().is_some_and(|regex| regex.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_can_be_asked_about() {
        for message in [
            "✓ Done",
            "é) x",
            "？",
            "日本語です",
            "🦀. Which one?\n✓ a\n✓ b",
        ] {
            let _any = question(message);
        }
        let options = "Which one should I use?\nA) the first\nb. the second\n1. the third";
        assert_eq!(
            question(options).as_deref(),
            Some("Which one should I use?")
        );
    }

    #[test]
    fn a_message_that_stops_to_ask_asks() {
        for (message, asked) in [
            (
                "Awaiting your input on the database engine.",
                "Awaiting your input on the database engine.",
            ),
            (
                "I read the spec. Which database should I use?\n1. PostgreSQL\n2. SQLite",
                "Which database should I use?",
            ),
            (
                "Two files match.\n\n**Should I change both?**\n",
                "Should I change both?",
            ),
            (
                "Please let me know whether the old API stays. I will continue then.",
                "Please let me know whether the old API stays.",
            ),
            (
                "I need your decision on the port before I go on.",
                "I need your decision on the port before I go on.",
            ),
            (
                "I'd like to know whether the limit is per request. I'll hold off until then.",
                "I'll hold off until then.",
            ),
            (
                "Waiting for further instructions.",
                "Waiting for further instructions.",
            ),
            (
                "Soll ich die alte API behalten?",
                "Soll ich die alte API behalten?",
            ),
            (
                "Welche Version gilt? Im Plan steht 18, im Image 20. Ich würde 20 nehmen, warte aber auf eine kurze \
                 Bestätigung.",
                "Ich würde 20 nehmen, warte aber auf eine kurze Bestätigung.",
            ),
            ("使用哪个数据库？", "使用哪个数据库？"),
            (
                "I could delete the table, but that loses data. Please confirm.",
                "Please confirm.",
            ),
        ] {
            assert_eq!(question(message).as_deref(), Some(asked), "{message}");
        }
    }

    #[test]
    fn a_message_that_goes_on_does_not_ask() {
        for message in [
            "",
            "Done. Is there anything else?",
            "Let me know if you have any questions.",
            "This feature cannot be enabled in demo mode.",
            "Should it be 80 or 8080? I assumed 8080 and wrote the file.",
            "Why did it fail? The port was taken. I freed it. Then I ran the tests. They pass.",
            "```\nwhich one?\n```\nThe script prints that.",
            "> Which one?\nThat is what the issue says.\nIt is solved.\nThe tests pass.",
            "The job waits for the lock.",
            "I added `a?.b`.",
        ] {
            assert_eq!(question(message), None, "{message}");
        }
    }
}
