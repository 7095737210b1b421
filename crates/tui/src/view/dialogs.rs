//! The boxes above the panels.

use ratatui::layout::{Position, Rect};
use regreen_reporters::{Tone, text_width, wrap_below};

use super::canvas::Canvas;
use crate::bindings::{BINDINGS, Scope};
use crate::dialog::{Confirm, Dialog, Input, Menu, MenuItem};
use crate::flow::{paragraph, plain};
use crate::state::State;

/// The widest box.
const WIDTH: u16 = 84;

type Line = (Option<Tone>, String);

/// Draws the dialog, if one is open. Returns where the next letter is typed.
pub(super) fn dialog(canvas: &mut Canvas, state: &State) -> Option<Position> {
    match state.dialog.as_ref()? {
        Dialog::Help(top) => help(canvas, *top),
        Dialog::Menu(menu) => self::menu(canvas, menu),
        Dialog::Confirm(confirm) => self::confirm(canvas, confirm),
        Dialog::Input(input) => return Some(self::input(canvas, input)),
    }
    None
}

/// Draws an empty box in the middle of the screen for this many lines, and returns its inside.
fn open(canvas: &mut Canvas, title: &str, lines: usize) -> Rect {
    let screen = canvas.buffer.area;
    let width = screen.width.min(WIDTH);
    let lines = u16::try_from(lines).unwrap_or(u16::MAX);
    let height = lines.saturating_add(2).min(screen.height);
    let area = Rect {
        x: (screen.width - width) / 2,
        y: (screen.height - height) / 2,
        width,
        height,
    };
    canvas.clear(area);
    canvas.panel(area, title, true)
}

/// Returns the columns for text in a box.
fn columns(canvas: &Canvas) -> usize {
    let width = canvas.buffer.area.width.min(WIDTH);
    usize::from(width.saturating_sub(2)).max(1)
}

fn wrapped(lines: &mut Vec<Line>, tone: Option<Tone>, text: &str, columns: usize) {
    let rows = paragraph(text, columns).into_iter();
    lines.extend(rows.map(|row| (tone, row)));
}

fn draw(canvas: &mut Canvas, inside: Rect, lines: &[Line]) {
    for ((tone, text), y) in lines.iter().zip(0..inside.height) {
        canvas.line(inside, y, &[(*tone, text)]);
    }
}

fn help(canvas: &mut Canvas, top: usize) {
    let mut lines: Vec<Line> = Vec::new();
    for scope in [Scope::Everywhere, Scope::Lists, Scope::Text] {
        lines.push((Some(Tone::Strong), scope.title().to_owned()));
        for binding in BINDINGS.iter().filter(|one| one.scope == scope) {
            let keys: Vec<String> = binding.keys.iter().map(ToString::to_string).collect();
            lines.push((None, format!("{:>20}  {}", keys.join(" "), binding.words)));
        }
    }
    let inside = open(canvas, "Keys (esc closes)", lines.len());
    let last_top = lines.len().saturating_sub(inside.height.into());
    let shown = lines.get(top.min(last_top)..).unwrap_or_default();
    draw(canvas, inside, shown);
}

fn menu(canvas: &mut Canvas, menu: &Menu) {
    let columns = columns(canvas);
    let mut lines: Vec<Line> = Vec::new();
    for line in &menu.lines {
        wrapped(&mut lines, None, line, columns);
    }
    if !lines.is_empty() {
        lines.push((None, String::new()));
    }
    let items = items(menu, columns);
    let choices: usize = items.iter().map(Vec::len).sum();
    // The choices must stay on the screen, whatever someone wrote about them.
    let height = usize::from(canvas.buffer.area.height.saturating_sub(2));
    lines.truncate(height.saturating_sub(choices + 1));
    let above = items.iter().take(menu.selection.at).map(Vec::len);
    let selected = lines.len() + above.sum::<usize>();
    lines.extend(items.into_iter().flatten());
    let hint = "enter or the number chooses, esc closes";
    lines.push((Some(Tone::Dim), hint.to_owned()));
    let inside = open(canvas, &menu.title, lines.len());
    // On a small screen, the selected one comes first.
    let hidden = (selected + 1).saturating_sub(inside.height.into());
    let top = hidden.min(selected);
    draw(canvas, inside, lines.get(top..).unwrap_or_default());
    if let Ok(row) = u16::try_from(selected - top)
        && row < inside.height
    {
        canvas.select(inside, row, true);
    }
}

/// Returns the rows of each choice: its number, its name, and beside it what follows.
fn items(menu: &Menu, columns: usize) -> Vec<Vec<Line>> {
    let widest = menu.items.iter().map(|item| item.name.len()).max();
    let width = widest.unwrap_or(0);
    let item = |(at, item): (usize, &MenuItem)| {
        let head = format!("{} {:<width$}  ", at + 1, item.name);
        let effect = wrap_below(&plain(&item.effect), Some(columns), head.len());
        let rows = format!("{head}{effect}");
        rows.lines().map(|row| (None, row.to_owned())).collect()
    };
    menu.items.iter().enumerate().map(item).collect()
}

fn confirm(canvas: &mut Canvas, confirm: &Confirm) {
    let columns = columns(canvas);
    let mut lines: Vec<Line> = Vec::new();
    for line in &confirm.lines {
        wrapped(&mut lines, None, line, columns);
    }
    lines.push((
        Some(Tone::Dim),
        "y or enter does it, n or esc doesn't".to_owned(),
    ));
    let inside = open(canvas, "Sure?", lines.len());
    draw(canvas, inside, &lines);
}

/// Draws the end of the line if all of it doesn't fit.
fn input(canvas: &mut Canvas, input: &Input) -> Position {
    let columns = columns(canvas);
    let inside = open(canvas, &input.title, 1);
    // With a place for the next letter.
    let text = plain(&format!("{} ", input.text));
    let mut used = 0;
    let start = text.char_indices().rev().take_while(|(at, c)| {
        used += text_width(text.get(*at..at + c.len_utf8()).unwrap_or_default());
        used <= columns
    });
    let start = start.last().map_or(text.len(), |(at, _)| at);
    let shown = text.get(start..).unwrap_or_default();
    canvas.line(inside, 0, &[(None, shown)]);
    let width = text_width(shown).saturating_sub(1);
    Position {
        x: inside.x
            + u16::try_from(width)
                .unwrap_or(0)
                .min(inside.width.saturating_sub(1)),
        y: inside.y,
    }
}
