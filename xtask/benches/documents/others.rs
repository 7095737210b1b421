//! How long other Markdown parsers take for the same files.

use std::hint::black_box;

use comrak::{Arena, Options, parse_document};
use regreen_documents::TaskFile;
use tree_sitter::Parser;

use crate::made_up_file::Style;
use crate::measurement::{median, milliseconds};

const TASKS: usize = 10_000;

pub(crate) fn print_comparison() {
    println!("\nfile of 10,000 tasks   regreen ms   comrak ms   tree-sitter-md ms");
    for style in [Style::SmartRalph, Style::SpecKit] {
        let text = style.file(TASKS);
        println!(
            "{style:<20} {:>12.1} {:>11.1} {:>19.1}",
            milliseconds(median(|| TaskFile::read(black_box(text.as_str())))),
            milliseconds(median(|| comrak(black_box(&text)))),
            milliseconds(median(|| tree_sitter_md(black_box(&text)))),
        );
    }
}

fn comrak(text: &str) -> usize {
    let mut options = Options::default();
    options.extension.tasklist = true;
    let arena = Arena::new();
    parse_document(&arena, text, &options).descendants().count()
}

/// Parses only the blocks, because task rows need no more.
fn tree_sitter_md(text: &str) -> Option<usize> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_md::LANGUAGE.into()).ok()?;
    Some(parser.parse(text, None)?.root_node().descendant_count())
}
