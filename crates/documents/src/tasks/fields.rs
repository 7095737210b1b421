//! The fields of a task: nested bullets such as `- **Verify**: …`.

use regreen_model::Fields;

use super::block::near_miss;
use super::code::{has_backticks, open_span, spans};
use super::row::Row;
use super::verify::is_surely_a_command;
use crate::markdown::{Item, Line};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldName {
    Do,
    Files,
    DoneWhen,
    Verify,
    Commit,
    Service,
    Ready,
}

impl FieldName {
    /// Parses `**Verify**: value`, also with the colon inside the bold text or missing. Returns the
    /// rest.
    pub(crate) fn parse(content: &str) -> Option<(Self, &str)> {
        let (name, rest) = content.strip_prefix("**")?.split_once("**")?;
        let field = match name
            .trim_end_matches(':')
            .trim()
            .to_ascii_lowercase()
            .as_str()
        {
            "do" => Self::Do,
            "files" | "file" => Self::Files,
            "done when" => Self::DoneWhen,
            "commit" => Self::Commit,
            "service" => Self::Service,
            "ready" => Self::Ready,
            name if is_verify(name) => Self::Verify,
            _ => return None,
        };
        Some((field, rest.strip_prefix(':').unwrap_or(rest).trim()))
    }
}

/// Whether this is `Verify`, `Verify 2`, `Verify (unit)`, `Verify: unit`, `Verify tests`, `Also
/// verify` or `Verification`. `Verified` is a record, and a bold sentence that starts with one of
/// these words is just a sentence.
fn is_verify(name: &str) -> bool {
    let name = name.strip_prefix("also ").unwrap_or(name);
    let is_noun_form = name.starts_with("verification");
    let rest = name
        .strip_prefix("verification")
        .or_else(|| name.strip_prefix("verify"));
    let Some(rest) = rest else {
        return false;
    };
    let is_set_off = rest
        .trim_start()
        .starts_with(['(', ':', '-', '–', '—', '/', '#'])
        || rest.trim_start().starts_with(|c: char| c.is_ascii_digit());
    let rest = rest.trim().trim_end_matches('.');
    let is_noun = ["command", "commands", "step", "steps"].contains(&rest)
        || (!is_noun_form && NAMES.contains(&rest));
    rest.is_empty() || is_set_off || is_noun
}

/// Words after `Verify` that name a part of it.
const NAMES: &[&str] = &[
    "again",
    "also",
    "build",
    "e2e",
    "integration",
    "lint",
    "manually",
    "test",
    "tests",
    "types",
    "unit",
    "unit tests",
];

/// Reads the fields of a row's block. If a field occurs twice, the first counts; for Verify, all
/// do. Without a Do field, the code blocks directly below the row take its place.
pub(crate) fn read(text: &str, lines: &[Line], row: &Row) -> Fields {
    let mut fields = Fields::default();
    let mut at = row.line + 1;
    let block_end = row.block.end.min(lines.len());
    let mut child_indent = None;
    let mut blocks = Vec::new();
    // What is indented no deeper than the row belongs to the page, such as how to roll it back.
    let mut is_over = false;
    // Whether what comes next goes on with a Verify.
    let mut in_verify = false;
    while at < block_end {
        // What looks like the next task has its own fields.
        if lines
            .get(at)
            .is_some_and(|line| line.indent <= row.indent && near_miss(text, lines, at).is_some())
        {
            break;
        }
        let Some(item) = lines.get(at).and_then(Line::item) else {
            let end = fence_end(lines, at, block_end);
            is_over |= ends_row(lines.get(at), row);
            // A paragraph introduces something else: "Rollback:", "Expected output:".
            in_verify &= end != at || lines.get(at).is_none_or(Line::is_blank);
            let own = lines.get(at..end).filter(|_| !is_over);
            let script = own.filter(|own| in_verify && !own.is_empty());
            if let Some(script) = script {
                fields.more_verify.push(value(text, "", script));
                at = end;
                continue;
            }
            blocks.extend(own.unwrap_or_default());
            at = end.max(at + 1);
            continue;
        };
        if item.indent <= row.indent {
            is_over = true;
            in_verify = false;
            at += 1;
            continue;
        }
        // Only bullets directly below the row count, not those nested in them.
        let direct = *child_indent.get_or_insert(item.indent);
        let end = item_end(lines, at, block_end, item.indent);
        let end = span_end(text, lines, at, end, block_end);
        if item.indent <= direct {
            let before = fields.verify_fields().count();
            take_field(text, lines, at, end, item, &mut fields);
            let content = lines
                .get(at)
                .map_or("", |line| &text[item.content..line.end]);
            if FieldName::parse(content).is_some() {
                in_verify = fields.verify_fields().count() > before;
            } else if in_verify && is_check(content) {
                let below = lines.get(at + 1..end).unwrap_or_default();
                fields.more_verify.push(value(text, content, below));
            } else {
                in_verify = false;
            }
            at = end;
        } else {
            at += 1;
        }
    }
    if fields.action.is_none() && !blocks.is_empty() {
        fields.action = Some(value(text, "", blocks));
    }
    fields
}

