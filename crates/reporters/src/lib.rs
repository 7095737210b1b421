//! Views of a run: events become lines, JSON, a live view, and a summary at the end.
//!
//! Text from plans and agents is hostile. People see one line of it without control characters;
//! programs get it escaped.
//!
//! ```
//! assert_eq!(regreen_reporters::text_width("日本"), 4);
//! assert_eq!(regreen_reporters::fit("a long title", 7), "a lo…le");
//! ```

mod event_lines;
mod failure_text;
mod json;
mod junit;
mod lines;
mod live;
mod reporter;
mod status_line;
mod summary;
mod text;
mod totals;
mod wrap;

pub use failure_text::{headline, headline_of, kind_and_place};
pub use json::JsonLines;
pub use junit::{AttemptLog, Junit};
pub use lines::Lines;
pub use live::{Live, Size, Terminal};
pub use reporter::Reporter;
pub use status_line::{LineStyle, Palette, Status, StatusLine, Tone};
pub use summary::{
    Attempts, Figures, Fixes, Originals, PlanFigures, PublicNotRepeated, PublicTask, Summary,
    Tokens, Waits,
};
pub use text::{about_left, fit, short_count, text_width};
pub use totals::VerifiedShare;
pub use wrap::{wrap, wrap_below};
