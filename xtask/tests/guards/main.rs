//! What the architecture forbids, as tests.
//!
//! Each rule is a function from manifests or texts to complaints, so that it can be shown to
//! bite; the tests of this tree then demand that there are none.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "what cannot be read fails the test, in helpers as well"
)]

mod arrows;
mod dependencies;
mod dependency_table;
mod links;
mod machine_paths;
mod manifest;
mod outside_world;
mod pure_crates;
mod requirements_page;
mod security_page;
mod spelling;
mod tree;
