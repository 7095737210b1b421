//! The rows of a task file, as regreen, comrak and tree-sitter-md read them.

use std::collections::BTreeMap;
use std::fmt;

use comrak::nodes::{Node, NodeValue};
use comrak::{Arena, Options, parse_document};
use regreen_documents::TaskFile;
use tree_sitter::{Parser, TreeCursor};

use super::source::Source;

#[derive(Clone, Debug, Default)]
pub(super) struct Outline {
    pub(super) rows: Vec<OutlineRow>,
    pub(super) blocks: Vec<Block>,
}

#[derive(Clone, Debug)]
pub(super) struct OutlineRow {
    /// The line of the box, 1-based.
    pub(super) line: usize,
    /// The byte in that line where the mark in the box is.
    pub(super) mark: usize,
    pub(super) done: bool,
    /// The line of its list marker.
    pub(super) item_line: usize,
    pub(super) quoted: bool,
}

/// A block whose lines comrak does not read as list items.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) kind: BlockKind,
    /// The first and last line, 1-based.
    pub(super) first: usize,
    pub(super) last: usize,
    /// The byte in its first line where it starts.
    pub(super) start: usize,
    /// The content column of the list item that contains it.
    pub(super) container: usize,
    pub(super) quoted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    Fence {
        symbol: u8,
        length: usize,
        closed: bool,
    },
    IndentedCode,
    Comment {
        closed: bool,
    },
    /// An HTML block other than a comment.
    Html,
    Table,
    /// A heading because of the line below it.
    Underlined,
}

impl Outline {
    pub(super) fn of(text: &str) -> Self {
        let mark = if text.starts_with('\u{FEFF}') { 3 } else { 0 };
        let mut outline = Self {
            rows: nodes(text, true, row),
            // comrak does not report where the content of a task item starts, so parse without task
            // items.
            blocks: nodes(text, false, block),
        };
        // Columns in the first line include a byte order mark.
        for row in outline.rows.iter_mut().filter(|row| row.line == 1) {
            row.mark = row.mark.saturating_sub(mark);
        }
        for block in outline.blocks.iter_mut().filter(|block| block.first == 1) {
            block.start = block.start.saturating_sub(mark);
        }
        outline
    }

    pub(super) fn row_set(&self) -> RowSet {
        self.rows.iter().map(|row| (row.line, row.done)).collect()
    }
}

fn nodes<T>(text: &str, tasks: bool, look: impl Fn(Node<'_>) -> Option<T>) -> Vec<T> {
    let mut options = Options::default();
    options.extension.table = true;
    options.extension.tasklist = tasks;
    let arena = Arena::new();
    let root = parse_document(&arena, text, &options);
    root.descendants().filter_map(look).collect()
}

fn row(node: Node<'_>) -> Option<OutlineRow> {
    let data = node.data();
    let NodeValue::TaskItem(item) = &data.value else {
        return None;
    };
    let mark = item.symbol_sourcepos.start;
    Some(OutlineRow {
        line: mark.line,
        mark: mark.column.checked_sub(1)?,
        done: item.symbol.is_some(),
        item_line: data.sourcepos.start.line,
        quoted: is_quoted(node),
    })
}

fn block(node: Node<'_>) -> Option<Block> {
    let data = node.data();
    let kind = match &data.value {
        NodeValue::CodeBlock(code) if code.fenced => BlockKind::Fence {
            symbol: code.fence_char,
            length: code.fence_length,
            closed: code.closed,
        },
        NodeValue::CodeBlock(_) => BlockKind::IndentedCode,
        NodeValue::HtmlBlock(html) if html.block_type == 2 => BlockKind::Comment {
            closed: html.literal.contains("-->"),
        },
        NodeValue::HtmlBlock(_) => BlockKind::Html,
        NodeValue::Table(_) => BlockKind::Table,
        NodeValue::Heading(heading) if heading.setext => BlockKind::Underlined,
        _ => return None,
    };
    Some(Block {
        kind,
        first: data.sourcepos.start.line,
        last: data.sourcepos.end.line,
        start: data.sourcepos.start.column.checked_sub(1)?,
        container: content_column(node),
        quoted: is_quoted(node),
    })
}

fn is_quoted(node: Node<'_>) -> bool {
    node.ancestors()
        .any(|above| matches!(above.data().value, NodeValue::BlockQuote))
}

/// Returns the column that lines must reach to belong to the item that contains a node.
fn content_column(node: Node<'_>) -> usize {
    node.ancestors()
        .skip(1)
        .map(|above| match &above.data().value {
            NodeValue::Item(list) => list.marker_offset + list.padding,
            _ => 0,
        })
        .sum()
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RowSet {
    done_by_line: BTreeMap<usize, bool>,
}

impl RowSet {
    pub(super) fn has(&self, line: usize) -> bool {
        self.done_by_line.contains_key(&line)
    }

    pub(super) fn len(&self) -> usize {
        self.done_by_line.len()
    }
}

impl FromIterator<(usize, bool)> for RowSet {
    fn from_iter<T: IntoIterator<Item = (usize, bool)>>(rows: T) -> Self {
        Self {
            done_by_line: rows.into_iter().collect(),
        }
    }
}

/// Formats the rows as `1[ ] 4[x]`.
impl fmt::Display for RowSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.done_by_line.is_empty() {
            return f.write_str("none");
        }
        for (at, (line, done)) in self.done_by_line.iter().enumerate() {
            let space = if at == 0 { "" } else { " " };
            let mark = if *done { 'x' } else { ' ' };
            write!(f, "{space}{line}[{mark}]")?;
        }
        Ok(())
    }
}

/// Returns the rows that regreen sees.
pub(super) fn regreen(text: &str) -> RowSet {
    TaskFile::read(text)
        .tasks()
        .iter()
        .map(|task| (task.line, task.done))
        .collect()
}

/// Returns the rows that tree-sitter-md sees; `None` if it returns no tree.
pub(super) fn tree_sitter_md(text: &str) -> Option<RowSet> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_md::LANGUAGE.into()).ok()?;
    let tree = parser.parse(text, None)?;
    let source = Source::of(text);
    let mut rows = Vec::new();
    visit(&mut tree.walk(), &mut |node| {
        let done = match node.kind() {
            "task_list_marker_checked" => true,
            "task_list_marker_unchecked" => false,
            _ => return,
        };
        // Its own line numbers do not count a lone `\r`.
        rows.push((source.line_at(node.start_byte()), done));
    });
    Some(rows.into_iter().collect())
}

fn visit(cursor: &mut TreeCursor<'_>, look: &mut impl FnMut(tree_sitter::Node<'_>)) {
    loop {
        look(cursor.node());
        if cursor.goto_first_child() || cursor.goto_next_sibling() {
            continue;
        }
        loop {
            if !cursor.goto_parent() {
                return;
            }
            if cursor.goto_next_sibling() {
                break;
            }
        }
    }
}
