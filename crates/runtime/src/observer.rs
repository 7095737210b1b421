//! What surrounds a run: those who watch it, the person it can ask, and what the user has learnt.

use std::fmt;
use std::path::Path;

use regreen_engine::Question;
use regreen_model::{
    Event, Experience, FailureRecord, OutlineRow, PersonAnswer, TaskId, Timestamp,
};

use crate::stop::Stop;

/// Watches a run. An observer can neither change the run nor hold it up.
pub trait RunObserver {
    /// Shows the current plan; called each time the plan is read.
    fn outline(&mut self, rows: &[OutlineRow]);

    /// Shows an event from before this process resumed the run.
    fn recall(&mut self, at: Timestamp, event: &Event);

    /// Shows an event that was just stored.
    fn event(&mut self, now: Timestamp, event: &Event);

    /// Shows what the agent is doing right now, in its own words.
    fn activity(&mut self, line: &str);
}

/// The person who runs regreen, if the run can ask one.
pub trait Person {
    /// Asks what to do with a task; `None` if someone asked to stop before answering.
    fn ask(&mut self, asked: &PersonQuestion<'_>, stop: &Stop) -> Option<PersonAnswer>;
}

/// Remembers how failures in all workspaces of the user went.
pub trait Memory: fmt::Debug {
    /// Returns what earlier failures with the same cause show; `None` if there are none, or they
    /// can't be read. It must not take long.
    fn recall(&self, failure: &FailureRecord, task: &TaskId) -> Option<Experience>;
}

/// A question, and where to find out more.
#[derive(Clone, Debug)]
pub struct PersonQuestion<'a> {
    /// The engine's question.
    pub question: &'a Question,
    /// The output of the attempt that failed, relative to the workspace.
    pub log: Option<String>,
    /// The task file.
    pub tasks: &'a Path,
}
