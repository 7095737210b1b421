//! What runs are doing, what needs a person, and what happened: the read model for everything that
//! shows runs.
//!
//! [`RunView`] is a fold of the events of one run, so it is the same while the run is active, after
//! a crash, and in a replay. [`JournalReader`] reads the events that are new; [`ChangeFeed`] says
//! when there may be some. Nothing here changes a run.
//!
//! [`Machine`] is what the dashboard and the terminal interface see of a machine, and what they can
//! do: all of them get the same, and none of them reaches any further.
//!
//! ```
//! use regreen_model::{Event, Timestamp};
//! use regreen_overview::{Activity, RunView};
//!
//! let mut view = RunView::default();
//! view.apply(Timestamp::from_millis(5), &Event::PlanAsked { seq: 1 });
//! assert_eq!(view.last, Timestamp::from_millis(5));
//! assert_eq!(view.activity, Activity::Planning);
//! ```

mod answer_choice;
mod change_feed;
mod event_task;
mod journal_reader;
mod log_page;
mod machine;
mod report;
mod response;
mod run_state;
mod run_view;
mod task_filter;
mod task_state;
mod task_view;
mod timeline;

pub use answer_choice::AnswerChoice;
pub use change_feed::{Change, ChangeFeed};
pub use event_task::task_of;
pub use journal_reader::{JournalReader, ReadJournalError};
pub use log_page::{LogLine, LogPage, PageStart};
pub use machine::{
    Action, AttemptRef, AttemptText, EarlierRun, Machine, RunDetails, RunKey, RunSummary,
};
pub use report::{CauseAndFix, Healed, Report, ReportedQuestion, ReportedTask, ReviewReason};
pub use response::{Response, answered_task, prompt_words, response_to};
pub use run_state::RunState;
pub use run_view::{Activity, OpenQuestion, RunView};
pub use task_filter::TaskFilter;
pub use task_state::TaskState;
pub use task_view::{AttemptView, TaskFix, TaskView};
pub use timeline::{Stretch, Timeline, Work};
