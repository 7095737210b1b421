//! Which tests a check ran, by name, and the commands that run some of them again.
//!
//! Only commands that run a test runner directly are understood: `pytest -q`, `cargo test -p web`. A
//! `make test` may do more than run tests, and a pipeline may hide what it does.
//!
//! ```text
//! runner.rs      the test runners, and how to call them
//! command.rs     a command that runs one of them; the same with all results named, or with some tests
//! found.rs       collects names while output is read; names are bounded and have no control characters
//! nothing.rs     runs that pass because there is no test
//! pytest.rs, unittest.rs, rust.rs, go.rs, javascript.rs, tap.rs    the output of each
//! ```
//!
//! Test runners print what tests print, so names are untrusted: they are compared, shown as one line, and
//! passed to the runner only in the form that the runner's own names have.

mod command;
mod found;
mod go;
mod javascript;
mod nothing;
mod pytest;
mod runner;
mod rust;
mod tap;
mod unittest;

use std::collections::BTreeSet;

pub use command::TestCommand;
pub use nothing::ran_no_test;

/// The results of a run of tests, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestResults {
    /// The tests that failed.
    pub failed: BTreeSet<String>,
    /// The tests that passed, as far as they are named.
    pub passed: BTreeSet<String>,
    /// How many tests passed.
    pub passed_count: u64,
    /// Whether all tests ran and these failures are all that went wrong: no test file was unreadable, no
    /// build failed, the runner's own counts agree.
    pub is_complete: bool,
}
