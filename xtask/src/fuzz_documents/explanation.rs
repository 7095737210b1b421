//! Why regreen deliberately reads some texts differently from CommonMark.
//!
//! Each explanation is also a rewrite: it finds a place where it applies, and writes it the way
//! CommonMark requires for the meaning that regreen gives it. An explanation holds if regreen reads
//! the same rows afterwards, and comrak then reads them too.

use super::outline::RowSet;
use super::outline::{Block, BlockKind, Outline, OutlineRow};
use super::source::{Source, indent};

/// The characters that may follow a box.
const BLANKS: [char; 4] = [' ', '\t', '\u{b}', '\u{c}'];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Explanation {
    OddBox,
    Quotation,
    QuotedCode,
    BoxBelowItem,
    BoxInWord,
    OutdentedFence,
    UnclosedFence,
    OutdentedComment,
    UnclosedComment,
    HtmlBlock,
    Table,
    UnderlinedRow,
    LinkReference,
}

impl Explanation {
    /// In the order in which they are tried: a block that is closed further down is not unclosed.
    pub(super) const ALL: [Self; 13] = [
        Self::OddBox,
        Self::Quotation,
        Self::QuotedCode,
        Self::BoxBelowItem,
        Self::BoxInWord,
        Self::OutdentedFence,
        Self::UnclosedFence,
        Self::OutdentedComment,
        Self::UnclosedComment,
        Self::HtmlBlock,
        Self::Table,
        Self::UnderlinedRow,
        Self::LinkReference,
    ];

    pub(super) fn sentence(self) -> &'static str {
        match self {
            Self::OddBox => "[-], [~] and the star of [ ]* make rows",
            Self::Quotation => "rows in block quotes are quotes",
            Self::QuotedCode => "code in a block quote is quoted text",
            Self::BoxBelowItem => "a box is on the line of its list marker",
            Self::BoxInWord => "a box ends with a blank or the line",
            Self::UnclosedFence => "a fence that never closes is ignored",
            Self::OutdentedFence => "code in an item may be indented less than the item",
            Self::UnclosedComment => "a comment that never closes is ignored",
            Self::OutdentedComment => "a comment in an item may be indented less than the item",
            Self::HtmlBlock => "HTML blocks other than comments do not hide rows",
            Self::Table => "a table is text, and a row is not its header",
            Self::UnderlinedRow => "a row is not a heading, whatever is below it",
            Self::LinkReference => "a link definition is text, and a box is not a link",
        }
    }

    /// Returns the text with the first place rewritten where this applies.
    pub(super) fn rewrite(self, reading: &Reading<'_>) -> Option<Source> {
        match self {
            Self::OddBox => reading.first_missing_row(plain_box),
            Self::Quotation => reading.without_row(|row| row.quoted),
            Self::QuotedCode => reading.without_quoted_code(),
            Self::BoxBelowItem => reading.without_row(|row| row.line != row.item_line),
            Self::BoxInWord => reading.without_row(|row| !reading.is_box_closed(row)),
            Self::OutdentedFence => reading.indented(is_open_fence),
            Self::UnclosedFence => reading.with_opener(
                |block| !block.quoted && is_open_fence(block.kind),
                as_nothing,
            ),
            Self::OutdentedComment => reading.indented(is_open_comment),
            Self::UnclosedComment => reading.with_opener(
                |block| !block.quoted && is_open_comment(block.kind),
                as_nothing,
            ),
            Self::HtmlBlock => reading.with_opener(|block| block.kind == BlockKind::Html, as_text),
            Self::Table => reading.without_table(),
            Self::UnderlinedRow => reading.without_underline(),
            Self::LinkReference => reading.without_definition(),
        }
    }
}

/// A text, and how both sides read it.
pub(super) struct Reading<'t> {
    pub(super) source: &'t Source,
    pub(super) regreen: &'t RowSet,
    pub(super) outline: &'t Outline,
}

