//! What surrounds a run: those who watch it, the person it can ask, and what the user has learnt.

use std::fmt;
use std::path::Path;

use regreen_engine::Question;
use regreen_model::{
    Event, Experience, FailureRecord, OutlineRow, PersonAnswer, TaskKey, Timestamp,
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

/// The people who may decide, at this terminal and at others.
pub trait Person {
    /// Asks what to do with a task.
    fn ask(&mut self, asked: &PersonQuestion<'_>, stop: &Stop) -> Reply;

    /// Carries out what people have decided about tasks at other terminals, and says what is new. It is called
    /// between commands, and must not take long.
    fn decisions(&mut self, open: &[OpenQuestion<'_>]) -> Decisions;

    /// Waits until someone decides at another terminal, or edits the plan, but no longer than until a time.
    fn wait(
        &mut self,
        open: &[OpenQuestion<'_>],
        until: Option<Timestamp>,
        stop: &Stop,
    ) -> AnswerWait;

    /// The question about a task is settled, and the journal says so.
    fn settled(&mut self, task: &TaskKey);
}

/// The reply to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The answer.
    Answer(PersonAnswer),
    /// Someone has decided about a task at another terminal, which may settle the question.
    Decided,
    /// Someone asked to stop before answering.
    Stopped,
}

/// How waiting for an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerWait {
    /// Someone has answered or decided about a task.
    Decided,
    /// The time is up, or the run should look again.
    Over,
    /// Someone asked to stop.
    Stopped,
}

/// An open question that the run isn't asking now.
#[derive(Clone, Copy, Debug)]
pub struct OpenQuestion<'s> {
    /// The task.
    pub task: &'s TaskKey,
    /// Why a person has to decide.
    pub why: &'s str,
    /// How the task failed last.
    pub error: Option<&'s str>,
}

/// What people have decided at other terminals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decisions {
    /// Whether there are new choices in the database.
    pub has_choices: bool,
    /// The tasks whose questions someone has answered.
    pub answered: Vec<TaskKey>,
    /// What went wrong, for people.
    pub warnings: Vec<String>,
}

/// Remembers how failures in all workspaces of the user went.
pub trait Memory: fmt::Debug {
    /// Returns what earlier failures with the same cause as this one of a task or delegation show;
    /// `None` if there are none, or they can't be read. It must not take long.
    fn recall(&self, failure: &FailureRecord, task: &str) -> Option<Experience>;
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
