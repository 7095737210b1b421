//! Support for tests that run the whole program, as a dev-dependency only.
//!
//! A [`Workspace`] is a temporary folder with files, optionally a git repository, and an agent that
//! follows a script. Commands run in it return an [`Output`] whose text doesn't depend on the
//! machine, the clock or chance:
//!
//! ```no_run
//! use regreen_test_support::Workspace;
//!
//! Workspace::with_tasks("- [ ] 1.1 Write it\n  - **Verify**: `test -f out`\n")
//!     .agent("1.1:1) touch out; echo TASK_COMPLETE ;;")
//!     .run(&[])
//!     .exits(0);
//! ```
//!
//! [`TerminalSession`] runs a command on a pseudo terminal and types into it.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot continue has failed"
)]

mod background;
mod changes;
mod emulator;
mod events;
mod files;
mod git;
mod normalize;
mod output;
mod program;
mod state_schema;
mod terminal;
mod workspace;

pub use background::{BackgroundRun, send_signal, wait_until};
pub use emulator::OnResize;
pub use files::files_below;
pub use normalize::{normalize, normalize_screen};
pub use output::Output;
pub use program::regreen;
pub use terminal::TerminalSession;
pub use workspace::{PROGRESS, STATE, TASKS, Workspace};