/// Whether an item next to a Verify is one more command of it, though it isn't nested.
fn is_check(content: &str) -> bool {
    match spans(content).as_slice() {
        [only] => only.is_whole(content) && is_surely_a_command(&only.code),
        _ => false,
    }
}

/// Whether a line below a row belongs to the page again, not to the row.
fn ends_row(line: Option<&Line>, row: &Row) -> bool {
    line.is_some_and(|line| !line.is_blank() && line.indent <= row.indent)
}

/// Returns the end of the code block that starts at a line, or that line if none starts there.
fn fence_end(lines: &[Line], at: usize, block_end: usize) -> usize {
    use crate::markdown::LineKind::{FenceBody, FenceClose, FenceOpen};
    let lines = lines.get(at..block_end).unwrap_or_default();
    if lines.first().is_none_or(|line| line.kind != FenceOpen) {
        return at;
    }
    let inside = lines.iter().skip(1);
    let inside = inside.take_while(|line| matches!(line.kind, FenceBody | FenceClose));
    at + 1 + inside.count()
}

/// Returns the end of the lines below an item: the next line that isn't indented further.
fn item_end(lines: &[Line], at: usize, block_end: usize, indent: usize) -> usize {
    use crate::markdown::LineKind::{Blank, FenceBody, FenceClose};
    let belongs =
        |line: &Line| matches!(line.kind, Blank | FenceBody | FenceClose) || line.indent > indent;
    let below = lines.get(at + 1..block_end).unwrap_or_default();
    at + 1 + below.iter().take_while(|line| belongs(line)).count()
}

/// Returns the end of a field whose code span is still open at `end`. Unindented lines continue a
/// paragraph and so the span, as in `` `python -c "⏎import x⏎"` ``.
fn span_end(text: &str, lines: &[Line], at: usize, end: usize, block_end: usize) -> usize {
    use crate::markdown::LineKind::{FenceOpen, IndentedCode, Text};
    let own = lines.get(at..end).unwrap_or_default();
    let (Some(first), Some(last)) = (own.first(), own.last()) else {
        return end;
    };
    let has_fence = own.iter().any(|line| line.kind == FenceOpen);
    let Some(open) = open_span(&text[first.start..last.end]).filter(|_| !has_fence) else {
        return end;
    };
    let below = lines.get(end..block_end).unwrap_or_default();
    let mut continued = below
        .iter()
        .take_while(|line| matches!(line.kind, Text | IndentedCode));
    let closing = continued.position(|line| has_backticks(&text[line.start..line.end], open));
    // An unclosed backtick doesn't open a span.
    closing.map_or(end, |closing| end + closing + 1)
}

fn take_field(text: &str, lines: &[Line], at: usize, end: usize, item: &Item, fields: &mut Fields) {
    let Some(line) = lines.get(at) else { return };
    let Some((name, inline)) = FieldName::parse(&text[item.content..line.end]) else {
        return;
    };
    let slot = match name {
        FieldName::Do => &mut fields.action,
        FieldName::Files => &mut fields.files,
        FieldName::DoneWhen => &mut fields.done_when,
        FieldName::Verify => &mut fields.verify,
        FieldName::Commit => &mut fields.commit,
        FieldName::Service => &mut fields.service,
        FieldName::Ready => &mut fields.ready,
    };
    let below = lines.get(at + 1..end).unwrap_or_default();
    match slot {
        None => *slot = Some(value(text, inline, below)),
        Some(_) if name == FieldName::Verify => {
            fields.more_verify.push(value(text, inline, below));
        }
        Some(_) => {}
    }
}

/// Returns the inline text, then the lines below it without their common indent.
fn value<'l>(
    text: &str,
    inline: &str,
    below: impl IntoIterator<Item = &'l Line> + Clone,
) -> String {
    let common = below
        .clone()
        .into_iter()
        .filter(|line| line.first < line.end)
        .map(|line| line.indent)
        .min();
    let mut value = inline.to_owned();
    for line in below {
        value.push('\n');
        value.push_str(dedented(text, line, common.unwrap_or_default()));
    }
    value.trim_matches('\n').trim_end().to_owned()
}

/// Returns a line without its first `columns` columns of blanks.
fn dedented<'t>(text: &'t str, line: &Line, columns: usize) -> &'t str {
    let mut at = line.start;
    let mut column = 0;
    while at < line.first && column < columns {
        column = match text.as_bytes().get(at) {
            Some(b'\t') => column / 4 * 4 + 4,
            _ => column + 1,
        };
        at += 1;
    }
    &text[at..line.end]
}

