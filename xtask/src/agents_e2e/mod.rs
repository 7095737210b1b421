//! `cargo xtask agents-e2e`: the real agents against a scripted model.

mod agents;
mod check;
mod claude_session;
mod dialect;
mod model_server;
mod plugin;
mod recording;
mod scenario_run;
mod scenarios;
mod stop_hook;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use self::agents::Candidate;
use self::scenarios::Case;
use crate::repository;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Rewrite the recordings that the decoders are tested with, instead of running regreen
    #[arg(long)]
    record: bool,
    /// Only this agent: `claude`, `acp_gemini`
    #[arg(long)]
    agent: Option<String>,
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
    let bin = agents::install(&root.join("target/agents"))?;
    let only = arguments.agent.as_deref();
    let is_wanted = |candidate: &Candidate| only.is_none_or(|only| only == candidate.name());
    let candidates: Vec<Candidate> = Candidate::ALL.into_iter().filter(is_wanted).collect();
    if arguments.record {
        record(arguments, &candidates, &bin, root)?;
        return Ok(true);
    }
    scenario_run::run_all(&candidates, arguments.case.as_deref(), &bin, root)
}

fn record(
    arguments: &Arguments,
    candidates: &[Candidate],
    bin: &Path,
    root: &Path,
) -> io::Result<()> {
    let folder: PathBuf = root.join("crates/agents/fixtures/recordings");
    let only = arguments.case.as_deref();
    let is_wanted = |case: &Case| only.is_none_or(|only| only == case.name());
    for candidate in candidates {
        for case in Case::ALL.into_iter().filter(is_wanted) {
            println!("{} {}", candidate.name(), case.name());
            recording::record(*candidate, case, bin, &folder)?;
        }
    }
    Ok(())
}
