//! A report as lines on a terminal.

use regreen_model::visible_line;
use regreen_reporters::{LineStyle, StatusLine};

use super::sections::{Page, Row, Section};

/// Nothing in a report is cut before this: warnings are shown in full.
const LINE_CHARS: usize = 10_000;

pub(super) fn page(page: &Page, style: LineStyle) -> String {
    let mut head = StatusLine::labelled("REPORT", shown(&page.title)).toned(page.tone);
    head = head.wrapped_detail(shown(&page.facts.join(" · ")));
    let mut text = head.render(style);
    for section in &page.sections {
        text.push('\n');
        for row in &section.rows {
            text.push_str(&line(section, row).render(style));
        }
    }
    text
}

fn line(section: &Section, row: &Row) -> StatusLine {
    let line = StatusLine::labelled(section.label, shown(&row.name))
        .toned(section.tone)
        .timed(row.time_ms)
        .trailing(shown(&row.trailing));
    // A warning is one long text, which must not be cut.
    let line = if row.trailing.is_empty() && row.time_ms.is_none() {
        line.wrapped()
    } else {
        line
    };
    let notes = row.notes.iter();
    notes.fold(line, |line, note| line.wrapped_detail(shown(note)))
}

fn shown(text: &str) -> String {
    visible_line(text, LINE_CHARS)
}
