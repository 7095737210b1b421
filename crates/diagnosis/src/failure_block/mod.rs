//! The four-line block with which an agent reports that it couldn't finish a task:
//!
//! ```text
//! Task 1.3: Add failure parser FAILED
//! - Error: File not found: src/parser.ts
//! - Attempted fix: Checked alternate paths
//! - Status: Blocked, needs manual intervention
//! ```
//!
//! Agents vary it: bold labels, other bullets, longer texts below a label, a code fence around it.
//! A quoted block belongs to someone else, and one that only repeats the form from the prompt
//! reports nothing.

mod lines;

use anstream::adapter::strip_str;
use regreen_model::{TaskFailure, TaskId};

use crate::prose::{fences, is_quote};
use lines::{Field, ends_block, field_line, head_parts, is_any_head, is_fence_end, is_head};

/// Longer fields are truncated: the important part of an error comes earlier.
const MAX_FIELD: usize = 16 * 1024;
/// How many heads are tried, starting from the last: no message reports more failures of one task.
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

/// Returns whether the output has such a block for the task outside of code fences. Prompts fence
/// their quotations, so an agent that echoes its prompt has none.
#[must_use]
pub fn has_failure_block(output: &str, id: &TaskId) -> bool {
    let mut lines = readable_lines(output);
    lines.retain(|line| !line.is_fenced);
    last_block_where(&lines, |line| is_head(line, id.as_str())).is_some()
}

/// Returns whether an agent's own words have such a block for the task, even inside a code fence.
pub(crate) fn reports_failure(own_words: &str, id: &TaskId) -> bool {
    last_block(own_words, id).is_some()
}

/// Removes the titles of tasks from the heads of blocks: a fix is named after the error that it
/// fixes, which says nothing about this failure.
pub(crate) fn without_titles(message: &str) -> String {
    let lines = message.lines().map(|line| match head_parts(line) {
        Some((id, title)) if !title.trim().is_empty() => format!("Task {id} FAILED"),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns whether there is such a block for any task.
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

    /// Returns whether it contains only the placeholders of the form in the prompt.
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

/// Returns the last block with such a head, and the position of the head.
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

/// Reads the fields below a head, each with its continuation lines. Blank lines may occur between
/// the head and the first field and within a field's text, but text after a blank line belongs to a
/// field only if it is indented.
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
mod tests;
