//! The word with which an agent signals that a task is done.

use anstream::adapter::strip_str;
use regreen_model::{ModificationRequest, TaskId};
use serde_json::Deserializer;

use crate::failure_block::has_failure_block;
use crate::prose::{fences, is_quote, unfenced_lines};

/// An agent's claim. Whether it is true is checked elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signal {
    /// `TASK_COMPLETE`
    Complete,
    /// `ALL_TASKS_COMPLETE`
    AllComplete,
    /// `VERIFICATION_PASS`, for a `[VERIFY]` row.
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

/// Returns the signal that a final message gives for the task `id`; the last of several.
///
/// It must fill a line that isn't in the middle of a sentence, except for surrounding blanks and emphasis (`**…**`, `` `…` ``): agents
/// decorate it, and a word alone on its line isn't a mention. If in doubt there is none, because
/// asking again is cheap: not in a fence, even one that is never closed; not in a quote or its
/// continuation lines; not as a list item or with anything after it. A block that says that the
/// task FAILED overrides every signal.
#[must_use]
pub fn signal(message: &str, id: &TaskId, is_verify_row: bool) -> Option<Signal> {
    let plain: String = strip_str(message).collect();
    if has_failure_block(&plain, id) {
        return None;
    }
    last_signal(&plain, is_verify_row).map(|(_, signal)| signal)
}

/// Returns the last signal of a message without escape sequences, and its line number.
pub(crate) fn last_signal(plain: &str, is_verify_row: bool) -> Option<(usize, Signal)> {
    let until = fences(plain).unclosed.unwrap_or(usize::MAX);
    let lines: Vec<&str> = plain.lines().collect();
    let mut in_quote = false;
    let mut found = None;
    for (n, line) in unfenced_lines(plain).take_while(|(n, _)| *n < until) {
        in_quote = is_quote(line) || (in_quote && !line.trim().is_empty());
        if !in_quote
            && !is_within_sentence(&lines, n)
            && let Some(signal) = Signal::parse(without_emphasis(line.trim()))
        {
            let counts = is_verify_row || signal != Signal::VerificationPass;
            found = counts.then_some((n, signal)).or(found);
        }
    }
    found
}

/// Words that continue a sentence which began before the signal.
const CONTINUES: [&str; 18] = [
    "after", "although", "as", "because", "before", "but", "if", "once", "only", "since", "so",
    "that", "though", "unless", "until", "when", "while", "yet",
];

/// Whether a line stands in the middle of a sentence: "I won't print⏎TASK_COMPLETE⏎since …".
fn is_within_sentence(lines: &[&str], n: usize) -> bool {
    let at = |n: Option<usize>| n.and_then(|n| lines.get(n)).map_or("", |line| line.trim());
    let goes_on = at(n.checked_sub(1)).ends_with(char::is_alphanumeric);
    let next = at(Some(n + 1)).split(|c: char| !c.is_alphanumeric()).next();
    goes_on && next.is_some_and(|word| CONTINUES.contains(&word))
}

/// Returns whether a line is one of the signals.
pub(crate) fn is_signal_line(line: &str) -> bool {
    Signal::parse(without_emphasis(line.trim())).is_some()
}

/// Removes marks of emphasis or code that surround the whole text in pairs.
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

const MARKER: &str = "TASK_MODIFICATION_REQUEST";

/// Returns the request in a message: the marker on its own line, outside of fences and quotes, and
/// a JSON object below it, fenced or bare. The last of several counts.
///
/// `Some(Err(…))` explains why a request couldn't be parsed.
#[must_use]
pub fn modification_request(message: &str) -> Option<Result<ModificationRequest, String>> {
    let plain: String = strip_str(message).collect();
    let (marker, _) = unfenced_lines(&plain)
        .filter(|(_, line)| !is_quote(line) && is_marker(line))
        .last()?;
    let below: Vec<&str> = plain.lines().skip(marker + 1).collect();
    Some(read_object(&below.join("\n")))
}

/// Returns whether a line is `TASK_MODIFICATION_REQUEST`, also as a heading, in bold, or with a
/// colon.
fn is_marker(line: &str) -> bool {
    let line = line.trim().trim_start_matches('#').trim();
    without_emphasis(line.trim_end_matches(':')).trim_end_matches(':') == MARKER
}

