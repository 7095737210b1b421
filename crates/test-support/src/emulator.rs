use vt100::{Parser, Screen};

/// What a terminal does with its rows when its width changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnResize {
    /// Wraps rows that are now too long, and joins those that it wrapped before.
    Rewrap,
    /// Cuts rows that are now too long.
    Cut,
}

/// A terminal emulator that can be resized.
pub(crate) struct Emulator {
    parser: Parser,
    on_resize: OnResize,
}

impl Emulator {
    pub(crate) fn new((rows, columns): (u16, u16), on_resize: OnResize) -> Self {
        Self {
            parser: Parser::new(rows, columns, 0),
            on_resize,
        }
    }

    pub(crate) fn process(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
    }

    pub(crate) fn resize(&mut self, (rows, columns): (u16, u16)) {
        let screen = self.parser.screen_mut();
        if screen.size() == (rows, columns) {
            return;
        }
        match self.on_resize {
            OnResize::Cut => screen.set_size(rows, columns),
            OnResize::Rewrap => {
                let mut parser = Parser::new(rows, columns, 0);
                parser.process(rewrapped(screen, columns).as_bytes());
                self.parser = parser;
            }
        }
    }

    /// Returns the text on the screen, without trailing spaces.
    pub(crate) fn contents(&self) -> String {
        let contents = self.parser.screen().contents();
        let rows: Vec<&str> = contents.lines().map(str::trim_end).collect();
        rows.join("\n").trim_end().to_owned() + "\n"
    }
}

/// Returns the input that makes a terminal of another width show the same text, with the cursor in
/// the row of the same character.
fn rewrapped(screen: &Screen, columns: u16) -> String {
    let (_, width) = screen.size();
    let (width, columns) = (usize::from(width), usize::from(columns));
    let mut lines = logical_lines(screen);
    let (cursor_row, cursor_column) = screen.cursor_position();
    let cursor_row = usize::from(cursor_row);
    let is_below = |line: &(usize, String)| line.0 > cursor_row;
    while lines
        .last()
        .is_some_and(|line| is_below(line) && line.1.is_empty())
    {
        lines.pop();
    }
    let height = |text: &str| text.chars().count().div_ceil(columns).max(1);
    let below = lines.iter().filter(|line| is_below(line));
    let mut up: usize = below.map(|(_, text)| height(text)).sum();
    if let Some((first_row, text)) = lines.iter().rfind(|line| !is_below(line)) {
        let offset = (cursor_row - first_row) * width + usize::from(cursor_column);
        up += (height(text) - 1).saturating_sub(offset / columns);
    }
    let text: Vec<&str> = lines.iter().map(|(_, text)| text.as_str()).collect();
    let up = match up {
        0 => String::new(),
        up => format!("\u{1b}[{up}A"),
    };
    text.join("\r\n") + "\r" + &up
}

/// Returns the lines of a screen, each with its first row; rows that the terminal wrapped form one
/// line.
fn logical_lines(screen: &Screen) -> Vec<(usize, String)> {
    let (_, width) = screen.size();
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut is_continued = false;
    for (at, row) in screen.rows(0, width).enumerate() {
        match lines.last_mut() {
            Some((_, line)) if is_continued => line.push_str(&row),
            _ => lines.push((at, row)),
        }
        is_continued = u16::try_from(at).is_ok_and(|at| screen.row_wrapped(at));
    }
    lines
}
