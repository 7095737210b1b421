//! Repairs of the environment that regreen carries out itself.
//!
//! A failure suggests; the workspace decides. [`inspect`] looks for what could help, in the
//! manifests as they were when the run began ([`Declared`]), in the tree and in the process
//! table, and changes nothing. [`carry_out`] looks again at the moment of acting, acts, checks
//! that it helped, and takes back what did not. No text is ever run: values from outside are
//! names and paths that were found in the workspace, each an argument of its own.

mod carry_out;
mod declared;
mod deeds;
mod folder;
mod half_done;
mod inspect;
mod looks;
mod names;
mod plan;
mod runner;
mod scene;
mod text;
mod verdict;

pub use carry_out::carry_out;
pub use declared::Declared;
pub use half_done::put_away_half_done;
pub use inspect::inspect;
pub use runner::{Ran, Runner, ToolCall};
pub use scene::Scene;
