use std::fmt::Debug;

use regreen_model::{AgentEvent, Ending};

/// Which of its two outputs a program wrote to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Out,
    Err,
}

/// What a line came to: what happened, and what is to be said to the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Reply {
    pub events: Vec<AgentEvent>,
    /// Lines for its standard input, without their endings.
    pub write: Vec<String>,
}

impl Reply {
    pub(crate) fn of(events: Vec<AgentEvent>) -> Self {
        let write = Vec::new();
        Self { events, write }
    }
}

/// Reads what an agent prints, and answers where it has to be answered.
pub trait Decoder: Debug + Send {
    /// What is to be said before the program says anything.
    fn on_start(&mut self) -> Reply {
        Reply::default()
    }

    /// One line, without its ending. A longer line than the caller likes to hold may come
    /// in pieces; what a decoder cannot read it passes over.
    fn on_line(&mut self, stream: Stream, line: &[u8]) -> Reply;

    /// Whether it has said all that it is going to say. Who does not exit then is ended after
    /// a while, and counts as one that did.
    fn is_done(&self) -> bool {
        false
    }

    /// What is to be said before the program is ended from outside.
    fn on_cancel(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// The program has ended, and all of its output was seen.
    fn on_end(&mut self, ending: &Ending) -> Vec<AgentEvent>;
}

/// Whether a program without a protocol has come to its end by itself: then its end is the
/// terminal event.
pub(crate) fn terminal_of(ending: &Ending) -> Option<AgentEvent> {
    let code = ending
        .exit_code
        .filter(|_| !ending.timed_out && ending.signal.is_none())?;
    Some(AgentEvent::Terminal { ok: code == 0 })
}
