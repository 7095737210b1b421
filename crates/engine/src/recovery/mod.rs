//! Recovery: what is done about a failure, as one table.

mod class;
mod page;
mod plan;
mod situation;
mod table;

pub use class::Class;
pub use page::{table_page, table_text};
pub(crate) use plan::LACKS_CONTEXT;
pub use plan::{FREE_SESSIONS, Plan, REPEATS, plan};
pub use situation::{History, Policy, Situation};
pub use table::{Charge, Row, Step, TABLE};

#[cfg(test)]
mod tests;
