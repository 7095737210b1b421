//! The parts into which an agent splits its work.

/// The prompt asks for at most this many parts.
const MOST: usize = 10;
const PART_CHARS: usize = 2000;

/// Returns the items of a numbered or bulleted list outside of code; empty unless there are at
/// least two.
#[must_use]
pub fn parts(message: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut in_code = false;
    for line in message.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            in_code = !in_code;
        } else if !in_code {
            take(&mut parts, line);
        }
    }
    parts.retain(|part| !part.is_empty());
    match parts.len() {
        2..=MOST => parts,
        _ => Vec::new(),
    }
}

/// Starts an item with the line, or continues the last one if the line is indented.
fn take(parts: &mut Vec<String>, line: &str) {
    let is_indented = line.starts_with([' ', '\t']);
    let text = line.trim();
    match (item(text), parts.last_mut()) {
        (Some(text), None) => parts.push(cut(text)),
        (Some(text), Some(_)) if !is_indented => parts.push(cut(text)),
        (_, Some(last)) if is_indented && !text.is_empty() => {
            *last = cut(&format!("{last} {text}"));
        }
        _ => {}
    }
}

/// Returns the text after `1.`, `1)`, `-` or `*`.
fn item(line: &str) -> Option<&str> {
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (mark, rest) = line.split_at(digits);
    let rest = match mark {
        "" => rest.strip_prefix(['-', '*'])?,
        _ => rest.strip_prefix(['.', ')'])?,
    };
    let text = rest.strip_prefix([' ', '\t'])?.trim();
    (!text.is_empty()).then_some(text)
}

fn cut(text: &str) -> String {
    text.chars().take(PART_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use regreen_model::FailureRecord;

    use crate::{DelegateBrief, PromptReason, Prompts};

    #[test]
    fn a_list_is_found_in_any_text() {
        for list in [
            "1. one\n2. two\n   and a half\n",
            "Here:\n\n1) one\n2) two\n\n   and a half\n\nGood luck!",
            "- one\n* two and a half",
            "```\n1. no\n```\n1. one\n2. two and a half\n",
        ] {
            assert_eq!(parts(list), ["one", "two and a half"], "{list}");
        }
    }

    #[test]
    fn one_item_too_many_items_and_prose_are_not_parts() {
        let many: String = (1..12).map(|n| format!("{n}. x\n")).collect();
        let none = ["", "It cannot be divided.", "1. only one", "-x\n-y", &many];
        for text in none {
            assert_eq!(parts(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn the_prompt_printed_back_is_not_an_answer() {
        let brief = DelegateBrief {
            prompt: "Do it all.",
            attempt: 2,
            max_attempts: 3,
        };
        let failure = FailureRecord::new("it had not finished after 2s");
        let occasion = PromptReason::Split(Some(&failure));
        let asked = Prompts::default().delegated(&brief, &occasion, false);
        assert!(asked.starts_with("Do it all.\n\n## Split this task\n"));
        assert_eq!(parts(&asked), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn no_text_gives_too_many_parts(text in "([0-9]{1,3}[.)] \\PC{0,9}|[-*`~ ]|\\PC|\n){0,40}") {
            let found = parts(&text);
            prop_assert!(found.len() <= MOST && found.len() != 1);
            prop_assert!(found.iter().all(|part| !part.contains('\n')));
        }
    }
}
