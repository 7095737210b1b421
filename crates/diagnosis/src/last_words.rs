//! An agent's last words, as evidence for the next attempt.

use std::sync::LazyLock;

use regex::Regex;
use regreen_model::{OutputKind, TaskId, Transcript};

use crate::failure_block::before_block;
use crate::prose::sentences;
use crate::signal::is_signal_line;

/// How much of the end of a message is kept.
const KEPT_BYTES: usize = 2 * 1024;
/// Longer questions aren't worth quoting.
const MAX_QUESTION: usize = 300;

/// Returns the end of what the agent said about the task, without its signals and its failure
/// block, which are read elsewhere.
pub(crate) fn last_words(transcript: &Transcript, task: Option<&TaskId>) -> String {
    // The output of commands belongs to the project.
    if transcript.output_kind == OutputKind::Commands {
        return String::new();
    }
    let words = match transcript.own_words.trim() {
        "" => &transcript.final_message,
        _ => &transcript.own_words,
    };
    let words = match task {
        Some(task) => before_block(words, task),
        None => words.clone(),
    };
    let own: Vec<&str> = words.lines().filter(|line| !is_signal_line(line)).collect();
    let end = end_of(own.join("\n").trim());
    // An agent that was ended has no last words.
    match &transcript.last_activity {
        Some(activity) if words.trim().is_empty() => activity.clone(),
        _ => end,
    }
}

/// Returns the last whole lines of a text, up to the limit.
fn end_of(text: &str) -> String {
    let start = text.ceil_char_boundary(text.len().saturating_sub(KEPT_BYTES));
    if start == 0 {
        return text.to_owned();
    }
    let rest = &text[start..];
    let whole = rest.split_once('\n').map_or(rest, |(_, whole)| whole);
    format!("…\n{}", whole.trim_start())
}

/// Matches words that ask for something specific.
static ASKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:which|what|where|who|whom|whose|when|how (?:many|much|long|often|should)|should|do you|does|could you|can you|would you|is (?:it|there|the|this)|are (?:the|there)|shall|must|may i|or)\b",
    )
    .ok()
});

/// Matches sentences that ask without a question mark.
static REQUESTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:please (?:\w+ )?(?:provide|specify|clarify|tell|confirm|choose|decide|share|send|give|add|let me know|advise|point)|(?:let me know|tell me|i need to know|i(?:'m| am) (?:not sure|unsure)|i (?:do not|don't) know|it(?:'s| is) (?:not clear|unclear)) (?:which|what|where|who|whether|how|if)|i need (?:you to|your|the|a|an|more)|waiting for (?:your|an answer|a decision|input)|without (?:knowing|that information)|not (?:specified|defined|stated) )\b",
    )
    .ok()
});

/// Matches generic questions that could end any message.
static EMPTY_QUESTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)^\W*(?:
            (?:does|do|did)\s(?:that|this|it)\s(?:sound|make|look|work|help|answer).*
          | (?:sounds?|looks?)\s(?:good|ok\w*|right|fine).*
          | (?:ok(?:ay)?|right|ready|agreed|deal|makes\ssense|any\s(?:questions|thoughts|objections|preferences?))
          | (?:is\sthere\s)?anything\selse.*
          | (?:shall|should|may|can|could)\s(?:i|we)\s(?:now\s)?(?:proceed|continue|go\son|go\sahead|start|begin|carry\son)(?:\s(?:with\s(?:this|that|it)|now|anyway))?
          | (?:how|what)\s(?:would|do|should|shall)\s(?:you|we|i)\s(?:like|want|wish|prefer)?\s?(?:me\s)?(?:to\s)?(?:proceed|continue|go\son|do|go\sahead)(?:\s(?:here|next|now))?
          | what\s(?:do\syou|would\syou)\s(?:think|say|prefer)
          | (?:can|could|would|will)\syou\s(?:please\s)?(?:help|confirm|advise|clarify|let\sme\sknow)(?:\s(?:me|this|that|please))?
          | (?:would|do)\syou\s(?:like|want)\sme\sto\s(?:proceed|continue|go\sahead|do\s(?:that|this|so))
        )\W*$",
    )
    .ok()
});

