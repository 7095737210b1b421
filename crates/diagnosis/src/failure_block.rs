//! The four-line block with which an agent reports that it could not finish a task:
//!
//! ```text
//! Task 1.3: Add failure parser FAILED
//! - Error: File not found: src/parser.ts
//! - Attempted fix: Checked alternate paths
//! - Status: Blocked, needs manual intervention
//! ```
//!
//! Agents vary it: bold labels, other bullets, longer texts below a label, a code fence around it.
//! A block that is quoted belongs to someone else, and one that only repeats the form from the
//! prompt reports nothing.

use anstream::adapter::strip_str;
use regreen_model::{TaskFailure, TaskId};

use crate::prose::{fences, is_quote};

/// Longer fields are truncated: the important part of an error comes earlier.
const MAX_FIELD: usize = 16 * 1024;
/// How many heads are tried, from the last: no message reports more failures of one task.
const MAX_HEADS: usize = 32;

/// Parses what the output says about the failed task `id`; the last of several blocks counts.
#[must_use]
pub fn parse_failure(output: &str, id: &TaskId) -> TaskFailure {
    let block = last_block(output, id);
    let no_block = block.is_none();
    let Block {
        error,
        attempted_fix,
        status,
    } = block.unwrap_or_default();
    TaskFailure {
        task_id: id.clone(),
        failed: true,
        error: if no_block {
            did_not_complete(output)
        } else {
            or_text(error, TaskFailure::NO_ERROR)
        },
        attempted_fix: or_text(attempted_fix, TaskFailure::NO_ATTEMPTED_FIX),
        status: or_text(status, TaskFailure::NO_STATUS),
        raw_output: output.to_owned(),
    }
}

/// Returns whether the output has such a block for the task outside of code fences. What an agent
/// repeats of its prompt is fenced there, so no echo has one.
#[must_use]
pub fn has_failure_block(output: &str, id: &TaskId) -> bool {
    let mut lines = readable_lines(output);
    lines.retain(|line| !line.is_fenced);
    last_block_where(&lines, |line| is_head(line, id.as_str())).is_some()
}

/// Returns whether an agent's own words have such a block for the task, also inside a code fence.
pub(crate) fn reports_failure(own_words: &str, id: &TaskId) -> bool {
    last_block(own_words, id).is_some()
}

/// Returns whether there is one for any task.
pub(crate) fn has_any_failure_block(output: &str) -> bool {
    last_block_where(&readable_lines(output), is_any_head).is_some()
}

