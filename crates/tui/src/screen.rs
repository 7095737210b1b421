//! The terminal: taken over at the start, given back at the end, however that comes.

use std::io::{self, Write};
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::backend::{Backend as _, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::crossterm::cursor::{Hide, MoveTo, Show};
use ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use ratatui::crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, size,
};
use ratatui::crossterm::{execute, queue};
use ratatui::layout::Position;

use crate::event::Size;
use crate::view::Frame;

/// Whether the terminal is ours and has to be given back.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal, for as long as this value lives.
#[derive(Debug)]
pub(crate) struct Screen {
    drawn: Drawn,
}

impl Screen {
    /// Takes the terminal over.
    pub(crate) fn take() -> io::Result<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let previous = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                // Otherwise nobody could read why, nor see what they type.
                give_back();
                previous(info);
            }));
        });
        take_over()?;
        Ok(Self {
            drawn: Drawn::default(),
        })
    }

    pub(crate) fn size() -> io::Result<Size> {
        let (columns, rows) = size()?;
        Ok(Size { columns, rows })
    }

    /// Shows a frame. Writes only what is different, all at once, and nothing if nothing is.
    pub(crate) fn show(&mut self, frame: Frame) -> io::Result<()> {
        let bytes = self.drawn.update(frame)?;
        if bytes.is_empty() {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        out.write_all(&bytes)?;
        out.flush()
    }

    /// Forgets what is on the screen, so that the next frame is drawn in full.
    pub(crate) fn forget(&mut self) {
        self.drawn = Drawn::default();
    }

    /// Gives the terminal back while the process is suspended.
    pub(crate) fn suspend(&mut self, wait: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        give_back();
        wait()?;
        self.forget();
        take_over()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn take_over() -> io::Result<()> {
    enable_raw_mode()?;
    IS_TAKEN.store(true, Ordering::SeqCst);
    execute!(
        io::stdout(),
        EnterAlternateScreen,
        EnableBracketedPaste,
        Hide
    )
}

fn give_back() {
    if IS_TAKEN.swap(false, Ordering::SeqCst) {
        // A terminal that is gone needs nothing back.
        let _ = execute!(
            io::stdout(),
            DisableBracketedPaste,
            LeaveAlternateScreen,
            Show
        );
        let _ = disable_raw_mode();
    }
}

/// What is on the screen.
#[derive(Debug, Default)]
struct Drawn {
    buffer: Option<Buffer>,
    cursor: Option<Position>,
}

impl Drawn {
    /// Returns what to write in order to show another frame.
    fn update(&mut self, frame: Frame) -> io::Result<Vec<u8>> {
        let area = frame.buffer.area;
        let known = self.buffer.take().filter(|buffer| buffer.area == area);
        let is_new = known.is_none();
        let before = known.unwrap_or_else(|| Buffer::empty(area));
        let changes = before.diff(&frame.buffer);
        let mut bytes = Vec::new();
        if is_new || !changes.is_empty() || frame.cursor != self.cursor {
            queue!(bytes, BeginSynchronizedUpdate)?;
            if is_new {
                queue!(bytes, Clear(ClearType::All))?;
            }
            CrosstermBackend::new(&mut bytes).draw(changes.into_iter())?;
            match frame.cursor {
                Some(at) => queue!(bytes, MoveTo(at.x, at.y), Show)?,
                None => queue!(bytes, Hide)?,
            }
            queue!(bytes, EndSynchronizedUpdate)?;
        }
        self.buffer = Some(frame.buffer);
        self.cursor = frame.cursor;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;

    use super::*;

    fn frame(text: &str) -> Frame {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 10, 1));
        buffer.set_string(0, 0, text, ratatui::style::Style::new());
        Frame {
            buffer,
            cursor: None,
        }
    }

    #[test]
    fn nothing_is_written_if_nothing_changed_and_else_only_what_did() {
        let mut drawn = Drawn::default();
        let written = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        assert!(written(drawn.update(frame("one")).unwrap()).contains("one"));
        assert_eq!(written(drawn.update(frame("one")).unwrap()), "");
        let change = written(drawn.update(frame("ons")).unwrap());
        assert!(change.contains('s') && !change.contains("on"), "{change:?}");
    }
}
