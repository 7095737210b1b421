//! `.ralph-state.json`: where a run stands, shared with other tools.
//!
//! The JSON value is kept and edited in place, so that keys regreen does not know, their
//! order and the form of their numbers survive.

mod fix_record;
mod json_style;
mod known_key;
mod modifications;
mod rebuild;
mod state_file;
mod task_result;

pub use fix_record::FixRecord;
pub use known_key::StateWarning;
pub use modifications::ModificationLineage;
pub use state_file::{NotState, State};
pub use task_result::TaskResult;
