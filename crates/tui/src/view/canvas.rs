//! The cells of a frame. Every text passes here, whoever wrote it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::widgets::{Block, BorderType, Clear, Widget as _};
use regreen_reporters::{Tone, text_width};

use super::Theme;
use crate::flow::plain;

/// A text with its meaning.
pub(super) type Part<'t> = (Option<Tone>, &'t str);

/// The cells of a frame.
pub(super) struct Canvas {
    pub(super) buffer: Buffer,
    theme: Theme,
}

impl Canvas {
    pub(super) fn new(area: Rect, theme: Theme) -> Self {
        let buffer = Buffer::empty(area);
        Self { buffer, theme }
    }

    fn style(&self, tone: Option<Tone>) -> Style {
        let Some(tone) = tone else {
            return Style::new();
        };
        let (color, modifier) = look(tone);
        match self.theme {
            Theme::Plain => Style::new().add_modifier(modifier),
            Theme::Coloured => {
                let style = Style::new().add_modifier(modifier);
                color.map_or(style, |color| style.fg(color))
            }
        }
    }

    /// Draws texts one after the other into a row of an area, and returns the column behind them.
    pub(super) fn line(&mut self, area: Rect, row: u16, parts: &[Part<'_>]) -> u16 {
        let (mut x, y) = (area.x, area.y + row);
        if row >= area.height {
            return x;
        }
        for (tone, text) in parts {
            let room = usize::from(area.right().saturating_sub(x));
            let style = self.style(*tone);
            x = self.buffer.set_stringn(x, y, plain(text), room, style).0;
        }
        x
    }

    /// Draws a text that ends with the row.
    pub(super) fn line_end(&mut self, area: Rect, row: u16, tone: Option<Tone>, text: &str) {
        let width = u16::try_from(text_width(&plain(text))).unwrap_or(u16::MAX);
        if width < area.width {
            let x = area.right() - width;
            let rest = Rect { x, width, ..area };
            self.line(rest, row, &[(tone, text)]);
        }
    }

    /// Marks the row of a list that is selected.
    pub(super) fn select(&mut self, area: Rect, row: u16, is_in_use: bool) {
        let row = Rect {
            y: area.y + row,
            height: 1,
            ..area
        };
        let modifier = if is_in_use {
            Modifier::REVERSED
        } else {
            Modifier::BOLD
        };
        let row = row.intersection(self.buffer.area);
        self.buffer
            .set_style(row, Style::new().add_modifier(modifier));
    }

    /// Marks a row without changing its colors.
    pub(super) fn mark(&mut self, area: Rect, row: u16) {
        self.select(area, row, true);
    }

    /// Draws a box, and returns what is inside.
    pub(super) fn panel(&mut self, area: Rect, title: &str, is_in_use: bool) -> Rect {
        let tone = if is_in_use { Tone::Action } else { Tone::Dim };
        let style = self.style(Some(tone));
        let title = format!(" {} ", plain(title));
        let border = if is_in_use {
            BorderType::Thick
        } else {
            BorderType::Rounded
        };
        let block = Block::bordered()
            .border_type(border)
            .border_style(style)
            .title(title);
        let inside = block.inner(area);
        block.render(area, &mut self.buffer);
        inside
    }

    pub(super) fn clear(&mut self, area: Rect) {
        Clear.render(area, &mut self.buffer);
    }
}

/// Returns how a tone looks; the same as in the lines of a run.
fn look(tone: Tone) -> (Option<Color>, Modifier) {
    match tone {
        Tone::Strong => (None, Modifier::BOLD),
        Tone::Good => (Some(Color::Green), Modifier::BOLD),
        Tone::Bad => (Some(Color::Red), Modifier::BOLD),
        Tone::Warning => (Some(Color::Yellow), Modifier::BOLD),
        Tone::Action => (Some(Color::Cyan), Modifier::BOLD),
        Tone::Question => (Some(Color::Magenta), Modifier::BOLD),
        Tone::Dim => (None, Modifier::DIM),
        Tone::Added => (Some(Color::Green), Modifier::empty()),
        Tone::Removed => (Some(Color::Red), Modifier::empty()),
    }
}
