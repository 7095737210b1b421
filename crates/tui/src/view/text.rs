//! The text about what is selected: a log with the blamed line marked, a diff, or details.

use ratatui::layout::Rect;
use regreen_overview::{AttemptText, LogLine, LogPage};
use regreen_reporters::Tone;

use super::canvas::Canvas;
use crate::details::{DetailLine, details};
use crate::document::{Document, Tab};
use crate::flow::{first_shown, paragraph, plain, rows};
use crate::state::{Panel, State};

pub(super) fn text(canvas: &mut Canvas, state: &State, area: Rect) {
    if area.height == 0 {
        return;
    }
    let inside = canvas.panel(area, &title(state), state.focus == Panel::Text);
    if !state.shows_document() {
        draw_details(canvas, inside, &details(state), state.details_top);
        return;
    }
    match &state.document.page {
        Some(Ok(page)) if page.lines.is_empty() => say(canvas, inside, "it is empty"),
        Some(Ok(page)) => draw_page(canvas, inside, &state.document, page),
        Some(Err(why)) => say(canvas, inside, why),
        None if state.attempt().is_none() => say(canvas, inside, "no attempt in this run"),
        None => say(canvas, inside, "reading…"),
    }
}

fn say(canvas: &mut Canvas, inside: Rect, text: &str) {
    canvas.line(inside, 0, &[(Some(Tone::Dim), text)]);
}

fn title(state: &State) -> String {
    match state.subject {
        Panel::Runs => "4 Run".to_owned(),
        Panel::Tasks | Panel::Text => "4 Task".to_owned(),
        Panel::Attempts => {
            let open = state.document.tab();
            let tabs = Tab::ALL.map(|tab| {
                if tab == open {
                    format!("[{}]", tab.title())
                } else {
                    tab.title().to_owned()
                }
            });
            format!("4 {}{}", tabs.join(" "), place(&state.document))
        }
    }
}

/// Returns where in a text the screen is.
fn place(document: &Document) -> String {
    let page = document.lines().filter(|_| document.tab() != Tab::Evidence);
    page.map_or(String::new(), |page| {
        let blamed = page.blamed.map(|line| format!(" · blamed line {line}"));
        format!(" · {} lines{}", page.total, blamed.unwrap_or_default())
    })
}

fn draw_details(canvas: &mut Canvas, inside: Rect, lines: &[DetailLine], top: usize) {
    let mut y = 0;
    for line in lines.iter().skip(top) {
        for row in paragraph(&line.text, inside.width.into()) {
            canvas.line(inside, y, &[(line.tone, &row)]);
            y += 1;
        }
        if y >= inside.height {
            break;
        }
    }
}

/// Draws a part of a file, with the numbers of its lines. A `▶` marks the blamed line.
fn draw_page(canvas: &mut Canvas, inside: Rect, document: &Document, page: &LogPage) {
    let digits = page.total.to_string().len();
    let gutter = u16::try_from(digits + 2).unwrap_or(inside.width);
    let body = Rect {
        x: inside.x + gutter.min(inside.width),
        width: inside.width.saturating_sub(gutter),
        ..inside
    };
    let texts: Vec<&str> = page.lines.iter().map(|line| line.text.as_str()).collect();
    let first = page.lines.first().map_or(1, |line| line.number);
    let size = (body.width.into(), body.height.into());
    let wraps = document.is_wrapped;
    let top = first_shown(&texts, first, document.anchor, size, wraps);
    let mut y = 0;
    for line in page.lines.iter().skip(top) {
        let is_blamed = page.blamed == Some(line.number);
        let mark = if is_blamed { '▶' } else { ' ' };
        let number = format!("{mark}{:>digits$} ", line.number);
        let tone = if is_blamed { Tone::Bad } else { Tone::Dim };
        canvas.line(inside, y, &[(Some(tone), &number)]);
        let text = plain(&line.text);
        let shown: String = text.chars().skip(document.left).collect();
        for row in rows(&shown, body.width.into(), wraps) {
            if y >= body.height {
                break;
            }
            canvas.line(body, y, &[(line_tone(document, line, is_blamed), row)]);
            if document.found == Some(line.number) {
                canvas.mark(body, y);
            }
            y += 1;
        }
        if y >= body.height {
            break;
        }
    }
}

fn line_tone(document: &Document, line: &LogLine, is_blamed: bool) -> Option<Tone> {
    if is_blamed {
        return Some(Tone::Bad);
    }
    if document.text != AttemptText::Diff {
        return None;
    }
    match line.text.chars().next() {
        Some('+') => Some(Tone::Added),
        Some('-') => Some(Tone::Removed),
        Some('@') => Some(Tone::Action),
        _ => None,
    }
}
