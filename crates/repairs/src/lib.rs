//! Repairs of the environment that regreen makes itself.
//!
//! A failure suggests; the workspace decides. [`inspect()`] searches the manifests as they were when
//! the run started ([`ManifestSnapshot`]), the tree and the process table for a repair, and changes
//! nothing. [`apply_repair`] inspects again, acts, checks that it helped, and undoes it if not. The
//! text of a failure is never run: untrusted values are names and paths that were found in the
//! workspace, and each is a separate argument.
//!
//! ```
//! use regreen_model::{Failure, Inspection};
//! use regreen_repairs::{RepairContext, inspect};
//!
//! /// Whether regreen may repair this without asking.
//! fn is_safe(context: &RepairContext<'_>, failure: &Failure) -> bool {
//!     matches!(inspect(context, failure), Inspection::Allowed(_))
//! }
//! ```

mod actions;
mod apply;
mod context;
mod failure_text;
mod folder;
mod git_lock;
mod inspect;
mod inspections;
mod interrupted;
mod manifests;
mod package_names;
mod plan;
mod programs;
mod user_program;

pub use apply::{AppliedRepair, apply_repair};
pub use context::RepairContext;
pub use git_lock::release_git_lock;
pub use inspect::inspect;
pub use interrupted::roll_back_interrupted;
pub use manifests::ManifestSnapshot;
pub use plan::{ToolCall, ToolQuery, ToolResult, ToolRunner};
pub use programs::{ProgramRecord, carried_environment, renew_launchers};
