//! The word with which an agent says that a task is done.

use anstream::adapter::strip_str;
use regreen_model::TaskId;

use crate::failure_block::has_failure_block;
use crate::prose::{fences, is_quote, unfenced_lines};

/// What an agent claims. Never more than a claim: whether it is true is checked elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signal {
    /// `TASK_COMPLETE`
    Complete,
    /// `ALL_TASKS_COMPLETE`
    AllComplete,
    /// `VERIFICATION_PASS`, of a `[VERIFY]` row.
    VerificationPass,
}

impl Signal {
    fn parse(word: &str) -> Option<Self> {
        match word {
            "TASK_COMPLETE" => Some(Self::Complete),
            "ALL_TASKS_COMPLETE" => Some(Self::AllComplete),
            "VERIFICATION_PASS" => Some(Self::VerificationPass),
            _ => None,
        }
    }
}

/// The signal that a final message gives for the task `id`; of several the last one.
///
/// It must be all of a line, blanks and emphasis (`**…**`, `` `…` ``) around it aside: agents
/// decorate it, and a word alone on its line is no mention. In doubt there is none, because
/// asking again is cheap: not in a fence, even one that is never closed; not in a quote, nor
/// in the lines that go on with it; not as a list item or with anything behind it. A block
/// that says that the task FAILED beats every signal.
#[must_use]
pub fn signal(message: &str, id: &TaskId, is_verify_row: bool) -> Option<Signal> {
    let plain: String = strip_str(message).collect();
    if has_failure_block(&plain, id) {
        return None;
    }
    let until = fences(&plain).unclosed.unwrap_or(usize::MAX);
    let mut in_quote = false;
    let mut found = None;
    for (_, line) in unfenced_lines(&plain).take_while(|(n, _)| *n < until) {
        in_quote = is_quote(line) || (in_quote && !line.trim().is_empty());
        if !in_quote && let Some(signal) = Signal::parse(without_emphasis(line.trim())) {
            let counts = is_verify_row || signal != Signal::VerificationPass;
            found = counts.then_some(signal).or(found);
        }
    }
    found
}

/// A text without the marks of emphasis or code that stand in pairs around all of it.
pub(crate) fn without_emphasis(text: &str) -> &str {
    let mut text = text;
    while let Some(inner) = ["*", "_", "`"].iter().find_map(|mark| {
        let inner = text.strip_prefix(mark)?.strip_suffix(mark)?;
        (!inner.is_empty()).then_some(inner)
    }) {
        text = inner;
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id() -> TaskId {
        TaskId::parse("1.3").unwrap()
    }

    #[track_caller]
    fn check(message: &str, expected: Option<Signal>) {
        assert_eq!(signal(message, &id(), false), expected, "{message}");
    }

    #[test]
    fn a_line_that_is_the_word_is_a_signal() {
        for message in [
            "TASK_COMPLETE",
            "All tests are green.\n\nTASK_COMPLETE\n",
            "Done.\r\n  TASK_COMPLETE\t\r\nGood bye.",
            "**TASK_COMPLETE**",
            "`TASK_COMPLETE`",
            "**`TASK_COMPLETE`**",
            "\u{1b}[32mTASK_COMPLETE\u{1b}[0m",
            "```sh\nmake\n```\nTASK_COMPLETE",
            "> a quote\n\nTASK_COMPLETE",
            "VERIFICATION_FAIL was seen before.\nTASK_COMPLETE",
            "Task 1.30: other FAILED\n- Error: boom\n\nTASK_COMPLETE",
        ] {
            check(message, Some(Signal::Complete));
        }
        check("ALL_TASKS_COMPLETE", Some(Signal::AllComplete));
        check(
            "TASK_COMPLETE\nALL_TASKS_COMPLETE",
            Some(Signal::AllComplete),
        );
    }

    #[test]
    fn a_mention_is_none() {
        for message in [
            "",
            "When it works I will say TASK_COMPLETE.",
            "TASK_COMPLETE when the tests pass",
            "TASK_COMPLETE: no",
            "not TASK_COMPLETE",
            "task_complete",
            "Task_Complete",
            "TASK COMPLETE",
            "TASK_COMPLETED",
            "NOT_TASK_COMPLETE",
            "TASK_COMPLETE?",
            "\"TASK_COMPLETE\"",
            "- TASK_COMPLETE",
            "- [ ] TASK_COMPLETE",
            "1. TASK_COMPLETE",
            "# TASK_COMPLETE",
            "~~TASK_COMPLETE~~",
            "| TASK_COMPLETE |",
            "<!-- TASK_COMPLETE -->",
            "**TASK_COMPLETE",
            "TASK_\nCOMPLETE",
            "TASK\u{200b}_COMPLETE",
            "ＴＡＳＫ_COMPLETE",
        ] {
            check(message, None);
        }
    }

    #[test]
    fn fences_and_quotes_hide_it() {
        for message in [
            "```\nTASK_COMPLETE\n```",
            "~~~text\nTASK_COMPLETE\n~~~",
            "````\n```\nTASK_COMPLETE\n```\n````",
            "> TASK_COMPLETE",
            "> You told me to say\nTASK_COMPLETE",
            "> You told me\nto say\nTASK_COMPLETE",
            "I would print\n```\nTASK_COMPLETE",
            "```\nlog\n```\nand\n~~~\nTASK_COMPLETE\n```",
        ] {
            check(message, None);
        }
    }

    #[test]
    fn a_failure_of_the_same_task_beats_it() {
        for message in [
            "Task 1.3: Add parser FAILED\n- Error: boom\n\nTASK_COMPLETE",
            "TASK_COMPLETE\n\n**Task 1.3: Add parser FAILED**\n- Error: boom",
            "ALL_TASKS_COMPLETE\nTask 1.3 FAILED",
            "\u{1b}[31mTask 1.3: x FAILED\u{1b}[0m\nTASK_COMPLETE",
        ] {
            check(message, None);
        }
    }

    #[test]
    fn a_passed_verification_counts_for_verify_rows_only() {
        let message = "VERIFICATION_PASS";
        check(message, None);
        assert_eq!(signal(message, &id(), true), Some(Signal::VerificationPass));
        assert_eq!(signal("TASK_COMPLETE", &id(), true), Some(Signal::Complete));
        check("TASK_COMPLETE\nVERIFICATION_PASS", Some(Signal::Complete));
    }

    #[test]
    fn hostile_sizes_take_no_long_time() {
        for unit in ["TASK_COMPLETE ", "*", "`\n", "```\n", "> ", "\u{1b}["] {
            let message = unit.repeat(200_000 / unit.len());
            check(&message, None);
        }
    }

    proptest! {
        #[test]
        fn any_message_is_read_and_none_without_the_word_is_a_signal(message in "(\\PC|\n){0,200}") {
            prop_assume!(!message.contains("COMPLETE") && !message.contains("VERIFICATION_PASS"));
            prop_assert_eq!(signal(&message, &id(), true), None);
        }

        #[test]
        fn words_on_the_same_line_make_it_a_mention(before in "[a-z0-9 .,:>#-]{0,10}", after in "[a-z0-9 .,!-]{0,10}") {
            prop_assume!(!before.trim().is_empty() || !after.trim().is_empty());
            prop_assert_eq!(signal(&format!("x\n\n{before}TASK_COMPLETE{after}"), &id(), false), None);
        }
    }
}
