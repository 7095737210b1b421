//! A terminal that keeps what is written to it, or refuses it.

use std::io;
use std::sync::{Arc, Mutex};

use regreen_reporters::TermLike;

#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    size: (u16, u16),
    is_gone: bool,
    written: Arc<Mutex<Vec<String>>>,
}

impl Recorder {
    pub(crate) fn new(lines: u16, columns: u16) -> Self {
        Self {
            size: (lines, columns),
            is_gone: false,
            written: Arc::default(),
        }
    }

    /// Everything that is done to it fails.
    pub(crate) fn gone() -> Self {
        Self {
            is_gone: true,
            ..Self::new(24, 80)
        }
    }

    pub(crate) fn written(&self) -> Vec<String> {
        self.written.lock().expect("nobody panics").clone()
    }

    fn answer(&self) -> io::Result<()> {
        match self.is_gone {
            true => Err(io::ErrorKind::BrokenPipe.into()),
            false => Ok(()),
        }
    }
}

impl TermLike for Recorder {
    fn width(&self) -> u16 {
        self.size.1
    }

    fn height(&self) -> u16 {
        self.size.0
    }

    fn move_cursor_up(&self, _n: usize) -> io::Result<()> {
        self.answer()
    }

    fn move_cursor_down(&self, _n: usize) -> io::Result<()> {
        self.answer()
    }

    fn move_cursor_right(&self, _n: usize) -> io::Result<()> {
        self.answer()
    }

    fn move_cursor_left(&self, _n: usize) -> io::Result<()> {
        self.answer()
    }

    fn write_line(&self, s: &str) -> io::Result<()> {
        self.write_str(s)
    }

    fn write_str(&self, s: &str) -> io::Result<()> {
        let mut written = self.written.lock().expect("nobody panics");
        written.push(s.to_owned());
        self.answer()
    }

    fn clear_line(&self) -> io::Result<()> {
        self.answer()
    }

    fn flush(&self) -> io::Result<()> {
        self.answer()
    }
}
