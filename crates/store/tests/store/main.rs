//! What the store promises, shown on real files and real processes.

#![expect(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "all of this is test code, the functions between the tests too"
)]

mod again;
mod any_run;
mod choices;
mod crash;
mod damage;
mod delegations;
mod disk_full;
mod folder;
mod history;
mod journal;
mod opening;
mod other_user;
mod reading;
mod recording;
mod runs;
mod sample;
mod snapshots;
mod timing;
mod two_processes;
mod versions;
