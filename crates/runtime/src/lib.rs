//! Performs what the engine asks for, and tells it what came of it.
//!
//! The only place where the rooms meet: a command is performed through one of them, its
//! answer is decided upon by the engine, stored, shown, and only then acted upon.

mod audience;
mod budget_notices;
mod chronicle;
mod clock;
mod delegate;
mod driver;
mod end_of_file;
mod excerpt;
mod execution;
mod history;
mod journal;
mod listener;
mod log_file;
mod masks;
mod notices;
mod outline;
mod past;
mod perform;
mod perform_error;
mod performer;
mod person;
mod places;
mod plan_file;
mod process;
mod repair;
mod run;
mod stop;
mod tree;
mod tree_lock;
mod verify;
mod whole_file;

pub use audience::Audience;
pub use clock::{now, stored_ms};
pub use delegate::{
    DelegationEnd, DelegationObserver, DelegationResult, DelegationSetup, delegate,
    is_delegation_running,
};
pub use journal::{JournalError, folded};
pub use log_file::LogError;
pub use masks::workspace_masks;
pub use outline::outline;
pub use person::{Asked, Person};
pub use places::{Places, own_folder};
pub use run::{Finished, RunError, RunSetup, open_store, open_store_read_only, run, take_tree};
pub use stop::Stop;
pub use tree_lock::{Holder, Purpose, TreeLock, TreeLockError, make_own_folder};
