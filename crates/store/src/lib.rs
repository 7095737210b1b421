//! One SQLite file per workspace: the journal of every run, and the history people ask about.
//!
//! The store knows nothing of what inputs, events and commands mean. It keeps them as JSON
//! with a kind and a version, one row and one transaction per step, and hands them back in
//! order. Time is always an argument.

mod attempt;
mod attempts;
mod choices;
mod column;
mod delegation;
mod delegations;
mod failure_row;
mod failures;
mod fault;
mod history;
mod integrity;
mod journal;
mod open;
mod payload;
mod reading;
mod recording;
mod row_sum;
mod run;
mod run_id;
mod runs;
mod schema;
mod snapshot;
mod step;
mod steps;
mod store;
mod tally;

pub use attempt::{Attempt, AttemptKey};
pub use delegation::Delegation;
pub use failure_row::FailureRow;
pub use fault::Fault;
pub use history::{HistoryRow, RecordError};
pub use integrity::CopyError;
pub use journal::AppendError;
pub use open::OpenError;
pub use payload::Payload;
pub use recording::{ExportError, ImportError, Recording, RecordingError, RecordingHeader};
pub use run::{NewRun, Run, RunEnd};
pub use run_id::RunId;
pub use runs::RunError;
pub use snapshot::{Snapshot, SnapshotError};
pub use step::{CommandSeq, IssuedCommand, Step, StepNo, StoredEvent};
pub use steps::Steps;
pub use store::Store;
