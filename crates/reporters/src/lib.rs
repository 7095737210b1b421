//! The faces of a run: events become lines, JSON, a live view, and a summary in the end.
//!
//! Text from plans and agents is hostile. What people see of it is one line without control
//! characters; what programs get is escaped.

mod json;
mod line;
mod lines;
mod live;
mod narrator;
mod outline;
mod output;
mod palette;
mod public_task;
mod reporter;
mod shown;
mod summary;
mod tally;
mod telling_line;

pub use console::Term;
pub use indicatif::TermLike;

pub use json::JsonLines;
pub use lines::Lines;
pub use live::Live;
pub use palette::Palette;
pub use public_task::PublicTask;
pub use reporter::Reporter;
pub use summary::{Attempts, Figures, Fixes, Originals, PlanFigures, Summary, Tokens, Waits};
