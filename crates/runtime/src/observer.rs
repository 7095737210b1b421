//! The people around a run: those who watch it, and the one whom it asks.

use std::path::Path;

use regreen_engine::Question;
use regreen_model::{Event, OutlineRow, PersonAnswer, Timestamp};

use crate::stop::Stop;

/// Watches a run. Nothing that it does can change the run or hold it up.
pub trait RunObserver {
    /// Shows the plan as it is now; called each time it is read.
    fn outline(&mut self, rows: &[OutlineRow]);

    /// Shows an event from before this process resumed the run.
    fn recall(&mut self, at: Timestamp, event: &Event);

    /// Shows an event that was just stored.
    fn event(&mut self, now: Timestamp, event: &Event);

    /// Shows what the agent does right now, in its own words.
    fn activity(&mut self, line: &str);
}

/// The person who runs regreen, if a run can ask one.
pub trait Person {
    /// Asks what to do with the task; `None` if someone asked to stop before there was an answer.
    fn ask(&mut self, asked: &PersonQuestion<'_>, stop: &Stop) -> Option<PersonAnswer>;
}

/// A question, and where to look for more.
#[derive(Clone, Debug)]
pub struct PersonQuestion<'a> {
    /// What the engine asks.
    pub question: &'a Question,
    /// The output of the attempt that failed, relative to the workspace.
    pub log: Option<String>,
    /// The task file.
    pub tasks: &'a Path,
}