/// Returns the part of a message before the block for the task; all of it if there is none.
pub(crate) fn before_block(message: &str, id: &TaskId) -> String {
    let lines = readable_lines(message);
    match last_block_where(&lines, |line| is_head(line, id.as_str())) {
        Some((head, _)) => {
            let before = lines[..head].iter().map(|line| line.text.as_str());
            let is_opening = |line: &&str| !line.trim_start().starts_with("```");
            before.filter(is_opening).collect::<Vec<_>>().join("\n")
        }
        None => strip_str(message).collect(),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Error,
    AttemptedFix,
    Status,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Block {
    error: String,
    attempted_fix: String,
    status: String,
}

impl Block {
    fn field(&mut self, field: Field) -> &mut String {
        match field {
            Field::Error => &mut self.error,
            Field::AttemptedFix => &mut self.attempted_fix,
            Field::Status => &mut self.status,
        }
    }

    /// Returns whether all that it says are the placeholders of the form in the prompt.
    fn is_form(&self) -> bool {
        let is_placeholder = |text: &str| text.starts_with('<') && text.ends_with('>');
        is_placeholder(&self.error) && is_placeholder(&self.status)
    }

    fn append(&mut self, field: Field, text: &str) {
        let value = self.field(field);
        if !value.is_empty() {
            value.push(' ');
        }
        let room = MAX_FIELD.saturating_sub(value.len());
        value.push_str(&text[..text.floor_char_boundary(room)]);
    }
}

/// A line that isn't quoted.
struct Line {
    text: String,
    /// Whether it is inside a closed code fence, or opens or closes one.
    is_fenced: bool,
}

fn readable_lines(output: &str) -> Vec<Line> {
    let plain: String = strip_str(output).collect();
    let mut fences = fences(&plain).closed.into_iter().peekable();
    let numbered = plain.lines().enumerate();
    let lines = numbered.map(|(n, text)| {
        while fences.peek().is_some_and(|fence| fence.last < n) {
            fences.next();
        }
        Line {
            text: text.to_owned(),
            is_fenced: fences.peek().is_some_and(|fence| fence.first <= n),
        }
    });
    lines.filter(|line| !is_quote(&line.text)).collect()
}

fn last_block(output: &str, id: &TaskId) -> Option<Block> {
    let lines = readable_lines(output);
    let found = last_block_where(&lines, |line| is_head(line, id.as_str()));
    found.map(|(_, block)| block)
}

/// Returns the last block with such a head, and where the head is.
fn last_block_where(lines: &[Line], is_head: impl Fn(&str) -> bool) -> Option<(usize, Block)> {
    let heads = (0..lines.len())
        .rev()
        .filter(|at| is_head(&lines[*at].text));
    heads.take(MAX_HEADS).find_map(|at| {
        let is_fenced = lines[at].is_fenced;
        let rest = &lines[at + 1..];
        let end = rest.iter().position(|line| line.is_fenced != is_fenced);
        let block = read_block(&rest[..end.unwrap_or(rest.len())]);
        // In a fence, a head alone may be part of a log.
        let reports = !block.is_form() && (!is_fenced || !block.error.is_empty());
        reports.then_some((at, block))
    })
}

/// Reads the fields below a head, each with the lines that continue it. Blank lines may occur
/// between the head and the first field and inside a field's text, but text after a blank
/// line belongs to a field only if it is indented.
fn read_block(lines: &[Line]) -> Block {
    let mut block = Block::default();
    let mut current: Option<Field> = None;
    let mut after_blank = false;
    for Line { text: line, .. } in lines {
        if is_fence_end(line) {
            break;
        }
        if line.trim().is_empty() {
            after_blank = true;
            continue;
        }
        if let Some((field, value)) = field_line(line) {
            // The first value of a field counts; a second one belongs to another block.
            if block.field(field).is_empty() {
                block.append(field, value);
                current = Some(field);
            } else {
                current = None;
            }
        } else if ends_block(line, after_blank) {
            break;
        } else if let Some(field) = current {
            block.append(field, line.trim());
        }
        after_blank = false;
    }
    block
}

fn is_fence_end(line: &str) -> bool {
    matches!(line.trim(), "```" | "~~~")
}

fn ends_block(line: &str, after_blank: bool) -> bool {
    let is_indented = line.starts_with([' ', '\t']);
    let is_other_structure = line.starts_with(['#', '-', '*', '+']) || is_any_head(line);
    !is_indented && (after_blank || is_other_structure)
}

/// Parses `- Error: …`, `* **Error**: …`, `**Attempted fix:** …`, `error - …`.
fn field_line(line: &str) -> Option<(Field, &str)> {
    let text = without_bullet(line.trim_start());
    let text = text.trim_start_matches(['*', '_', '`']);
    [
        ("attempted fixes", Field::AttemptedFix),
        ("attempted fix", Field::AttemptedFix),
        ("attempted", Field::AttemptedFix),
        ("error", Field::Error),
        ("status", Field::Status),
    ]
    .into_iter()
    .find_map(|(label, field)| {
        let rest = strip_prefix_ignoring_case(text, label)?;
        let rest = rest.trim_start_matches(['*', '_', '`']).trim_start();
        let value = rest.strip_prefix([':', '：'])?;
        let value = value.trim_start_matches(['*', '_']).trim();
        Some((field, value))
    })
}

/// Returns whether a line says that the task with exactly this id failed.
fn is_head(line: &str, id: &str) -> bool {
    head_parts(line).is_some_and(|(found, _)| found == id)
}

fn is_any_head(line: &str) -> bool {
    head_parts(line).is_some()
}

/// Parses `Task 1.3: title FAILED`, `**Task T012 … FAILED**`, `### Task 1.3 FAILED`,
/// `- Task 1.3 (title): FAILED.` into the id, and the title between it and the last word.
fn head_parts(line: &str) -> Option<(&str, &str)> {
    let text = line.trim_start().trim_start_matches('#').trim_start();
    let text = without_bullet(text);
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let rest = strip_prefix_ignoring_case(text, "task")?;
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
    let rest = rest.trim_start_matches(['#', '*', '_', '`', '[', '"']);
    let end = rest
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '-'))
        .unwrap_or(rest.len());
    let (token, title) = rest.split_at(end);
    let token = token.trim_end_matches(['.', '-']);
    TaskId::parse(token)?;
    Some((token, says_failed(title)?))
}

