//! `.progress.md`: what was completed and how it was healed, for people to read.
//!
//! regreen owns single lines of it. Every other byte is the user's.

mod fix_history;
mod progress_file;

pub use fix_history::{FixHistory, Outcome};
pub use progress_file::Progress;
