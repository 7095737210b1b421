//! What a person can answer, the same in every face.

use regreen_model::named_enum;

use crate::machine::RunDetails;
use crate::run_view::OpenQuestion;
use crate::task_view::TaskView;

named_enum! {
    /// What a person can answer.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum AnswerChoice {
        /// Try the task again as it is.
        Retry = "retry",
        /// Try it again after an edit.
        Edit = "edit",
        /// Try again with more information.
        Context = "context",
        /// Create a fix task.
        Fix = "fix",
        /// Carry out the proposed repair.
        Repair = "repair",
        /// Mark it as done.
        Done = "done",
        /// Leave it out.
        Skip = "skip",
        /// Stop the run.
        Stop = "stop",
    }
}

impl AnswerChoice {
    /// Whether it is an answer to this question about a task of the run.
    #[must_use]
    pub fn is_possible(self, run: &RunDetails, task: &TaskView, question: &OpenQuestion) -> bool {
        match self {
            Self::Repair => question.repair.is_some(),
            Self::Context => !task.is_group && run.view.agent().reads_prompts(),
            Self::Stop => run.summary.is_active(),
            Self::Retry | Self::Edit | Self::Fix | Self::Done | Self::Skip => true,
        }
    }

    /// Returns what follows from it.
    #[must_use]
    pub fn effect(self) -> &'static str {
        match self {
            Self::Retry => "Try the task again as it is; it starts over, with all its attempts",
            Self::Edit => "You have edited the task or the project: the task starts over",
            Self::Context => "Try again, and tell the agent what you write",
            Self::Fix => "Let an agent do a fix task, then try the task again",
            Self::Repair => "Let regreen make the repair that it proposes, then try the task again",
            Self::Done => "Mark the task as done without verifying it",
            Self::Skip => "Leave the task out until `regreen retry`",
            Self::Stop => "Stop the run, and leave the question open",
        }
    }
}