/// Returns the text before a final `FAILED`, in capitals and as a separate word.
fn says_failed(text: &str) -> Option<&str> {
    let text = text.trim_end_matches(|c: char| !c.is_alphanumeric());
    let title = text.strip_suffix("FAILED")?;
    let is_own_word = !title.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    is_own_word.then_some(title)
}

fn without_bullet(text: &str) -> &str {
    text.strip_prefix("- ")
        .or_else(|| text.strip_prefix("* "))
        .or_else(|| text.strip_prefix("+ "))
        .or_else(|| text.strip_prefix("• "))
        .map_or(text, str::trim_start)
}

fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix)
        .then(|| &text[prefix.len()..])
}

/// Returns the error if there is no block: the last message.
fn did_not_complete(output: &str) -> String {
    let plain: String = strip_str(output).collect();
    let last = plain
        .lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty() && !line.starts_with("```"));
    match last {
        Some(line) => format!(
            "{}: {}",
            TaskFailure::NO_BLOCK,
            &line[..line.floor_char_boundary(MAX_FIELD)]
        ),
        None => TaskFailure::NO_BLOCK.to_owned(),
    }
}

fn or_text(text: String, fallback: &str) -> String {
    if text.is_empty() {
        fallback.to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const EXAMPLE: &str = "Task 1.3: Add failure parser FAILED
- Error: File not found: src/parser.ts
- Attempted fix: Checked alternate paths
- Status: Blocked, needs manual intervention
";

    fn id(token: &str) -> TaskId {
        TaskId::parse(token).unwrap()
    }

    fn check(output: &str, task: &str, error: &str, fix: &str, status: &str) {
        let failure = parse_failure(output, &id(task));
        assert_eq!(failure.error, error, "{output}");
        assert_eq!(failure.attempted_fix, fix, "{output}");
        assert_eq!(failure.status, status, "{output}");
        assert_eq!(failure.raw_output, output);
    }

    #[test]
    fn the_documented_example_gives_the_documented_object() {
        let mut failure = parse_failure(EXAMPLE, &id("1.3"));
        assert_eq!(failure.raw_output, EXAMPLE);
        "...".clone_into(&mut failure.raw_output);
        assert_eq!(
            serde_json::to_string_pretty(&failure).unwrap(),
            r#"{
  "taskId": "1.3",
  "failed": true,
  "error": "File not found: src/parser.ts",
  "attemptedFix": "Checked alternate paths",
  "status": "Blocked, needs manual intervention",
  "rawOutput": "..."
}"#
        );
    }

    #[test]
    fn missing_fields_have_their_fallbacks() {
        check(
            "Task 1.3: x FAILED",
            "1.3",
            "Task execution failed",
            "No fix attempted",
            "Unknown status",
        );
        check(
            "Task 1.3: x FAILED\n- Error:\n- Status: stuck",
            "1.3",
            "Task execution failed",
            "No fix attempted",
            "stuck",
        );
    }

    #[test]
    fn without_a_block_the_last_message_is_the_error() {
        check(
            "I looked around.\n\nThe API key is missing.\n\n",
            "1.3",
            "Task did not complete: The API key is missing.",
            "No fix attempted",
            "Unknown status",
        );
        check(
            " \n\n",
            "1.3",
            "Task did not complete",
            "No fix attempted",
            "Unknown status",
        );
    }

    #[test]
    fn only_the_block_of_the_task_that_was_run_counts() {
        let output = format!("{EXAMPLE}\nTask 1.30: other FAILED\n- Error: other\n");
        assert_eq!(
            parse_failure(&output, &id("1.3")).error,
            "File not found: src/parser.ts"
        );
        assert_eq!(parse_failure(&output, &id("1.30")).error, "other");
        assert!(!has_failure_block(&output, &id("1")));
        assert!(!has_failure_block(&output, &id("1.3.1")));
    }

    #[test]
    fn the_last_of_several_blocks_counts() {
        let output = format!(
            "{EXAMPLE}\nI tried again.\n\nTask 1.3: Add failure parser FAILED\n- Error: second\n"
        );
        check(
            &output,
            "1.3",
            "second",
            "No fix attempted",
            "Unknown status",
        );
    }

    #[test]
    fn a_field_includes_its_continuation_lines() {
        check(
            "Task 1.3: x FAILED\n- Error: two lines\n  of error\n\n  and more\n- Attempted fix: this\nand that\n- Status: Blocked\n\nGood bye.",
            "1.3",
            "two lines of error and more",
            "this and that",
            "Blocked",
        );
    }

    #[test]
    fn agents_print_it_in_many_ways() {
        for output in [
            "**Task T012: Add x FAILED**\n- **Error**: boom\n- **Attempted fix**: none worked\n- **Status**: Blocked",
            "### Task T012 (Add x): FAILED\n* **Error:** boom\n* **Attempted fix:** none worked\n* **Status:** Blocked",
            "Task T012 FAILED.\n\n* Error: boom\n* Attempted fix: none worked\n* Status: Blocked",
            "❌ Task T012 — Add x — FAILED\nError: boom\nAttempted Fix: none worked\nSTATUS: Blocked",
            "\u{1b}[31mTask T012: Add x FAILED\u{1b}[0m\r\n- error: boom\r\n- attempted fixes: none worked\r\n- status: Blocked\r\n",
            "- Task T012: Add x FAILED\n  - Error: boom\n  - Attempted fix: none worked\n  - Status: Blocked",
        ] {
            check(output, "T012", "boom", "none worked", "Blocked");
        }
    }

    #[test]
    fn a_block_in_a_fence_counts() {
        let fenced =
            format!("It does not work.\n\n```text\n{EXAMPLE}```\n\n- Status: of all else\n");
        check(
            &fenced,
            "1.3",
            "File not found: src/parser.ts",
            "Checked alternate paths",
            "Blocked, needs manual intervention",
        );
        assert!(reports_failure(&fenced, &id("1.3")));
        assert!(!has_failure_block(&fenced, &id("1.3")));
        let unclosed = format!("```\n{EXAMPLE}");
        assert!(has_failure_block(&unclosed, &id("1.3")));
        let both = format!("```\n{EXAMPLE}```\nTask 1.3: x FAILED\n- Error: second\n");
        assert_eq!(parse_failure(&both, &id("1.3")).error, "second");
        assert_eq!(
            before_block(&fenced, &id("1.3")).trim(),
            "It does not work."
        );
    }

    #[test]
    fn quoted_repeated_or_mentioned_blocks_do_not_count() {
        for output in [
            "> Task 1.3: x FAILED\n> - Error: boom",
            "```text\nTask 1.3: x FAILED\n- Error: <the one line>\n- Attempted fix: <what you tried>\n- Status: <where it stands>\n```",
            "Task 1.3: x FAILED\n- Error: <the one line>\n- Status: <where it stands>",
            "~~~text\nTask 1.3: x FAILED\n~~~",
            "The task 1.3 has FAILED twice before, now it works.",
            "Task 1.3: handle the word FAILED in logs",
            "Task 1.3: x failed",
            "Task 1.3: x UNFAILED",
            "Task one: x FAILED",
        ] {
            assert!(!reports_failure(output, &id("1.3")), "{output}");
            assert!(!has_failure_block(output, &id("1.3")), "{output}");
        }
    }

    #[test]
    fn a_block_ends_where_something_else_begins() {
        check(
            "Task 1.3: x FAILED\n- Error: boom\n- Next steps: dance\n- Status: never mine\n",
            "1.3",
            "boom",
            "No fix attempted",
            "Unknown status",
        );
        check(
            "Task 1.3: x FAILED\n- Error: boom\nTask 1.4: y FAILED\n- Error: other\n- Status: other",
            "1.3",
            "boom",
            "No fix attempted",
            "Unknown status",
        );
    }

    #[test]
    fn hostile_sizes_are_read_quickly() {
        for unit in [
            "Task 1.3: x FAILED\n",
            "- Error: a\n",
            "a\n",
            "```\n",
            "> ",
            "task ",
        ] {
            let output = unit.repeat(400_000 / unit.len());
            let failure = parse_failure(&output, &id("1.3"));
            assert!(failure.error.len() <= MAX_FIELD + 64);
        }
    }

    proptest! {
        #[test]
        fn any_output_is_read(output in "\\PC*") {
            let failure = parse_failure(&output, &id("1.3"));
            prop_assert!(failure.failed);
            prop_assert!(!failure.error.is_empty());
            prop_assert_eq!(failure.raw_output, output);
        }

        #[test]
        fn a_block_is_found_after_any_text(before in "[a-z0-9 .\n]{0,80}") {
            let output = format!("{before}\n\n{EXAMPLE}");
            prop_assert_eq!(parse_failure(&output, &id("1.3")).error, "File not found: src/parser.ts");
        }
    }
}
