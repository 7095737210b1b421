//! Whose way of writing a task file has.

use regreen_model::{Dialect, TaskKind};

use super::fields::FieldName;
use super::numbering::letters;
use super::row::Row;
use crate::markdown::{Line, LineKind};

pub(crate) fn recognise(text: &str, lines: &[Line], rows: &[Row]) -> Dialect {
    let ids = || {
        rows.iter()
            .filter(|row| !row.numbered)
            .filter_map(|row| row.id.as_ref())
    };
    let total = ids().count();
    let lettered_t = ids().filter(|id| letters(id) == "T").count();
    let numeric = ids().filter(|id| letters(id).is_empty()).count();
    if lettered_t > 0 && lettered_t * 2 >= total {
        Dialect::SpecKit
    } else if total > 0 && lines.iter().any(|line| is_ralph_field(text, line)) {
        Dialect::SmartRalph
    } else if numeric == 0 {
        Dialect::Plain
    } else if lines.iter().any(|line| is_numbered_heading(text, line)) {
        Dialect::OpenSpec
    } else if rows.iter().any(|row| row.kind == TaskKind::Group) || text.contains("_Requirements:")
    {
        Dialect::Kiro
    } else {
        Dialect::Plain
    }
}

/// Only smart-ralph has `Do`, `Done when` and `Verify` below its rows.
fn is_ralph_field(text: &str, line: &Line) -> bool {
    line.item()
        .and_then(|item| FieldName::parse(&text[item.content..line.end]))
        .is_some_and(|(name, _)| name != FieldName::Files)
}

/// `## 1. Setup`
fn is_numbered_heading(text: &str, line: &Line) -> bool {
    let title = text[line.first..line.end]
        .trim_start_matches('#')
        .trim_start();
    let digits = title.bytes().take_while(u8::is_ascii_digit).count();
    line.kind == LineKind::Heading && digits > 0 && title[digits..].starts_with(". ")
}
