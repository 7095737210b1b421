//! Answers that people give from another terminal, until the run takes them.
//!
//! They are in the user's state folder, because a repository must not bring any along. Once taken,
//! they are in the journal like those given at the prompt.

use std::io;
use std::os::fd::AsFd as _;

use regreen_engine::Question;
use regreen_model::{PersonAnswer, TaskKey};
use regreen_overview::{Change, ChangeFeed, OpenQuestion, TaskView};
use regreen_runtime::{SpecPaths, Stop};
use serde::{Deserialize, Serialize};

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

fn record(paths: &SpecPaths, task: &TaskKey) -> Option<StateRecord> {
    StateRecord::new(KIND, (&paths.root, paths.spec_key(), task))
}

/// Gives an answer. The run that asks takes it at once, or else the next one.
pub fn give(
    paths: &SpecPaths,
    task: &TaskView,
    question: &OpenQuestion,
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

/// Whether an answer waits for its run.
pub fn is_given(paths: &SpecPaths, task: &TaskKey) -> bool {
    let record = record(paths, task);
    record.is_some_and(|record| record.read::<GivenAnswer>().is_some())
}

/// Drops the answer to a question that was settled in another way.
pub fn forget(paths: &SpecPaths, task: &TaskKey) {
    if let Some(record) = record(paths, task) {
        record.forget();
    }
}

/// Waits for an answer to one question.
#[derive(Debug)]
pub struct AnswerWatch<'q> {
    question: &'q Question,
    record: Option<StateRecord>,
    pub feed: Option<ChangeFeed>,
}

impl<'q> AnswerWatch<'q> {
    pub fn new(paths: &SpecPaths, question: &'q Question) -> Self {
        let record = record(paths, &question.task);
        // Without a feed, an answer is taken when the run asks again.
        let feed = record.as_ref().and_then(|record| record.watch().ok());
        Self {
            question,
            record,
            feed,
        }
    }

    /// Takes the answer, if it was given and is for this question.
    pub fn take(&self) -> Option<PersonAnswer> {
        let record = self.record.as_ref()?;
        let given: GivenAnswer = record.read()?;
        record.forget();
        let asked = self.question;
        let error = asked.failure.as_ref().map(|failure| &failure.error);
        let is_for_this = given.why == asked.why && given.error.as_ref() == error;
        let is_possible = asked.choices.contains(&given.answer.kind());
        (is_for_this && is_possible).then_some(given.answer)
    }

    /// Waits until someone answers; `None` if someone asked to stop first.
    pub fn wait(&mut self, stop: &Stop) -> Option<PersonAnswer> {
        let Ok(bell) = stop.wake_pipe() else {
            return Some(PersonAnswer::Stop);
        };
        loop {
            if let Some(answer) = self.take() {
                return Some(answer);
            }
            let Some(feed) = &mut self.feed else {
                return Some(PersonAnswer::Stop);
            };
            match feed.wait(None, &[bell.as_fd()]) {
                Ok(Change::Woken(_)) => return None,
                Ok(_) => {}
                Err(_) => return Some(PersonAnswer::Stop),
            }
        }
    }
}
