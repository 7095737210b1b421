//! Recovery: what regreen does about a failure, as one table.

mod action;
mod class;
mod table;

pub(crate) use action::{LACKS_CONTEXT, STUCK};
pub use action::{Policy, RecoveryAction, RecoveryHistory, Situation, action_for};
pub use class::FailureClass;
pub use table::{
    Charge, FREE_INTERRUPTIONS, FREE_SESSIONS, MAX_TIME_FACTOR, REPEATS, RecoveryRule, Response,
    TABLE, table_page, table_text,
};

#[cfg(test)]
mod tests;
