//! `regreen mcp`: an MCP server, so that other agents can delegate tasks, start runs and ask why
//! something failed.
//!
//! A tool is a command of regreen. This crate says which (`tools.json` for clients, `calls` for
//! us), checks the arguments, and speaks the protocol; [`Commands`] performs the command. It starts
//! no process, and keeps nothing: a run that a client asks for lives in its journal, so that a
//! server that is started again knows it.

mod arguments;
mod calls;
mod cancellation;
mod command;
mod runs;
mod server;
mod tools;

pub use cancellation::Cancellation;
pub use command::{CallKind, CommandCall, CommandResult, Commands, RunProgress, StartedRun};
pub use server::{Options, ServeError, serve};

#[cfg(test)]
mod tests;
