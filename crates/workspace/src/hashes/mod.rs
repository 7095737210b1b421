//! What changed in a workspace without git: a list of its files with their fingerprints.

mod exclusions;
mod hash_snapshot;
mod walk;

pub(crate) use walk::walk;

pub use hash_snapshot::{ContentNotKept, HashLimits, HashSnapshot};
