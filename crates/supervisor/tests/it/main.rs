//! Tests the supervisor with real processes: `testchild` misbehaves, and we check what is left.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

mod check;
mod ending;
mod idle;
mod keepers;
mod output;
mod start;
mod stdin;
mod strays;
mod volume;
