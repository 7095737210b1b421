//! The `regreen` program: arguments in, exit code out.
#![expect(
    unreachable_pub,
    reason = "in a program nothing is reachable from outside; `pub` says what a module offers"
)]

mod agent_lookup;
mod answers;
mod arguments;
mod commands;
mod config;
mod error_message;
mod exit;
mod history;
mod known_runs;
mod learned;
#[cfg(any(feature = "dashboard", feature = "mcp", feature = "tui"))]
mod machine;
mod outlook;
mod output;
mod plan;
mod printing;
mod problem;
mod recalled;
mod remembered_agent;
mod requests;
mod spec_context;
mod state_file;
mod user_program;
mod user_state;

use std::process::ExitCode;

use clap::Parser as _;
use regreen_supervisor::{KEEPER_ARGUMENT, keeper_main};

use crate::arguments::Arguments;
use crate::exit::Exit;

fn main() -> ExitCode {
    let first = std::env::args_os().nth(1);
    if first.is_some_and(|first| first == KEEPER_ARGUMENT) {
        return keeper_main();
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return refuse(&error),
    };
    output::set_color(arguments.color);
    match commands::run(arguments.command) {
        Ok(exit) => exit.into(),
        Err(problem) => {
            output::complain(&problem);
            problem.exit().into()
        }
    }
}

/// Prints clap's message. Help and version are not failures.
fn refuse(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        output::refuse(&error.render().to_string());
        return Exit::BadInput.into();
    }
    // If printing fails, there is no way to report it.
    let _ = error.print();
    Exit::Success.into()
}
