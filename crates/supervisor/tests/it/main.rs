//! The supervisor against real processes: `testchild` misbehaves, we look what is left.
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
