//! The terminal interface: the runs of a machine, their tasks with fixes, attempts and logs, and
//! everything that a person can decide about them.
//!
//! The interface is a pure function twice: `update` turns a state and an event into another state
//! and effects, and `view` turns a state into a frame. Threads perform the effects with a
//! [`Machine`](regreen_overview::Machine), so that keys never wait for a file, and what comes of
//! them is an event again. Nothing here reads a journal, a file or drives a run.

mod bindings;
mod commands;
mod decide;
mod details;
mod dialog;
mod document;
mod event;
mod flow;
mod key;
mod keyboard;
mod layout;
mod list;
mod mailbox;
mod program;
mod screen;
mod state;
#[cfg(test)]
mod tests;
mod update;
mod view;
mod words;
mod worker;

pub use self::program::{Options, TuiError, run};
pub use self::view::Theme;
