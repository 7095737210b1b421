//! Decides what happens next in a run: a pure function of what has happened.
//!
//! [`decide`] takes the state, the time and one [`Input`], and returns events and commands.
//! [`State::apply`] folds events into the state and decides nothing. A driver stores the events
//! of each step before it performs the commands, so that after any crash folding the events
//! again gives the same state.

mod apply;
mod command;
mod decide;
pub mod delegation;
mod driving;
mod input;
pub mod recovery;
mod state;

pub use command::{
    AttemptOrder, Command, CommitOrder, FixOrder, Issued, ModifyOrder, Question, Record,
    RepairOrder, RepairTarget,
};
pub use decide::{Decision, decide};
pub use driving::{CommandQueue, JournalLine, latest_choices};
pub use input::{CommitResult, Input, ModifyResult, Resumption};
pub use state::{AutomaticFix, Phase, State, TaskState};
