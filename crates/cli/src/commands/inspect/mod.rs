//! Commands that inspect past work. They change nothing, and run nothing but git.

mod diff;
mod journal;
mod log;
mod snapshots;
mod status;
mod why;

pub use diff::run as diff;
pub use journal::run as journal;
pub use log::run as log;
#[cfg(any(feature = "dashboard", feature = "mcp", feature = "tui"))]
pub use log::verify_logs;
#[cfg(any(feature = "dashboard", feature = "mcp", feature = "tui"))]
pub use snapshots::{Around, open_git};
pub use snapshots::{TaskSpans, spec_files};
pub use status::{open_work, run as status};
pub use why::{run as why, run_for_task as why_task};
