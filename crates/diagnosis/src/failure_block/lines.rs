//! The lines of a block: its head, its fields, and what ends it.

use regreen_model::TaskId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Error,
    AttemptedFix,
    Status,
}

pub(super) fn is_fence_end(line: &str) -> bool {
    matches!(line.trim(), "```" | "~~~")
}

pub(super) fn ends_block(line: &str, after_blank: bool) -> bool {
    let is_indented = line.starts_with([' ', '\t']);
    let is_other_structure = line.starts_with(['#', '-', '*', '+']) || is_any_head(line);
    !is_indented && (after_blank || is_other_structure)
}

/// Parses `- Error: …`, `* **Error**: …`, `**Attempted fix:** …`, `error - …`.
pub(super) fn field_line(line: &str) -> Option<(Field, &str)> {
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
pub(super) fn is_head(line: &str, id: &str) -> bool {
    head_parts(line).is_some_and(|(found, _)| found == id)
}

pub(super) fn is_any_head(line: &str) -> bool {
    head_parts(line).is_some()
}

/// Parses `Task 1.3: title FAILED`, `**Task T012 … FAILED**`, `### Task 1.3 FAILED` and `- Task 1.3
/// (title): FAILED.` into the id, and the title between it and the last word.
pub(super) fn head_parts(line: &str) -> Option<(&str, &str)> {
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

/// Returns the text before a final `FAILED`, which must be a separate word in capitals.
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
