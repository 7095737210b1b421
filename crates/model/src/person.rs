use serde::{Deserialize, Serialize};

use crate::{TaskKey, named_enum};

/// A person's answer to a question about a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum PersonAnswer {
    /// The person edited the task or the project; it starts over as if never tried.
    Edit,
    /// Try the task again and pass this text to its agent.
    Context {
        /// The text for the agent.
        text: String,
    },
    /// Carry out the suggested repair.
    Repair,
    /// Create a fix task, although regreen would not.
    Fix,
    /// Skip the task.
    Skip,
    /// No answer yet: the question stays open.
    Stop,
}

impl PersonAnswer {
    /// Returns the kind of the answer.
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

    /// Returns the choice it implies, if it holds beyond the run.
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
        /// Carry out the suggested repair.
        Repair = "repair",
        /// Try again after an edit.
        Edit = "edit",
        /// Try again with more information.
        Context = "context",
        /// Create a fix task.
        Fix = "fix",
        /// Skip the task.
        Skip = "skip",
        /// Stop, and leave the question open.
        Stop = "stop",
    }
}

/// A person's choice for a task, made outside a run or in answer to its question. It holds in the
/// run that asked, and from the next start on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonChoice {
    /// Increases with each choice.
    pub number: u64,
    /// The task.
    pub task: TaskKey,
    /// The choice.
    pub what: ChoiceKind,
}

named_enum! {
    /// The choices that a person has for a task.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ChoiceKind {
        /// Skip it.
        Skip = "skip",
        /// Count it as done, whatever regreen's checks say.
        Done = "done",
        /// Start over, as if it had never been tried.
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
