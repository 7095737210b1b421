//! Performs the engine's commands, and feeds the answers back to it.
//!
//! This is the only crate where the others meet: each command is performed through one of them. The
//! engine's decision on each answer is stored and shown before anything acts on it.
//!
//! ```
//! use regreen_model::StopSignal;
//! use regreen_runtime::Stop;
//!
//! let stop = Stop::default();
//! assert_eq!(stop.asked(), None);
//! stop.ask(StopSignal::Interrupt);
//! assert_eq!(stop.asked(), Some(StopSignal::Interrupt));
//! ```

mod asleep;
mod atomic_file;
mod ci;
mod clock;
mod delegate;
mod driver;
mod execution;
mod history;
mod inhibitor;
mod journal;
mod listener;
mod log_file;
mod notices;
mod observer;
mod outline;
mod perform;
mod performer;
mod plan_file;
mod process;
mod project_programs;
mod repair;
mod run;
mod services;
mod spec_paths;
mod stop;
mod stop_request;
mod tree;
mod tree_lock;
mod verify;

pub use ci::{
    CiEnd, CiError, CiEvent, CiHost, CiSetup, FailedCheck, GreenReport, PullRequestChoice,
    until_green,
};
pub use clock::{now, stored_ms};
pub use delegate::{
    DelegationEnd, DelegationObserver, DelegationResult, DelegationSetup, delegate,
    is_delegation_running,
};
pub use journal::{JournalError, load_state};
pub use log_file::LogError;
pub use observer::{
    AnswerWait, Decisions, Memory, OpenQuestion, Person, PersonQuestion, Reply, RunObserver,
};
pub use outline::{outline, outline_without_features};
pub use perform::{PlanOffer, is_plan_unreviewed};
pub use process::workspace_masks;
pub use run::{
    FinishedRun, Preflight, PreflightFinding, RunError, RunSetup, lock_tree, open_store,
    open_store_read_only, preflight, run,
};
pub use spec_paths::{SpecPaths, own_folder};
pub use stop::Stop;
pub use stop_request::{ask_to_stop_after_task, is_asked_to_stop_after_task};
pub use tree_lock::{LockHolder, LockPurpose, TreeLock, TreeLockError, create_own_folder};