/// Returns the commit message of a task; `None` if it asks for no commit.
#[must_use]
pub fn commit_message(field: &str) -> Option<String> {
    let line = field.lines().map(str::trim).find(|line| !line.is_empty())?;
    let message = without_condition(line).trim_matches('`').trim();
    if says_none(message) {
        return None;
    }
    Some(message_of_command(message).unwrap_or_else(|| message.to_owned()))
}

/// Whether this is `None`, `None (nothing to commit)`, `N/A`, `-`, "no commit needed", or empty.
fn says_none(message: &str) -> bool {
    let lower = message.to_ascii_lowercase();
    let first_word = lower.split_whitespace().next().unwrap_or_default();
    let first_word = first_word.trim_end_matches(['.', ',', ':', ';']);
    let says_no_commit = [
        "no commit",
        "not needed",
        "nothing to commit",
        "do not commit",
    ]
    .iter()
    .any(|none| lower.starts_with(none));
    let is_skip = ["skip", "skipped", "no", "-", "–", "—"].contains(&lower.trim_end_matches('.'));
    first_word.is_empty() || ["none", "n/a"].contains(&first_word) || says_no_commit || is_skip
}

/// Returns the message of a whole `git commit -m "…"`.
fn message_of_command(text: &str) -> Option<String> {
    let words = shell_words::split(text).ok()?;
    let at = words.windows(2).position(|two| two == ["git", "commit"])?;
    let mut options = words.into_iter().skip(at + 2);
    while let Some(option) = options.next() {
        let is_short = option.starts_with('-') && !option.starts_with("--");
        if option == "--message" || (is_short && option.ends_with('m')) {
            return options.next().filter(|message| !message.trim().is_empty());
        }
        if let Some(message) = option.strip_prefix("--message=") {
            return Some(message.to_owned()).filter(|message| !message.trim().is_empty());
        }
    }
    None
}

/// Strips a condition: `` `fix: x` (if there are changes) `` is the message `` `fix: x` ``.
fn without_condition(line: &str) -> &str {
    let Some((message, condition)) = line.rsplit_once('(') else {
        return line;
    };
    let condition = condition.trim_start().to_ascii_lowercase();
    let is_last = condition.trim_end_matches('.').ends_with(')');
    if is_last && (condition.starts_with("if ") || condition.starts_with("only if ")) {
        message.trim_end()
    } else {
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_verify_field_counts_and_records_do_not() {
        for name in [
            "Verify",
            "VERIFY:",
            "Verify 2",
            "Verify (B)",
            "Verify commands",
            "Verification",
            "Verify tests",
            "Verify: unit",
            "Verify - unit",
            "Verify again",
            "Verify/unit",
            "Verify 2.",
            "Also verify",
        ] {
            let content = format!("**{name}**: `x`");
            assert_eq!(
                FieldName::parse(&content),
                Some((FieldName::Verify, "`x`")),
                "{name}"
            );
        }
        for name in [
            "Verified",
            "Verify that it works",
            "Verifiable",
            "Verification grep",
        ] {
            assert_eq!(
                FieldName::parse(&format!("**{name}**: `x`")),
                None,
                "{name}"
            );
        }
    }

    #[test]
    fn backticks_and_conditions_are_not_part_of_the_message() {
        for (field, message) in [
            ("feat(x): add y", Some("feat(x): add y")),
            ("feat: add y.", Some("feat: add y.")),
            ("`feat: add y`", Some("feat: add y")),
            ("`chore: lint` (if fixes were needed)", Some("chore: lint")),
            ("chore: lint (only if fixes needed).", Some("chore: lint")),
            ("fix: handle (a) and (b)", Some("fix: handle (a) and (b)")),
            ("\n`fix: below`", Some("fix: below")),
            ("`git commit -m \"feat: f\"`", Some("feat: f")),
            ("git add -A && git commit -am 'feat: f'", Some("feat: f")),
            ("`git commit --message=fix`", Some("fix")),
            ("#12 make a", Some("#12 make a")),
            (
                "skip empty rows in the parser",
                Some("skip empty rows in the parser"),
            ),
            (
                "describe git commit hooks",
                Some("describe git commit hooks"),
            ),
        ] {
            assert_eq!(commit_message(field).as_deref(), message, "{field}");
        }
    }

    #[test]
    fn none_means_no_commit() {
        for field in [
            "None",
            "none.",
            "None (if nothing changed)",
            "None - checks only",
            "N/A",
            "-",
            "skip",
            "No commit needed",
            "",
            "``",
        ] {
            assert_eq!(commit_message(field), None, "{field}");
        }
    }
}
