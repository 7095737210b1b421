//! Rows at the bottom of a terminal, redrawn in place below lines that scroll.

use std::collections::VecDeque;
use std::io::Write;

use crate::status_line::{LineStyle, Palette, StatusLine};
use crate::text::text_width;

/// The most lines that are remembered, to be printed again when the width changes.
const REMEMBERED: usize = 300;
/// A wide character does not fit into one column.
const MIN_COLUMNS: usize = 2;
const CLEAR_TO_END_OF_LINE: &str = "\u{1b}[K";
const CLEAR_BELOW: &str = "\u{1b}[J";

/// The size of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Its width.
    pub columns: usize,
    /// Its height.
    pub lines: usize,
}

/// A terminal for the live view to draw on.
pub trait Terminal: Write + Send + 'static {
    /// Returns the current size.
    fn size(&self) -> Size;

    /// Shows or hides typed text: the echo of Enter would move the rows that are redrawn in place.
    fn set_echo(&mut self, _is_shown: bool) {}
}

/// Keeps rows at the bottom of a terminal, and tracks which rows of the screen are its own.
#[derive(Debug)]
pub(super) struct Painter<T> {
    /// `None` once writing to it has failed.
    terminal: Option<T>,
    palette: Palette,
    /// The last lines that were printed, with the widths of their rows.
    printed: VecDeque<(StatusLine, Vec<usize>)>,
    /// The rows that are redrawn.
    drawn: Vec<String>,
    size: Size,
    is_echo_hidden: bool,
}

impl<T: Terminal> Painter<T> {
    pub(super) fn new(terminal: T, palette: Palette) -> Self {
        let size = terminal.size();
        Self {
            terminal: Some(terminal),
            palette,
            printed: VecDeque::new(),
            drawn: Vec::new(),
            size,
            is_echo_hidden: false,
        }
    }

    /// Returns the size to draw rows for. The last column stays free, because a terminal may start
    /// a new line after it.
    pub(super) fn room(&self) -> Size {
        let size = self.terminal.as_ref().map_or(self.size, Terminal::size);
        Size {
            columns: size.columns.saturating_sub(1),
            ..size
        }
    }

    /// Prints lines above the rows, and replaces the rows.
    pub(super) fn draw(&mut self, lines: Vec<StatusLine>, rows: Vec<String>) {
        let room = self.room();
        let size = Size {
            columns: room.columns + 1,
            ..room
        };
        let is_resized = size.columns != self.size.columns;
        if lines.is_empty() && rows == self.drawn && !is_resized {
            return;
        }
        if size.columns < MIN_COLUMNS {
            return;
        }
        let mut text = if is_resized {
            self.start_over(size, rows.len())
        } else {
            self.to_first_row(self.drawn.len(), size)
        };
        for line in lines {
            text.push_str(&self.print(line));
        }
        text.push_str(&rows.join(&format!("{CLEAR_TO_END_OF_LINE}\n")));
        text.push_str(CLEAR_BELOW);
        // Text typed meanwhile is echoed over the row instead of after it.
        text.push('\r');
        self.drawn = rows;
        self.size = size;
        self.write(&text);
    }

    /// Hides or shows typed text.
    pub(super) fn hide_echo(&mut self, is_hidden: bool) {
        if let Some(terminal) = &mut self.terminal
            && self.is_echo_hidden != is_hidden
        {
            self.is_echo_hidden = is_hidden;
            terminal.set_echo(!is_hidden);
        }
    }

    /// Forgets the lines above, because someone else prints there.
    pub(super) fn forget_printed(&mut self) {
        self.printed.clear();
    }

    fn print(&mut self, line: StatusLine) -> String {
        let rows = line.rows(self.style());
        let widths = rows.iter().map(|row| visible_width(row)).collect();
        self.printed.push_back((line, widths));
        if self.printed.len() > REMEMBERED {
            self.printed.pop_front();
        }
        let end = format!("{CLEAR_TO_END_OF_LINE}\n");
        rows.iter().map(|row| format!("{row}{end}")).collect()
    }

    fn style(&self) -> LineStyle {
        LineStyle {
            palette: self.palette,
            columns: Some(self.room().columns),
        }
    }

    fn to_first_row(&self, rows: usize, size: Size) -> String {
        let up = rows.saturating_sub(1).min(size.lines.saturating_sub(1));
        match up {
            0 => "\r".to_owned(),
            up => format!("\r\u{1b}[{up}A"),
        }
    }

    /// Prints everything again after the width has changed: most terminals have wrapped the rows
    /// that are now too long, others have cut them.
    fn start_over(&mut self, size: Size, rows: usize) -> String {
        let height = |width: usize| width.div_ceil(size.columns).max(1);
        let printed = self.printed.iter().flat_map(|(_, widths)| widths);
        let drawn = self.drawn.iter().map(|row| visible_width(row));
        let mut ours: usize = printed.copied().chain(drawn).map(height).sum();
        // Without rows, the cursor is below the printed lines.
        ours += usize::from(self.drawn.is_empty());
        let start = self.to_first_row(ours, size) + CLEAR_BELOW;
        let mut room = size.lines.saturating_sub(rows);
        let mut again = Vec::new();
        while let Some((line, _)) = self.printed.pop_back() {
            let height = line.rows(self.style()).len();
            if height > room {
                break;
            }
            room -= height;
            again.push(line);
        }
        self.printed.clear();
        let again: Vec<String> = again
            .into_iter()
            .rev()
            .map(|line| self.print(line))
            .collect();
        start + &again.concat()
    }

    fn write(&mut self, text: &str) {
        if let Some(terminal) = &mut self.terminal {
            let written = terminal
                .write_all(text.as_bytes())
                .and_then(|()| terminal.flush());
            if written.is_err() {
                self.terminal = None;
            }
        }
    }
}

/// Returns the width of a row without its colors.
fn visible_width(row: &str) -> usize {
    let mut pieces = row.split('\u{1b}');
    let first = pieces.next().map_or(0, text_width);
    let rest = pieces.map(|piece| {
        piece
            .split_once('m')
            .map_or(0, |(_, text)| text_width(text))
    });
    first + rest.sum::<usize>()
}
