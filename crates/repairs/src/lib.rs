//! Repairs of the environment that regreen makes itself.
//!
//! A failure suggests; the workspace decides. [`inspect`] searches the manifests as they were
//! when the run started ([`ManifestSnapshot`]), the tree and the process table for a repair,
//! and changes nothing. [`apply_repair`] inspects again, acts, checks that it helped, and
//! undoes it if not. No text of a failure is ever run: values from outside are names and paths
//! that were found in the workspace, and each is a separate argument.

mod actions;
mod apply;
mod context;
mod failure_text;
mod folder;
mod inspect;
mod inspections;
mod interrupted;
mod manifests;
mod package_names;
mod plan;

pub use apply::apply_repair;
pub use context::RepairContext;
pub use inspect::inspect;
pub use interrupted::roll_back_interrupted;
pub use manifests::ManifestSnapshot;
pub use plan::{ToolCall, ToolResult, ToolRunner};
