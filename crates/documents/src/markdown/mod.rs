//! As much Markdown as a task list needs: which lines are list items, headings, code or comments.
//! Everything else is text.
//!
//! This is our own scanner, because existing parsers either miss rows that people write (`- [ ]*`,
//! `- [-]`) or give wrong byte ranges; docs/design/markdown.md has the evidence and every known
//! difference from CommonMark.

mod line;
mod line_shape;
mod scanner;

pub(crate) use line::{FenceMark, Item, Line, LineKind, eol_of};
pub(crate) use scanner::{Scan, scan};
