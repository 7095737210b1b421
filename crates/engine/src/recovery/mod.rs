//! Recovery: what is done about a failure, as one table.

mod class;
mod plan;
mod situation;
mod table;

pub use class::Class;
pub use plan::{FREE_SESSIONS, Plan, REPEATS, plan};
pub use situation::{History, Policy, Situation};
pub use table::{Charge, Row, Step, TABLE};

#[cfg(test)]
mod tests;
