//! Decides what happens next in a run: a pure function of what has happened.
//!
//! [`decide`] takes the state, the time and one [`Input`], and returns events and commands.
//! [`State::apply`] folds events into the state and decides nothing. A driver stores the events of
//! each step before it performs the commands, so that after any crash, folding the events again
//! yields the same state.
//!
//! ```
//! use regreen_engine::{Input, State, decide};
//! use regreen_model::{RunConfig, Timestamp};
//!
//! let mut state = State::default();
//! let start = Input::Start {
//!     run: "20260101-120000".to_owned(),
//!     config: Box::new(RunConfig::default()),
//!     choices: Vec::new(),
//!     after_limit: false,
//!     lost: Vec::new(),
//!     earlier: Vec::new(),
//!     environment: Vec::new(),
//! };
//! let now = Timestamp::from_millis(0);
//! let decision = decide(&state, now, &start);
//! for event in &decision.events {
//!     state.apply(event);
//! }
//! assert!(!decision.commands.is_empty());
//! ```

mod apply;
mod command;
mod decide;
pub mod delegation;
mod driving;
mod input;
pub mod recovery;
mod state;

pub use command::{
    AttemptOrder, Command, CommitOrder, FinalCheckOrder, FixOrder, Issued, ModifyOrder,
    OpinionOrder, Question, RecallOrder, Record, RepairOrder, RepairTarget, ServiceOrder,
    ServicesOrder, TestReviewOrder,
};
pub use decide::{Decision, OPINION_TIME_MS, READY_TIMEOUT_MS, decide};
pub use driving::{CommandQueue, JournalLine, latest_choices};
pub use input::{CommitResult, Input, ModifyResult, Resumption};
pub use state::{
    AutomaticFix, FinalCheck, FinalCheckPhase, PassedCheck, Phase, ServiceState, State, TaskState,
};
