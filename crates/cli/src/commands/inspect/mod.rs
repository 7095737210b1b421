//! Looking at what was done. Nothing here changes anything, or runs anything but git.

mod diff;
mod journal;
mod log;
mod snapshots;
mod status;
mod why;

pub use diff::run as diff;
pub use journal::run as journal;
pub use log::run as log;
pub use snapshots::{TaskSpans, spec_files};
pub use status::run as status;
pub use why::run as why;
