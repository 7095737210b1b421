use std::process::ExitCode;

use clap::Args;

use crate::product::Product;
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
    #[command(flatten)]
    product: Product,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let program = match arguments.product.program() {
        Ok(program) => program,
        Err(code) => return code,
    };
    let mut tests = super::test("killed");
    tests
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
