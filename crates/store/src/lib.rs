//! One SQLite file per workspace: the journal of every run, and the history people ask about.
//!
//! The store doesn't know what inputs, events and commands mean. It stores them as JSON with a kind
//! and a version, one row and one transaction per step, and returns them in order. Time is always
//! an argument.
//!
//! ```
//! use regreen_store::{NewRun, Store};
//!
//! let folder = tempfile::tempdir()?;
//! let mut store = Store::open(&folder.path().join("regreen.db"), 0)?;
//! let run = NewRun { spec: "demo".to_owned(), started_ms: 1_000, tree: None };
//! let id = store.begin_run(&run)?;
//! assert_eq!(store.unfinished_run("demo")?, Some(id));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attempt;
mod choice;
mod delegation;
mod error;
mod history;
mod integrity;
mod journal;
mod mention;
mod names;
mod recording;
mod row;
mod run;
mod schema;
mod snapshot;
mod step;
mod store;

pub use attempt::{Attempt, AttemptKey};
pub use delegation::Delegation;
pub use error::StoreError;
pub use history::{FailureRow, HistoryRow, RecordError};
pub use integrity::CopyError;
pub use journal::AppendError;
pub use recording::{ExportError, ImportError, Recording, RecordingError, RecordingHeader};
pub use run::{NewRun, Run, RunEnd, RunError, RunId};
pub use schema::{FileFormat, Migration};
pub use snapshot::{Snapshot, SnapshotError};
pub use step::{CommandSeq, IssuedCommand, Step, StepNo, Steps, StoredEvent, VersionedJson};
pub use store::{OpenError, Store};