/// Returns the sentence of a message that asks a person something; if there are several, the most
/// informative one.
pub(crate) fn asking_sentence(message: &str) -> Option<String> {
    let sentences = sentences(message);
    let all = || {
        let own = sentences.lines().map(plain_sentence);
        own.filter(|sentence| !sentence.is_empty() && sentence.len() <= MAX_QUESTION)
    };
    let questions = all().filter(|sentence| is_question(sentence));
    let weighed = questions.map(|sentence| (weight(sentence), sentence));
    // Among equals, the first counts.
    let best = weighed.rev().max_by_key(|(weight, _)| *weight);
    let requests = || all().find(|sentence| is_match(&REQUESTS, sentence));
    match best {
        Some((weight, question)) if weight > 0 => Some(question),
        other => requests().or(other.map(|(_, question)| question)),
    }
    .map(str::to_owned)
}

/// Removes the marks of lists, headings and emphasis around a sentence.
fn plain_sentence(sentence: &str) -> &str {
    let text = sentence.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let text = match text[digits..].strip_prefix(['.', ')']) {
        Some(rest) if digits > 0 => rest,
        _ => text,
    };
    text.trim_start_matches(['-', '*', '+', '#', '•', '_', ' '])
        .trim_end_matches(['*', '_', ' '])
}

fn is_question(sentence: &str) -> bool {
    let end = sentence.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '?' | '？'));
    end.ends_with(['?', '？'])
}

/// Weighs how informative a question is: names and choices count, words count, empty forms don't.
fn weight(question: &str) -> i32 {
    if is_match(&EMPTY_QUESTION, question) {
        return 0;
    }
    let words = question.split_whitespace().count().min(12);
    let named = question.contains(['`', '"', '/', '\'', '“']) || question.contains(" or ");
    let words = i32::try_from(words).unwrap_or_default();
    words + 6 * i32::from(named) + 4 * i32::from(is_match(&ASKS, question))
}

fn is_match(regex: &LazyLock<Option<Regex>>, text: &str) -> bool {
    regex.as_ref().is_some_and(|regex| regex.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn asks(message: &str, expected: &str) {
        assert_eq!(asking_sentence(message).as_deref(), Some(expected));
    }

    #[test]
    fn the_question_that_says_most_is_quoted() {
        asks(
            "I looked at the code. Should the cache live in Redis or in memory? Shall I proceed?",
            "Should the cache live in Redis or in memory?",
        );
        asks(
            "Before I start:\n\n1. **Which of the two schemas is right?**\n2. OK?\n",
            "Which of the two schemas is right?",
        );
        asks(
            "How would you like me to proceed? I found two files. Is `a.toml` or `b.toml` the one in use?",
            "Is `a.toml` or `b.toml` the one in use?",
        );
        asks(
            "The port is missing from the task. Please tell me which port the server listens on. Ready?",
            "Please tell me which port the server listens on.",
        );
        asks("Shall I proceed?", "Shall I proceed?");
    }

    #[test]
    fn a_message_without_a_question_asks_nothing() {
        assert_eq!(asking_sentence("All is well. The tests pass."), None);
        assert_eq!(asking_sentence("```\nwhy?\n```"), None);
    }

    #[test]
    fn last_words_are_the_end_without_signal_and_block() {
        let id = TaskId::parse("1.1").unwrap();
        let said = |message: &str| {
            let transcript = Transcript {
                final_message: message.to_owned(),
                ..Transcript::default()
            };
            last_words(&transcript, Some(&id))
        };
        assert_eq!(
            said("The compiler exploded.\n\nTASK_COMPLETE\n"),
            "The compiler exploded."
        );
        assert_eq!(
            said("It broke.\nTask 1.1: x FAILED\n- Error: e\n"),
            "It broke."
        );
        assert_eq!(said("**TASK_COMPLETE**"), "");
        let long = said(&"one more line\n".repeat(1000));
        assert!(long.len() <= KEPT_BYTES + 8 && long.starts_with("…\none more line\n"));
    }
}