fn read_object(text: &str) -> Result<ModificationRequest, String> {
    let text = text.trim_start();
    let json = match text.strip_prefix("```") {
        Some(fenced) => fenced.split_once('\n').map_or("", |(_, body)| body),
        None => text,
    };
    if !json.trim_start().starts_with('{') {
        return Err(format!("no JSON object follows {MARKER}"));
    }
    let mut objects = Deserializer::from_str(json).into_iter::<ModificationRequest>();
    match objects.next() {
        Some(Ok(request)) => Ok(request),
        Some(Err(error)) => Err(format!("invalid JSON after {MARKER}: {error}")),
        None => Err(format!("no JSON object follows {MARKER}")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regreen_model::{Modification, ProposedTask};

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
    fn a_mention_is_not_a_signal() {
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
            "I will not print\nTASK_COMPLETE\nsince the deployment failed.",
            "TASK_\nCOMPLETE",
            "TASK\u{200b}_COMPLETE",
            "ＴＡＳＫ_COMPLETE",
        ] {
            check(message, None);
        }
    }

    #[test]
    fn fences_and_quotes_hide_a_signal() {
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
    fn a_failure_of_the_same_task_overrides_the_signal() {
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
    fn hostile_sizes_are_read_quickly() {
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

    const OBJECT: &str = r#"{
  "type": "SPLIT_TASK",
  "originalTaskId": "1.3",
  "reasoning": "Two things at once",
  "proposedTasks": ["- [ ] 1.3.1 First\n  - **Verify**: `true`", {"title": "Second", "do": "x", "doneWhen": "y"}]
}"#;

    #[track_caller]
    fn check_request(message: &str) {
        let request = modification_request(message)
            .expect("a request")
            .expect("a readable one");
        assert_eq!(request.modification, Modification::SplitTask, "{message}");
        assert_eq!(request.original_task_id.as_str(), "1.3");
        assert_eq!(request.reasoning, "Two things at once");
        let [
            ProposedTask::Lines(first),
            ProposedTask::Fields {
                title, done_when, ..
            },
        ] = request.proposed_tasks.as_slice()
        else {
            panic!("{:?}", request.proposed_tasks);
        };
        assert!(first.starts_with("- [ ] 1.3.1 First\n"));
        assert_eq!(
            (title.as_str(), done_when.as_deref()),
            ("Second", Some("y"))
        );
    }

    #[test]
    fn the_object_may_be_bare_or_fenced_and_the_marker_decorated() {
        check_request(&format!("TASK_MODIFICATION_REQUEST\n{OBJECT}"));
        check_request(&format!(
            "I see.\n\n**TASK_MODIFICATION_REQUEST**:\n\n```json\n{OBJECT}\n```\nBye."
        ));
        check_request(&format!(
            "## TASK_MODIFICATION_REQUEST\r\n```\r\n{OBJECT}\r\n```\r\n"
        ));
        check_request(&format!(
            "TASK_MODIFICATION_REQUEST\n{{}}\n\nTASK_MODIFICATION_REQUEST:\n{OBJECT} and more"
        ));
    }

    #[test]
    fn a_mention_a_quote_and_a_fenced_example_are_not_requests() {
        for message in [
            "",
            "I considered a TASK_MODIFICATION_REQUEST but did not need it.",
            &format!("> TASK_MODIFICATION_REQUEST\n{OBJECT}"),
            &format!("````\nTASK_MODIFICATION_REQUEST\n```json\n{OBJECT}\n```\n````"),
            OBJECT,
        ] {
            assert_eq!(modification_request(message), None, "{message}");
        }
    }

    #[test]
    fn an_unreadable_request_is_reported_with_the_reason() {
        for (message, why) in [
            ("TASK_MODIFICATION_REQUEST", "no JSON object follows"),
            (
                "TASK_MODIFICATION_REQUEST\nplease",
                "no JSON object follows",
            ),
            (
                "TASK_MODIFICATION_REQUEST\n{\"type\": \"EXPLODE\"}",
                "unknown variant `EXPLODE`",
            ),
            (
                "TASK_MODIFICATION_REQUEST\n{\"type\": \"SPLIT_TASK\"",
                "EOF while parsing",
            ),
            (
                "TASK_MODIFICATION_REQUEST\n{\"type\":\"SPLIT_TASK\",\"originalTaskId\":\"no id\",\"proposedTasks\":[]}",
                "no id",
            ),
        ] {
            let error = modification_request(message)
                .expect("a request")
                .unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
