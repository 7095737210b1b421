//! Snapshots, commits and undo, with the real git in real folders.

#![expect(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "all of this is test code, the functions between the tests too"
)]

mod changes;
mod commits;
mod generated_trees;
mod hashes;
mod hooks;
mod hostile;
mod oracle;
mod other_user;
mod own_repository;
mod remote;
mod repo;
mod snapshots;
mod speed;
mod standing;
mod states;
mod undo;
