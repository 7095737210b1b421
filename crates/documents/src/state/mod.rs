//! `.ralph-state.json`: the progress of a run, shared with other tools; and their own JSON files.
//!
//! The JSON value is kept and edited in place, so that unknown keys, their order and the form of
//! numbers survive.

mod claude_settings;
mod epic;
mod fix_record;
mod json;
mod modifications;
mod state_file;

pub use claude_settings::{InvalidSettings, with_claude_hooks};
pub use epic::{epic_with_completed, index_page_with_completed, index_with_completed};
pub use fix_record::{FixRecord, TaskResult};
pub use json::StateWarning;
pub use modifications::ModificationLineage;
pub use state_file::{InvalidState, StateDocument};
