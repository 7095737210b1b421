//! `tasks.md`: rows and their contents, the next task, and safe edits.

mod block;
mod code;
mod edit;
mod edit_guard;
mod features;
mod fields;
mod fix;
mod insert;
mod numbering;
mod plan_status;
mod render;
mod request;
mod row;
mod services;
mod task_file;
mod unrun;
mod verify;

pub use code::shell_steps;
pub use edit::{Change, EditError};
pub use features::{is_path, vague_words};
pub use fields::commit_message;
pub use insert::InsertPosition;
pub use plan_status::{Next, Pick};
pub use row::RowId;
pub(crate) use row::{Row, has_box};
pub use services::background_start;
pub use task_file::TaskFile;
pub use unrun::{UNRUN_HELP, UnrunRows};
pub use verify::verify_commands;
