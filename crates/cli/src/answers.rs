//! Answers that people give from another terminal, until the run takes them.
//!
//! They are in the user's state folder, because a repository must not bring any along. An answer stays there until
//! the journal has it, like one given at the prompt: a run that is killed in between loses nothing.

use std::io;
use std::os::fd::AsFd as _;

use regreen_engine::Question;
use regreen_model::{PersonAnswer, TaskKey};
use regreen_overview::{Change, ChangeFeed, TaskView};
use regreen_runtime::{OpenQuestion, Reply, SpecPaths, Stop};
use serde::{Deserialize, Serialize};

use crate::requests;
use crate::user_state::StateRecord;

/// The kind of these records in the state folder.
const KIND: &str = "answers";

/// An answer, and the question that it is for. A later question about the same task, with another
/// reason or another failure, isn't answered by it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct GivenAnswer {
    why: String,
    error: Option<String>,
    answer: PersonAnswer,
}

impl GivenAnswer {
    fn is_for(&self, why: &str, error: Option<&str>) -> bool {
        self.why == why && self.error.as_deref() == error
    }
}

fn record(paths: &SpecPaths, task: &TaskKey) -> Option<StateRecord> {
    StateRecord::new(KIND, (&paths.root, paths.spec_key(), task))
}

/// Gives an answer. The run that asks takes it at once, or else the next one.
pub fn give(
    paths: &SpecPaths,
    task: &TaskView,
    question: &regreen_overview::OpenQuestion,
    answer: PersonAnswer,
) -> io::Result<()> {
    let given = GivenAnswer {
        why: question.why.clone(),
        error: task.failure.as_ref().map(|failure| failure.error.clone()),
        answer,
    };
    let no_folder = || io::Error::other("there is no home folder to keep the answer in");
    record(paths, &task.key)
        .ok_or_else(no_folder)?
        .write(&given)
}

/// Whether an answer to this question waits for its run.
pub fn is_given(paths: &SpecPaths, open: &OpenQuestion<'_>) -> bool {
    let given = record(paths, open.task).and_then(|record| record.read::<GivenAnswer>());
    given.is_some_and(|given| given.is_for(open.why, open.error))
}

/// Watches for answers.
pub fn watch() -> io::Result<ChangeFeed> {
    let record = StateRecord::new(KIND, "").ok_or(io::ErrorKind::NotFound)?;
    record.watch()
}

/// Drops the answer to a question that was settled in another way.
pub fn forget(paths: &SpecPaths, task: &TaskKey) {
    if let Some(record) = record(paths, task) {
        record.forget();
    }
}

/// Waits for an answer to one question, or for a decision about another task.
#[derive(Debug)]
pub struct AnswerWatch<'q> {
    paths: SpecPaths,
    question: &'q Question,
    record: Option<StateRecord>,
    pub feed: Option<ChangeFeed>,
}

impl<'q> AnswerWatch<'q> {
    pub fn new(paths: &SpecPaths, question: &'q Question) -> Self {
        // Without a feed, an answer is taken when the run asks again.
        let feed = watch().ok().map(|mut feed| {
            requests::watch_too(&mut feed);
            feed
        });
        Self {
            paths: paths.clone(),
            question,
            record: record(paths, &question.task),
            feed,
        }
    }

    /// Returns what someone has said at another terminal, if anyone has.
    pub fn reply(&self) -> Option<Reply> {
        let answer = self.answer().map(Reply::Answer);
        answer.or_else(|| requests::is_any(&self.paths).then_some(Reply::Decided))
    }

    /// Returns the answer, if it was given and is for this question.
    pub fn answer(&self) -> Option<PersonAnswer> {
        let record = self.record.as_ref()?;
        let given: GivenAnswer = record.read()?;
        let asked = self.question;
        let error = asked.failure.as_ref();
        let is_for_this = given.is_for(&asked.why, error.map(|failure| failure.error.as_str()));
        let is_possible = asked.choices.contains(&given.answer.kind());
        if is_for_this && is_possible {
            return Some(given.answer);
        }
        record.forget();
        None
    }

    /// Waits until someone answers or decides.
    pub fn wait(&mut self, stop: &Stop) -> Reply {
        let Ok(bell) = stop.wake_pipe() else {
            return Reply::Answer(PersonAnswer::Stop);
        };
        loop {
            if let Some(reply) = self.reply() {
                return reply;
            }
            let Some(feed) = &mut self.feed else {
                return Reply::Answer(PersonAnswer::Stop);
            };
            match feed.wait(None, &[bell.as_fd()]) {
                Ok(Change::Woken(_)) => return Reply::Stopped,
                Ok(_) => {}
                Err(_) => return Reply::Answer(PersonAnswer::Stop),
            }
        }
    }
}
