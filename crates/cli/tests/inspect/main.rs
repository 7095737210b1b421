//! Inspecting, undoing and deciding, as a person does.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod at_work;
mod attempts;
mod choices;
mod diff;
mod hook;
mod journal;
mod log;
mod no_trace;
mod session_hooks;
mod status;
mod stop;
mod trouble;
mod undo;
mod use_spec;
mod why;
