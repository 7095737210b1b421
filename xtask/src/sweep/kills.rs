use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::repository;

/// In git and outside.
const KINDS: u64 = 2;

#[derive(Clone, Debug, Args)]
pub(crate) struct Arguments {
    /// How many runs of each plan are killed, half of them in git.
    #[arg(long, default_value_t = 100, value_name = "N")]
    runs: u64,
    /// Repeats the kills that were aimed with this number [default: another one each time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Only tests whose name has this in it: `heals`, `in_git`
    #[arg(long, default_value = "", value_name = "TEXT")]
    only: String,
    /// Kill this program instead of building one for release.
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let program = match &arguments.program {
        Some(program) => program.clone(),
        None => match repository::built_for_release("regreen") {
            Ok(program) => program,
            Err(code) => return code,
        },
    };
    let mut tests = repository::cargo(&["test", "--quiet", "--package", "regreen"]);
    tests
        .args(["--test", "killed", "--", "--nocapture", "--test-threads=1"])
        .arg(&arguments.only)
        .env("REGREEN_KILL_PROGRAM", program)
        .env(
            "REGREEN_KILL_RUNS",
            arguments.runs.div_ceil(KINDS).to_string(),
        );
    if let Some(seed) = arguments.seed {
        tests.env("REGREEN_KILL_SEED", seed.to_string());
    }
    repository::finish(tests)
}
