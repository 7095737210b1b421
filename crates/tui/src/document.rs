//! The text of an attempt that is shown, and which part of it.

use regreen_overview::{AttemptRef, AttemptText, LogPage, PageStart};

use crate::event::{SearchRequest, TextAnswer, TextRequest};

/// How many lines are read at once.
pub(crate) const PAGE: usize = 1000;

/// What can be shown of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tab {
    Text(AttemptText),
    Evidence,
}

impl Tab {
    pub(crate) const ALL: [Self; 5] = [
        Self::Text(AttemptText::Log),
        Self::Text(AttemptText::Verify),
        Self::Text(AttemptText::Diff),
        Self::Text(AttemptText::Prompt),
        Self::Evidence,
    ];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Text(AttemptText::Log) => "Log",
            Self::Text(AttemptText::Verify) => "Verify",
            Self::Text(AttemptText::Diff) => "Diff",
            Self::Text(AttemptText::Prompt) => "Prompt",
            Self::Evidence => "Evidence",
        }
    }

    /// Returns the tab this many places further to the right, or to the left.
    pub(crate) fn neighbour(self, by: isize) -> Self {
        let length = Self::ALL.len().cast_signed();
        let at = Self::ALL.iter().position(|tab| *tab == self);
        let at = at.unwrap_or(0).cast_signed() + by;
        let at = at.rem_euclid(length).unsigned_abs();
        Self::ALL.get(at).copied().unwrap_or(self)
    }
}

/// Which line of a text is the first on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// The line with this number.
    Line(usize),
    /// The one with which the last line ends the screen.
    End,
}

/// A text, as far as it was read, and what is shown of it.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// The tab that someone chose; `None` for the text with the blamed line.
    pub(crate) chosen: Option<Tab>,
    pub(crate) attempt: Option<AttemptRef>,
    /// Which text the page is of.
    pub(crate) text: AttemptText,
    pub(crate) page: Option<Result<LogPage, String>>,
    pub(crate) anchor: Anchor,
    pub(crate) left: usize,
    pub(crate) is_wrapped: bool,
    /// What was searched for, in lower case.
    pub(crate) words: String,
    /// The line that has it.
    pub(crate) found: Option<usize>,
    /// Whether the attempt went on when its text was last asked for, so that some may be missing.
    pub(crate) was_live: bool,
}

impl Default for Document {
    fn default() -> Self {
        Self {
            chosen: None,
            attempt: None,
            text: AttemptText::Log,
            page: None,
            anchor: Anchor::Line(1),
            left: 0,
            is_wrapped: true,
            words: String::new(),
            found: None,
            was_live: false,
        }
    }
}

impl Document {
    pub(crate) fn tab(&self) -> Tab {
        self.chosen.unwrap_or(Tab::Text(self.text))
    }

    pub(crate) fn lines(&self) -> Option<&LogPage> {
        self.page.as_ref()?.as_ref().ok()
    }

    /// Turns to another attempt, or another text of it. Returns what to read.
    pub(crate) fn open(
        &mut self,
        attempt: AttemptRef,
        blamed: Option<String>,
    ) -> Option<TextRequest> {
        self.attempt = Some(attempt.clone());
        self.page = None;
        self.anchor = Anchor::Line(1);
        self.left = 0;
        self.found = None;
        let (text, start) = match self.chosen {
            None => (None, PageStart::Blamed),
            Some(Tab::Text(text @ (AttemptText::Log | AttemptText::Verify))) => {
                (Some(text), PageStart::Blamed)
            }
            Some(Tab::Text(text)) => (Some(text), PageStart::Line(1)),
            Some(Tab::Evidence) => return None,
        };
        self.text = text.unwrap_or(self.text);
        Some(TextRequest {
            attempt,
            text,
            blamed,
            start,
            is_refresh: false,
        })
    }

    /// Returns what to read in order to see what was added to the text since.
    pub(crate) fn refresh(&self, blamed: Option<String>) -> Option<TextRequest> {
        let start = match (
            self.anchor,
            self.lines().and_then(|page| page.lines.first()),
        ) {
            (Anchor::Line(_), Some(first)) => PageStart::Line(first.number),
            _ => PageStart::End,
        };
        let request = self.request(start, blamed)?;
        Some(TextRequest {
            is_refresh: true,
            ..request
        })
    }

    /// Returns what to read from another place of the text on.
    pub(crate) fn request(&self, start: PageStart, blamed: Option<String>) -> Option<TextRequest> {
        match self.tab() {
            Tab::Evidence => None,
            Tab::Text(text) => Some(TextRequest {
                attempt: self.attempt.clone()?,
                text: Some(text),
                blamed,
                start,
                is_refresh: false,
            }),
        }
    }

    /// Shows what was read, unless something else is wanted by now.
    pub(crate) fn take(&mut self, request: &TextRequest, answer: TextAnswer, rows: usize) {
        let is_wanted = match (self.chosen, request.text) {
            (Some(chosen), Some(text)) => chosen == Tab::Text(text),
            (None, Some(text)) => text == self.text,
            (None, None) => true,
            (Some(_), None) => false,
        };
        if self.attempt.as_ref() != Some(&request.attempt) || !is_wanted {
            return;
        }
        self.text = answer.text;
        if request.start == PageStart::Blamed {
            match answer.page.as_ref().ok().and_then(|page| page.blamed) {
                Some(line) => self.show_line(line, rows),
                None => self.anchor = Anchor::End,
            }
        }
        self.page = Some(answer.page);
    }

    /// Shows a line, with a third of the screen before it.
    pub(crate) fn show_line(&mut self, line: usize, rows: usize) {
        self.anchor = Anchor::Line(line.saturating_sub(rows / 3).max(1));
        self.left = 0;
    }

    /// Returns where to read on, if lines that should be on the screen weren't read.
    pub(crate) fn missing(&self, rows: usize) -> Option<PageStart> {
        let page = self.lines()?;
        let (first, last) = (page.lines.first()?.number, page.lines.last()?.number);
        match self.anchor {
            Anchor::End if last < page.total => Some(PageStart::End),
            Anchor::Line(top) if top < first || (top + rows > last + 1 && last < page.total) => {
                Some(PageStart::Line(top.saturating_sub(PAGE / 3).max(1)))
            }
            _ => None,
        }
    }

    /// Returns the search for the next line with the words, from the last one or the screen on.
    pub(crate) fn search(&self, top: usize, is_backwards: bool) -> Option<SearchRequest> {
        let Tab::Text(text) = self.tab() else {
            return None;
        };
        let before_screen = if is_backwards {
            top
        } else {
            top.saturating_sub(1)
        };
        Some(SearchRequest {
            attempt: self.attempt.clone()?,
            text,
            words: Some(self.words.clone()).filter(|words| !words.is_empty())?,
            from: self.found.unwrap_or(before_screen),
            is_backwards,
        })
    }
}
