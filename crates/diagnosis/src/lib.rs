//! Why did it fail?

mod contradiction;
mod failure_block;
mod modification_request;
mod prose;
mod signal;

pub use contradiction::{CONTRADICTION, Contradiction, contradiction};
pub use failure_block::{has_failure_block, parse_failure};
pub use modification_request::modification_request;
pub use signal::{Signal, signal};
