//! Whole runs through all views, with everything that is to be seen.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a script that cannot go on fails the test, wherever it is"
)]

mod every_event;
mod hostile;
mod json;
mod json_page;
mod lines;
mod live;
mod questions;
mod recorder;
mod run;
mod scripts;
mod summary;
mod writers;
