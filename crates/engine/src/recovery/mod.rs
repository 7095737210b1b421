//! Recovery: what regreen does about a failure, as one table.

mod action;
mod class;
mod table;
mod template;

pub(crate) use action::{LACKS_CONTEXT, STUCK};
pub use action::{Policy, RecoveryAction, RecoveryHistory, Situation, action_for};
pub use class::FailureClass;
pub use table::{
    Charge, FREE_INTERRUPTIONS, FREE_SESSIONS, MAX_TIME_FACTOR, REPEATS, RecoveryRule, Response,
    TABLE, table_page, table_text,
};
pub use template::{AppliedTemplate, applied_template};

#[cfg(test)]
mod template_tests;
#[cfg(test)]
mod tests;
