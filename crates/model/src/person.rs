use serde::{Deserialize, Serialize};

use crate::{TaskKey, named_enum};

/// A person's answer when a run asks about a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum PersonAnswer {
    /// The task or its surroundings were edited: it is tried as if for the first time.
    Edit,
    /// The task is tried again, and its agent is told this.
    Context {
        /// What the agent is told.
        text: String,
    },
    /// The repair that was named may be carried out.
    Repair,
    /// A fix task is made, although regreen would not.
    Fix,
    /// The task is skipped.
    Skip,
    /// No answer yet: the question stays open.
    Stop,
}

impl PersonAnswer {
    /// Returns which answer it is.
    #[must_use]
    pub fn kind(&self) -> AnswerKind {
        match self {
            Self::Repair => AnswerKind::Repair,
            Self::Edit => AnswerKind::Edit,
            Self::Context { .. } => AnswerKind::Context,
            Self::Fix => AnswerKind::Fix,
            Self::Skip => AnswerKind::Skip,
            Self::Stop => AnswerKind::Stop,
        }
    }

    /// Returns the choice that outlives the run, if the answer implies one.
    #[must_use]
    pub fn choice(&self) -> Option<ChoiceKind> {
        match self {
            Self::Edit => Some(ChoiceKind::Retry),
            Self::Skip => Some(ChoiceKind::Skip),
            Self::Context { .. } | Self::Repair | Self::Fix | Self::Stop => None,
        }
    }
}

named_enum! {
    /// The kind of a person's answer.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum AnswerKind {
        /// Carry out the repair that was named.
        Repair = "repair",
        /// Try again after an edit.
        Edit = "edit",
        /// Try again with more information.
        Context = "context",
        /// Make a fix task.
        Fix = "fix",
        /// Skip the task.
        Skip = "skip",
        /// Stop, and leave the question open.
        Stop = "stop",
    }
}

/// What a person chose for a task, outside a run or when one asked. It counts in the run that
/// asked, and from the next start of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonChoice {
    /// A later choice has a higher number.
    pub number: u64,
    /// The task.
    pub task: TaskKey,
    /// What the person chose.
    pub what: ChoiceKind,
}

named_enum! {
    /// What a person can choose for a task outside a run.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ChoiceKind {
        /// Skip it.
        Skip = "skip",
        /// It is done, whatever regreen thinks of it.
        Done = "done",
        /// Try it as often as if it had never been tried.
        Retry = "retry",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_called_the_same_everywhere() {
        let text = String::new();
        let answers = [
            PersonAnswer::Repair,
            PersonAnswer::Edit,
            PersonAnswer::Context { text },
            PersonAnswer::Fix,
            PersonAnswer::Skip,
            PersonAnswer::Stop,
        ];
        assert_eq!(answers.each_ref().map(PersonAnswer::kind), AnswerKind::ALL);
        for answer in answers {
            let stored = serde_json::to_value(&answer).unwrap();
            assert_eq!(stored["answer"], answer.kind().name());
        }
    }
}
