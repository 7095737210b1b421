use std::io::Write;

/// A writer that may go away. The run does not stop for a reader that has: after the first
/// error nothing more is written.
#[derive(Debug)]
pub(crate) struct Output<W> {
    writer: Option<W>,
}

impl<W: Write> Output<W> {
    pub(crate) fn new(writer: W) -> Self {
        Self {
            writer: Some(writer),
        }
    }

    /// Writes one line at once, so that lines of several writers do not mix.
    pub(crate) fn line(&mut self, text: &str) {
        self.attempt(|writer| {
            writer.write_all(format!("{text}\n").as_bytes())?;
            writer.flush()
        });
    }

    pub(crate) fn flush(&mut self) {
        self.attempt(Write::flush);
    }

    fn attempt(&mut self, write: impl FnOnce(&mut W) -> std::io::Result<()>) {
        if let Some(writer) = &mut self.writer
            && write(writer).is_err()
        {
            self.writer = None;
        }
    }
}
