use std::io::Write;

use regreen_model::{Event, OutlineRow, Timestamp};

use crate::narrator::Narrator;
use crate::output::Output;
use crate::palette::Palette;
use crate::reporter::Reporter;

/// One line for each event that is worth telling, without anything that only a terminal
/// understands (but for colours, if they are asked for).
#[derive(Debug)]
pub struct Lines<W> {
    narrator: Narrator,
    palette: Palette,
    output: Output<W>,
}

impl<W: Write> Lines<W> {
    pub fn new(writer: W, palette: Palette) -> Self {
        Self {
            narrator: Narrator::default(),
            palette,
            output: Output::new(writer),
        }
    }
}

impl<W: Write> Reporter for Lines<W> {
    /// Lines say what happens, not what there is.
    fn outline(&mut self, _rows: &[OutlineRow]) {}

    fn recall(&mut self, _at: Timestamp, event: &Event) {
        self.narrator.recall(event);
    }

    fn event(&mut self, now: Timestamp, event: &Event) {
        for line in self.narrator.tell(now, event) {
            self.output.line(&line.painted(self.palette));
        }
    }

    fn finish(&mut self, _now: Timestamp) {
        self.output.flush();
    }
}
