//! Which task an event is about.

use regreen_model::{Event, TaskKey};

/// Returns the task that an event is about.
#[must_use]
pub fn task_of(event: &Event) -> Option<&TaskKey> {
    match event {
        Event::TaskPicked { task } => Some(&task.task),
        Event::PlanReviewed { task, .. } => task.as_ref(),
        Event::Chosen { choice } => Some(&choice.task),
        Event::ServiceChanged { report } => Some(&report.task),
        Event::AttemptStarted { task, .. }
        | Event::SessionSeen { task, .. }
        | Event::AttemptPostponed { task, .. }
        | Event::AttemptEnded { task, .. }
        | Event::ClaimsAsked { task, .. }
        | Event::ClaimsJudged { task, .. }
        | Event::VerifyStarted { task, .. }
        | Event::VerifyEnded { task, .. }
        | Event::TestReviewStarted { task, .. }
        | Event::TestsReviewed { task, .. }
        | Event::TaskFailed { task, .. }
        | Event::RepeatPlanned { task }
        | Event::OpinionAsked { task, .. }
        | Event::OpinionGiven { task, .. }
        | Event::RecallAsked { task, .. }
        | Event::Recalled { task, .. }
        | Event::TemplateApplied { task, .. }
        | Event::InspectionAsked { task, .. }
        | Event::RepairInspected { task, .. }
        | Event::RepairStarted { task, .. }
        | Event::RepairEnded { task, .. }
        | Event::BudgetAsked { task, .. }
        | Event::FixPostponed { task }
        | Event::FixPlanned { task, .. }
        | Event::FixInserted { task, .. }
        | Event::ModificationAsked { task, .. }
        | Event::PlanModified { task, .. }
        | Event::ModificationRefused { task, .. }
        | Event::SupersedeAsked { task, .. }
        | Event::FixesSuperseded { task, .. }
        | Event::HistoryAsked { task, .. }
        | Event::PersonAsked { task, .. }
        | Event::PersonAnswered { task, .. }
        | Event::AnswerGiven { task }
        | Event::TaskParked { task, .. }
        | Event::TickAsked { task, .. }
        | Event::CommitAsked { task, .. }
        | Event::CommitRefused { task, .. }
        | Event::Marked { task, .. }
        | Event::Committed { task, .. }
        | Event::RecordAsked { task, .. }
        | Event::TaskDone { task, .. }
        | Event::TaskGone { task }
        | Event::TaskSkipped { task }
        | Event::TaskReopened { task }
        | Event::WaitStarted { task, .. }
        | Event::WaitEnded { task, .. } => Some(task),
        Event::RunStarted { .. }
        | Event::RunResumed { .. }
        | Event::PlanAsked { .. }
        | Event::LimitSettled { .. }
        | Event::FinalCheckStarted { .. }
        | Event::FinalCheckEnded { .. }
        | Event::ReopenAsked { .. }
        | Event::ClosingCommitAsked { .. }
        | Event::ClosingCommitted { .. }
        | Event::Warned { .. }
        | Event::StopAsked { .. }
        | Event::AnswersAwaited { .. }
        | Event::RunEnded { .. } => None,
    }
}
