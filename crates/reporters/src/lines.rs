//! The line reporter, and the writer that it shares with the JSON reporter.

use std::io::Write;

use regreen_model::{Event, OutlineRow, Timestamp};

use crate::event_lines::EventFormatter;
use crate::reporter::Reporter;
use crate::status_line::{LineStyle, StatusLine};

/// Writes one or a few lines for each event that matters to people. Needs no terminal, and uses
/// colors only if asked to.
#[derive(Debug)]
pub struct Lines<W> {
    formatter: EventFormatter,
    style: LineStyle,
    output: Output<W>,
}

impl<W: Write> Lines<W> {
    /// Creates a reporter that writes lines in this style.
    pub fn new(writer: W, style: LineStyle) -> Self {
        Self {
            formatter: EventFormatter::default(),
            style,
            output: Output::new(writer),
        }
    }

    fn print(&mut self, line: &StatusLine) {
        self.output.write(&line.render(self.style));
    }
}

impl<W: Write> Reporter for Lines<W> {
    /// Does nothing: lines report events, not the state of the plan.
    fn outline(&mut self, _rows: &[OutlineRow]) {}

    fn recall(&mut self, _at: Timestamp, event: &Event) {
        self.formatter.recall(event);
    }

    fn event(&mut self, now: Timestamp, event: &Event) {
        for line in self.formatter.format(now, event) {
            self.print(&line);
        }
    }

    fn finish(&mut self, _now: Timestamp) {
        for line in self.formatter.flush() {
            self.print(&line);
        }
        self.output.flush();
    }
}

/// A writer whose reader may go away. That does not stop the run: after the first error, nothing
/// more is written.
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

    /// Writes whole lines at once, so that the lines of several writers do not mix.
    pub(crate) fn write(&mut self, text: &str) {
        self.attempt(|writer| {
            writer.write_all(text.as_bytes())?;
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
