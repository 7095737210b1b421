//! The promises of the store, shown on real files and real processes.

#![expect(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "all of this is test code, the functions between the tests too"
)]

mod damage;
mod disk;
mod fixture;
mod history;
mod journal;
mod mentions;
mod opening;
mod processes;
mod recording;
mod runs;
mod timing;
mod versions;
