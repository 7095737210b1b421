//! What happens next: a pure function of what has happened.
//!
//! [`decide`] takes the state, the time and one [`Input`], and answers with events and
//! commands. [`State::apply`] folds events into the state and decides nothing. Whoever
//! drives the engine stores the events of each step before it performs the commands, so
//! that after any crash folding the events again gives the same state.

mod apply;
mod command;
mod decide;
pub mod delegation;
mod driving;
mod input;
mod journal_line;
pub mod recovery;
mod state;

pub use command::{
    AttemptOrder, Command, CommitOrder, FixOrder, Issued, ModifyOrder, Question, Record,
    RepairOrder, RepairScene, StateFile,
};
pub use decide::{Decision, decide};
pub use driving::{CommandQueue, latest_choices};
pub use input::{CommitResult, FixBudget, Input, ModifyResult, NextStep, Plan, Resumption};
pub use journal_line::JournalLine;
pub use state::{Phase, State, TaskState};
