//! The readers that are compared.

use regreen_documents::TaskFile;
use tree_sitter::{Node, Parser, TreeCursor};

use super::row_set::RowSet;
use super::source::Source;

/// The rows that regreen sees.
pub(super) fn regreen(text: &str) -> RowSet {
    TaskFile::read(text)
        .tasks()
        .iter()
        .map(|task| (task.line, task.done))
        .collect()
}

/// The rows that tree-sitter-md sees; `None` if it gives no tree.
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

fn visit(cursor: &mut TreeCursor<'_>, look: &mut impl FnMut(Node<'_>)) {
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
