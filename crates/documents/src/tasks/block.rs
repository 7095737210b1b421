//! Turns lines into rows: which lines are rows, how they are nested, and where blocks end.

use regreen_model::{TaskKind, Warning};

use super::row::{Row, RowBox, RowHead, RowId, has_box, looks_like_box};
use crate::markdown::{Line, LineKind};

/// Returns all rows of a text with their blocks. Ids and kinds are set later.
pub(crate) fn rows(text: &str, lines: &[Line]) -> Vec<Row> {
    let mut rows = Vec::new();
    // Rows whose block is still open, outermost first.
    let mut open: Vec<usize> = Vec::new();
    let mut last_text_line = 0;
    for (at, line) in lines.iter().enumerate() {
        let row = row_at(text, line, at);
        let closes_to = match &row {
            Some(row) => outside(&rows, &open, row.indent),
            None if ends_blocks(line) => nested_in(&rows, &open, line.indent),
            None => open.len(),
        };
        for index in open.drain(closes_to..) {
            end_block(&mut rows, index, last_text_line + 1);
        }
        if let Some(mut row) = row {
            row.parent = open.last().copied().map(RowId);
            open.push(rows.len());
            rows.push(row);
        }
        if !line.is_blank() {
            last_text_line = at;
        }
    }
    for index in open {
        end_block(&mut rows, index, last_text_line + 1);
    }
    rows
}

fn row_at(text: &str, line: &Line, at: usize) -> Option<Row> {
    let item = line.item()?;
    let content = text.get(item.content..line.end)?;
    let row_box = RowBox::parse(content)?;
    let head = RowHead::parse(&content[row_box.length..]);
    Some(Row {
        id: head.id,
        numbered: false,
        occurrence: 0,
        title: head.title,
        done: row_box.done,
        optional: row_box.optional,
        kind: TaskKind::Task,
        markers: head.markers,
        line: at,
        indent: item.indent,
        content_indent: item.content_indent,
        box_at: item.content,
        block: at..at + 1,
        parent: None,
        fix_of: None,
        depth: 0,
    })
}

/// Returns how many of the open rows enclose a new row with this indent.
fn outside(rows: &[Row], open: &[usize], indent: usize) -> usize {
    let is_deeper = |index: &&usize| rows.get(**index).is_some_and(|row| row.indent < indent);
    open.iter().take_while(is_deeper).count()
}

/// Returns how many of the open rows a heading with this indent belongs to. It ends the others.
fn nested_in(rows: &[Row], open: &[usize], indent: usize) -> usize {
    let holds = |index: &&usize| {
        rows.get(**index)
            .is_some_and(|row| row.content_indent <= indent)
    };
    open.iter().take_while(holds).count()
}

fn ends_blocks(line: &Line) -> bool {
    matches!(line.kind, LineKind::Heading | LineKind::ThematicBreak)
}

fn end_block(rows: &mut [Row], index: usize, end: usize) {
    if let Some(row) = rows.get_mut(index) {
        row.block.end = end.max(row.block.start + 1);
    }
}

/// Warns about lines that look like rows but aren't.
pub(crate) fn near_misses(text: &str, lines: &[Line]) -> Vec<Warning> {
    let is_near = |at: &usize| near_miss(text, lines, *at).is_some();
    let warning = |at: usize| {
        Warning::new(
            at + 1,
            "looks like a task, but is not one; write `- [ ] ` with these spaces",
        )
    };
    (0..lines.len()).filter(is_near).map(warning).collect()
}

/// Returns the text of a line that looks like a row but isn't one.
pub(crate) fn near_miss<'t>(text: &'t str, lines: &[Line], at: usize) -> Option<&'t str> {
    let line = lines.get(at)?;
    match &line.kind {
        LineKind::Item(item) => {
            let content = text.get(item.content..line.end)?;
            let visible = content.trim_start_matches(is_unseen);
            let is_hidden = visible.len() < content.len() && has_box(visible);
            (is_hidden || looks_like_box(content)).then_some(content)
        }
        LineKind::Text => {
            let line = text.get(line.first..line.end)?;
            let marked = line.trim_start_matches(is_unseen);
            // A list marker without a blank after it, or with one that Markdown doesn't know.
            let content = marked.strip_prefix(['-', '*', '+', '\u{2010}', '–'])?;
            let content = content.trim_start_matches(is_unseen);
            let is_box = RowBox::parse(content).is_some() || looks_like_box(content);
            is_box.then_some(content)
        }
        _ => None,
    }
}

/// Whether a character can't be seen, and isn't one of Markdown's blanks.
fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{a0}' | '\u{feff}' | '\u{200b}'..='\u{200d}' | '\u{2060}'
    ) || c == ' '
}
