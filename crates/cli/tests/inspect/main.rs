//! Looking at what was done, taking it back, and deciding about it, as a person does.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

#[path = "../support/mod.rs"]
mod support;

#[path = "../run/scene.rs"]
#[expect(dead_code, reason = "runs are looked at elsewhere")]
mod scene;

mod look;
mod terminal;

mod at_work;
mod choices;
mod diff;
mod hook;
mod journal;
mod log;
mod no_trace;
mod status;
mod stop;
mod trouble;
mod undo;
mod why;
