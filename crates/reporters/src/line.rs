use crate::palette::{Palette, Tone};

/// What is told of an event: one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) stage: Stage,
    tone: Tone,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Something begins. A live view shows it while it lasts, and has no need of the line.
    Begins,
    /// Something is over, or has happened.
    Happened,
}

impl Line {
    pub(crate) fn begins(tone: Tone, text: String) -> Self {
        Self {
            stage: Stage::Begins,
            tone,
            text,
        }
    }

    pub(crate) fn happened(tone: Tone, text: String) -> Self {
        Self {
            stage: Stage::Happened,
            tone,
            text,
        }
    }

    pub(crate) fn painted(&self, palette: Palette) -> String {
        palette.paint(self.tone, &self.text)
    }
}