impl Reading<'_> {
    /// Rewrites the first row that only regreen sees.
    fn first_missing_row(&self, rewrite: impl Fn(&str) -> Option<String>) -> Option<Source> {
        let theirs = self.outline.row_set();
        (1..=self.source.len())
            .filter(|line| self.regreen.has(*line) && !theirs.has(*line))
            .find_map(|line| {
                Some(
                    self.source
                        .with_line(line, rewrite(self.source.line(line))?),
                )
            })
    }

    /// Removes the box from the first such row that only comrak sees.
    fn without_row(&self, applies: impl Fn(&OutlineRow) -> bool) -> Option<Source> {
        let mut rows = self.outline.rows.iter();
        let row = rows.find(|row| applies(row) && !self.regreen.has(row.line))?;
        let (before, rest) = self.source.line(row.line).split_at_checked(row.mark)?;
        let box_start = before.strip_suffix('[')?;
        let changed = format!("{box_start}({rest}");
        Some(self.source.with_line(row.line, changed))
    }

    /// Whether a blank or the end of the line follows the box of a row.
    fn is_box_closed(&self, row: &OutlineRow) -> bool {
        let behind = self.source.line(row.line).get(row.mark + 2..);
        behind.is_some_and(|text| text.is_empty() || text.starts_with(BLANKS))
    }

    /// Rewrites the line that opens the first such block, from where the block starts.
    fn with_opener(
        &self,
        applies: impl Fn(&Block) -> bool,
        rewrite: impl Fn(&str) -> String,
    ) -> Option<Source> {
        let mut blocks = self.outline.blocks.iter();
        let block = blocks.find(|block| applies(block))?;
        let (before, opener) = self
            .source
            .line(block.first)
            .split_at_checked(block.start)?;
        let line = format!("{before}{}", rewrite(opener));
        Some(self.source.with_line(block.first, line))
    }

    /// Indents the lines after the first such block, up to the line that closes it, so that they
    /// belong to the list item.
    fn indented(&self, applies: impl Fn(BlockKind) -> bool) -> Option<Source> {
        let blocks = self.outline.blocks.iter();
        let mut outdented = blocks
            .filter(|block| applies(block.kind) && !block.quoted && block.container > 0)
            .filter_map(|block| Some((block, self.close_below(block)?)));
        let (block, close) = outdented.next()?;
        let mut source = self.source.clone();
        for number in block.last + 1..=close {
            let (column, start) = indent(source.line(number));
            let missing = block.container.saturating_sub(column);
            let content = &source.line(number)[start..];
            let padded = format!("{}{content}", " ".repeat(column + missing));
            source = source.with_line(number, padded);
        }
        Some(source)
    }

    /// Returns the line below a block that would close it, if no row outside its list item comes
    /// first.
    fn close_below(&self, block: &Block) -> Option<usize> {
        for number in block.last + 1..=self.source.len() {
            let line = self.source.line(number);
            let (column, start) = indent(line);
            let content = &line[start..];
            if closes(block, column, content) {
                return Some(number);
            }
            if column < block.container && is_row(content) {
                return None;
            }
        }
        None
    }

    /// Replaces the first code block in a quote with words.
    fn without_quoted_code(&self) -> Option<Source> {
        let is_code = |block: &&Block| {
            let is_fence = matches!(block.kind, BlockKind::Fence { .. });
            block.quoted && (is_fence || block.kind == BlockKind::IndentedCode)
        };
        let code = self.outline.blocks.iter().find(is_code)?;
        let mut source = self.source.clone();
        for number in code.first..=code.last {
            let (before, _) = source.line(number).split_once('>')?;
            let line = format!("{before}> words");
            source = source.with_line(number, line);
        }
        Some(source)
    }

    fn without_table(&self) -> Option<Source> {
        let is_table = |block: &&Block| block.kind == BlockKind::Table;
        let table = self.outline.blocks.iter().find(is_table)?;
        let head = self.source.line(table.first).replace('|', "/");
        Some(self.source.with_line(table.first, head))
    }

    /// Makes the underline of the first underlined row meaningless.
    fn without_underline(&self) -> Option<Source> {
        let mut blocks = self.outline.blocks.iter();
        let heading = blocks
            .find(|block| block.kind == BlockKind::Underlined && self.regreen.has(block.first))?;
        let line = as_nothing(self.source.line(heading.last));
        Some(self.source.with_line(heading.last, line))
    }

    /// Removes the first link definition.
    fn without_definition(&self) -> Option<Source> {
        (1..=self.source.len()).find_map(|number| {
            let line = self.source.line(number);
            let label = line[..line.find("]:")?].rfind('[')?;
            let changed = format!("{}({}", &line[..label], &line[label + 1..]);
            Some(self.source.with_line(number, changed))
        })
    }
}

/// Returns a line that ends a paragraph and has no meaning.
fn as_nothing(opener: &str) -> String {
    let blank = opener.len() - opener.trim_start_matches([' ', '\t']).len();
    format!("{}<!-- -->", &opener[..blank])
}

/// Returns plain words instead of a tag.
fn as_text(opener: &str) -> String {
    opener.replace('<', "x")
}

fn is_open_fence(kind: BlockKind) -> bool {
    matches!(kind, BlockKind::Fence { closed: false, .. })
}

fn is_open_comment(kind: BlockKind) -> bool {
    matches!(kind, BlockKind::Comment { closed: false })
}

fn closes(block: &Block, column: usize, content: &str) -> bool {
    match block.kind {
        BlockKind::Fence { symbol, length, .. } => {
            let marks = content.bytes().take_while(|b| *b == symbol).count();
            let is_bare = content[marks..].trim_matches([' ', '\t']).is_empty();
            column < block.container + 4 && marks >= length && is_bare
        }
        BlockKind::Comment { .. } => content.contains("-->"),
        _ => false,
    }
}

/// Returns the text of a line after its first list marker, including blanks.
fn behind_marker(content: &str) -> Option<&str> {
    let digits = content.bytes().take_while(u8::is_ascii_digit).count();
    let marks = if digits == 0 { "-*+" } else { ".)" };
    let mark = content[digits..].chars().next()?;
    let behind = &content[digits + mark.len_utf8()..];
    (digits <= 9 && marks.contains(mark) && behind.starts_with([' ', '\t'])).then_some(behind)
}

/// Whether a line has a list marker and a box of any kind.
fn is_row(content: &str) -> bool {
    behind_marker(content)
        .map(str::trim_start)
        .is_some_and(|text| box_end(text).is_some())
}

/// Returns the end of the box that a text starts with, including its star.
fn box_end(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('[')?;
    let rest = inner.strip_prefix([' ', 'x', 'X', '-', '~'])?;
    let rest = rest.strip_prefix(']')?;
    let star = ["\\*", "*"].iter().find(|star| rest.starts_with(**star));
    let end = 3 + star.map_or(0, |star| star.len());
    let after = &text[end..];
    (after.is_empty() || after.starts_with(BLANKS)).then_some(end)
}

/// Returns a row with its odd box written as a plain one; `None` if it has no odd box.
fn plain_box(line: &str) -> Option<String> {
    let (_, mut at) = indent(line);
    while let Some(behind) = behind_marker(&line[at..]) {
        at = line.len() - behind.trim_start().len();
    }
    let text = &line[at..];
    let end = box_end(text)?;
    let mark = if text.starts_with("[x]") || text.starts_with("[X]") {
        "[x]"
    } else {
        "[ ]"
    };
    let plain = format!("{}{mark}{}", &line[..at], &text[end..]);
    (plain != line).then_some(plain)
}
