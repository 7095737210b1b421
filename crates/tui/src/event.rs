//! What happens to the interface, and what it wants to be done.

use regreen_model::Timestamp;
use regreen_overview::{
    Action, AttemptRef, AttemptText, LogPage, PageStart, RunDetails, RunKey, RunSummary,
};

use crate::key::Key;

/// The size of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: u16,
    pub(crate) rows: u16,
}

/// Something that happened.
#[derive(Debug)]
pub(crate) enum Event {
    /// Someone pressed a key.
    Key(Key),
    /// Someone pasted a text.
    Pasted(String),
    /// The terminal has another size.
    Resized(Size),
    /// Time has passed.
    Tick(Timestamp),
    /// Something about some run may have changed.
    Changed(Timestamp),
    /// The runs of the machine were read.
    Runs(Vec<RunSummary>),
    /// A run was read; `None` if it is gone.
    Run(RunKey, Option<Box<RunDetails>>),
    /// A text of an attempt was read.
    Text(TextRequest, TextAnswer),
    /// A text was searched; `None` if it has no such line.
    Found(SearchRequest, Option<usize>),
    /// An action was done, or refused.
    Acted(Result<String, String>),
    /// Someone asked the process to end.
    Quit,
    /// A thread of the interface has failed.
    Panicked,
}

/// Something to do outside of the state. What comes of it is an [`Event`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Read the runs of the machine.
    ReadRuns,
    /// Read a run.
    ReadRun(RunKey),
    /// Read a part of a text.
    ReadText(TextRequest),
    /// Search a text.
    Search(SearchRequest),
    /// Act on a run.
    Act(RunKey, Action),
    /// Draw everything anew.
    Repaint,
    /// Stop like any program that Ctrl-Z was pressed in.
    Suspend,
    /// End.
    Quit,
}

/// Which part of a text of an attempt to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextRequest {
    pub(crate) attempt: AttemptRef,
    /// The text; `None` for the first one that has the blamed line.
    pub(crate) text: Option<AttemptText>,
    pub(crate) blamed: Option<String>,
    pub(crate) start: PageStart,
    /// Whether it only looks for what was added since.
    pub(crate) is_refresh: bool,
}

/// A part of a text, and which text it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextAnswer {
    pub(crate) text: AttemptText,
    pub(crate) page: Result<LogPage, String>,
}

/// What to search a text for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SearchRequest {
    pub(crate) attempt: AttemptRef,
    pub(crate) text: AttemptText,
    /// The words, in lower case.
    pub(crate) words: String,
    /// The line to start behind, in the direction of the search.
    pub(crate) from: usize,
    pub(crate) is_backwards: bool,
}
