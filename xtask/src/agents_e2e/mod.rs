//! `cargo xtask agents-e2e`: the real agents, against a model that is none.

mod case;
mod cell;
mod dialect;
mod install;
mod leftovers;
mod model_server;
mod recording;
mod reply;
mod set_up;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use self::case::Case;
use self::install::Cli;
use crate::repository;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Write the recordings anew that the decoders are tested with, instead of running regreen
    #[arg(long)]
    record: bool,
    /// Only this agent
    #[arg(long, value_enum)]
    agent: Option<Cli>,
    /// Only this case
    #[arg(long)]
    case: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    match try_run(arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("agents-e2e: {error}");
            ExitCode::FAILURE
        }
    }
}

fn try_run(arguments: &Arguments) -> io::Result<bool> {
    let root = repository::root();
    let bin = install::install(&root.join("target/agents"))?;
    let clis = Cli::ALL.into_iter();
    let clis: Vec<Cli> = clis
        .filter(|cli| arguments.agent.is_none_or(|only| only == *cli))
        .collect();
    if arguments.record {
        record(arguments, &clis, &bin, root)?;
        return Ok(true);
    }
    cell::run_all(&clis, arguments.case.as_deref(), &bin, root)
}

fn record(arguments: &Arguments, clis: &[Cli], bin: &Path, root: &Path) -> io::Result<()> {
    let folder: PathBuf = root.join("crates/agents/fixtures/recordings");
    let is_wanted = |case: &Case| {
        arguments
            .case
            .as_deref()
            .is_none_or(|only| only == case.name())
    };
    for cli in clis {
        for case in Case::ALL.into_iter().filter(is_wanted) {
            println!("{} {}", cli.name(), case.name());
            recording::record(*cli, case, bin, &folder)?;
        }
    }
    Ok(())
}
