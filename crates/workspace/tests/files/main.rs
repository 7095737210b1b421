//! Reading and writing shared files, in real folders.

#![expect(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "all of this is test code, the functions between the tests too"
)]

mod bind_mount;
mod contention;
mod creating;
mod faults;
mod folder;
mod interleaving;
mod other_user;
mod reading;
mod recovery;
mod ways;
