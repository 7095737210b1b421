use anstyle::{AnsiColor, Effects, Style};

/// Whether text is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Palette {
    #[default]
    Plain,
    Coloured,
}

/// What a piece of text wants to say by its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Heading,
    Good,
    Bad,
    Warning,
    Faint,
    /// What is being worked on.
    Current,
}

impl Palette {
    /// What is to be seen first.
    #[must_use]
    pub fn emphasised(self, text: &str) -> String {
        self.paint(Tone::Heading, text)
    }

    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        let style = match self {
            Self::Plain => Style::new(),
            Self::Coloured => tone.style(),
        };
        format!("{style}{text}{style:#}")
    }
}

impl Tone {
    fn style(self) -> Style {
        let colour = |colour: AnsiColor| colour.on_default();
        match self {
            Self::Plain => Style::new(),
            Self::Heading => Style::new().effects(Effects::BOLD),
            Self::Good => colour(AnsiColor::Green),
            Self::Bad => colour(AnsiColor::Red),
            Self::Warning => colour(AnsiColor::Yellow),
            Self::Faint => Style::new().effects(Effects::DIMMED),
            Self::Current => colour(AnsiColor::Cyan),
        }
    }
}
