//! Terminals to draw on: an emulator, and one that is gone.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use regreen_reporters::{Size, Terminal};
use vt100::Parser;

/// A terminal emulator. Converts line breaks as a terminal driver does.
#[derive(Clone)]
pub(crate) struct Emulator {
    parser: Arc<Mutex<Parser>>,
}

impl Emulator {
    pub(crate) fn new(lines: u16, columns: u16) -> Self {
        const SCROLLBACK: usize = 1_000;
        let parser = Parser::new(lines, columns, SCROLLBACK);
        Self {
            parser: Arc::new(Mutex::new(parser)),
        }
    }

    pub(crate) fn resize(&self, lines: u16, columns: u16) {
        self.parser().screen_mut().set_size(lines, columns);
    }

    /// Returns the text on the screen, with the spinner at its first frame.
    pub(crate) fn contents(&self) -> String {
        let spinner = |c: char| "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏".contains(c);
        let contents = self.parser().screen().contents();
        let lines = contents.lines().map(str::trim_end);
        let contents = lines.collect::<Vec<_>>().join("\n");
        contents.trim_end().replace(spinner, "⠋")
    }

    /// Returns the color of the first cell of this text.
    pub(crate) fn color_of(&self, text: &str) -> (vt100::Color, bool) {
        let parser = self.parser();
        let screen = parser.screen();
        let (_, columns) = screen.size();
        let mut rows = screen.rows(0, columns).enumerate();
        let found = rows.find_map(|(row, line)| {
            let at = line.find(text)?;
            Some((row, line[..at].chars().count()))
        });
        let (row, column) = found.expect("the text is on the screen");
        let [row, column] = [row, column].map(|at| u16::try_from(at).expect("a small screen"));
        let cell = screen.cell(row, column).expect("it is a cell");
        (cell.fgcolor(), cell.bold())
    }

    fn parser(&self) -> MutexGuard<'_, Parser> {
        self.parser.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Emulator {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes).replace('\n', "\r\n");
        self.parser().process(text.as_bytes());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Terminal for Emulator {
    fn size(&self) -> Size {
        let (lines, columns) = self.parser().screen().size();
        Size {
            columns: columns.into(),
            lines: lines.into(),
        }
    }
}

/// Records what is written to it, or fails.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    size: Size,
    is_gone: bool,
    written: Arc<Mutex<String>>,
}

impl Recorder {
    pub(crate) fn new(lines: usize, columns: usize) -> Self {
        Self {
            size: Size { columns, lines },
            is_gone: false,
            written: Arc::default(),
        }
    }

    /// Fails every write.
    pub(crate) fn gone() -> Self {
        Self {
            is_gone: true,
            ..Self::new(24, 80)
        }
    }

    pub(crate) fn written(&self) -> String {
        let written = self.written.lock();
        written.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Write for Recorder {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_gone {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.push_str(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Terminal for Recorder {
    fn size(&self) -> Size {
        self.size
    }
}
