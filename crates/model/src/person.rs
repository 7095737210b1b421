use serde::{Deserialize, Serialize};

use crate::{TaskKey, named_enum};

/// What a person says of a task when a run asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum PersonAnswer {
    /// Its block was edited, or what is around it: it is tried as if for the first time.
    Edit,
    /// It is tried again, and its agent is told this.
    Context { text: String },
    /// The repair that was named may be carried out.
    Repair,
    /// A task that repairs it is made, though regreen would not.
    Fix,
    /// It is not to be run.
    Skip,
    /// Nothing yet: the question stays open.
    Stop,
}

impl PersonAnswer {
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

    /// What of it holds beyond the run, as if it had been said outside of one.
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
    /// Which answer it is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum AnswerKind {
        Repair = "repair",
        Edit = "edit",
        Context = "context",
        Fix = "fix",
        Skip = "skip",
        Stop = "stop",
    }
}

/// What a person said of a task outside a run, or when one asked. It counts in the run that
/// asked, and from the next time that a run is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonChoice {
    /// A later choice has a higher number.
    pub number: u64,
    pub task: TaskKey,
    pub what: ChoiceKind,
}

named_enum! {
    /// What a person can say of a task outside a run.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ChoiceKind {
        /// It is not to be run.
        Skip = "skip",
        /// It is done, whatever regreen thinks of it.
        Done = "done",
        /// It may be tried as often as if it had never been.
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
