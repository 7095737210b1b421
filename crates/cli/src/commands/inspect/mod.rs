//! Looking at what was done. Nothing here runs anything.

mod diff;
mod log;
mod status;
mod why;

pub use diff::{open as open_git, run as diff, spans};
pub use log::run as log;
pub use status::run as status;
pub use why::run as why;

use regreen_model::TaskId;

use crate::problem::Problem;

/// The task that was typed.
pub fn task_id(text: &str) -> Result<TaskId, Problem> {
    TaskId::parse(text).ok_or_else(|| Problem::NotAnId {
        id: text.to_owned(),
    })
}
