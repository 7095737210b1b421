//! Why did it fail?

mod failure_block;
mod prose;

pub use failure_block::{has_failure_block, parse_failure};
