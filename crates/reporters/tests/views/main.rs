//! Whole runs through all views, with everything they show.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a script that cannot continue fails the test, wherever it is"
)]

mod every_event;
mod hostile;
mod json;
mod json_page;
mod lines;
mod live;
mod questions;
mod run;
mod scripts;
mod summary;
mod terminal;
