//! What runs are doing, what needs a person, and what happened: the read model for everything that
//! shows runs.
//!
//! [`RunView`] is a fold of the events of one run, so it is the same while the run is active, after
//! a crash, and in a replay. [`JournalReader`] reads the events that are new; [`ChangeFeed`] says
//! when there may be some. Nothing here changes a run.
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

mod change_feed;
mod journal_reader;
mod report;
mod run_view;
mod task_view;

pub use change_feed::{Change, ChangeFeed};
pub use journal_reader::{JournalReader, ReadJournalError};
pub use report::{CauseAndFix, Healed, Report, ReportedQuestion, ReportedTask, ReviewReason};
pub use run_view::{Activity, OpenQuestion, RunView};
pub use task_view::{TaskFix, TaskView};
