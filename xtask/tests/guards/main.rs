//! The rules of the architecture, as tests.
//!
//! Each rule is a function from manifests or texts to complaints, so that a test can show that it
//! works; the tests of this tree then require that there are no complaints.

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
mod network;
mod outside_world;
mod pure_crates;
mod requirements_page;
mod security_page;
mod spelling;
mod tree;
mod versions;
