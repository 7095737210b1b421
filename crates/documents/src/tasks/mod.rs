//! `tasks.md`: rows, what they say, which is next, and edits that damage nothing.

mod block;
mod commit;
mod dialect;
mod edit;
mod edit_guard;
mod fields;
mod fix;
mod insert;
mod numbering;
mod pieces;
mod plan_status;
mod render;
mod request;
mod row;
mod row_box;
mod row_head;
mod shell_steps;
mod span;
mod task_file;
mod verify;

pub use commit::commit_message;
pub use edit::{Change, EditError};
pub use insert::Place;
pub use plan_status::{Next, Pick};
pub(crate) use row::Row;
pub use row::RowId;
pub(crate) use row_box::has_box;
pub use shell_steps::shell_steps;
pub use task_file::TaskFile;
pub use verify::verify_commands;
