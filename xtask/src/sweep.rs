//! `cargo xtask sweep`: long versions of tests that CI runs in short.

use std::process::{Command, ExitCode};

use clap::{Args, Subcommand};

use crate::repository::{self, Product};

#[derive(Debug, Subcommand)]
pub(crate) enum Sweep {
    /// Kills runs at random moments, each once with SIGKILL, and lets the next go on.
    ///
    /// The end must be that of an undisturbed run, nothing may be done twice, and
    /// nothing that was started may live on. There are two plans, one of which needs healing;
    /// each is run in git and outside.
    Kills(KillArguments),
    /// Kills runs and damages their journals: nothing may be lost without being named.
    Journals(JournalArguments),
    /// Lets agents and a Verify print a gigabyte each.
    ///
    /// All of it must be in the log, and regreen must stay below 64 MB of memory.
    Output(OutputArguments),
    /// Lets agents misbehave in every way for a night, with hang-ups, sleeps and kills.
    ///
    /// Everything must be done in the end, once, and what is said about it must be true.
    Night(NightArguments),
}

pub(crate) fn run(sweep: &Sweep) -> ExitCode {
    match sweep {
        Sweep::Kills(arguments) => kill(arguments),
        Sweep::Journals(arguments) => damage(arguments),
        Sweep::Output(arguments) => flood(arguments),
        Sweep::Night(arguments) => night(arguments),
    }
}

/// The call of one of regreen's tests, which says what it sees.
fn test(name: &str) -> Command {
    let mut cargo = repository::cargo(&["test", "--quiet", "--package", "regreen"]);
    cargo.args(["--test", name, "--", "--nocapture", "--test-threads=1"]);
    cargo
}

/// In git and outside.
const KINDS: u64 = 2;

#[derive(Clone, Debug, Args)]
pub(crate) struct KillArguments {
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

fn kill(arguments: &KillArguments) -> ExitCode {
    let program = match arguments.product.program() {
        Ok(program) => program,
        Err(code) => return code,
    };
    let mut tests = test("killed");
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

#[derive(Clone, Debug, Args)]
pub(crate) struct JournalArguments {
    /// How many journals are damaged.
    #[arg(long, default_value_t = 60, value_name = "N")]
    runs: u64,
    /// Repeats the damages of this number [default: another one each time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    product: Product,
}

fn damage(arguments: &JournalArguments) -> ExitCode {
    let program = match arguments.product.program() {
        Ok(program) => program,
        Err(code) => return code,
    };
    let mut tests = test("killed");
    tests
        .arg("damaged")
        .env("REGREEN_KILL_PROGRAM", program)
        .env("REGREEN_KILL_DAMAGES", arguments.runs.to_string());
    if let Some(seed) = arguments.seed {
        tests.env("REGREEN_KILL_SEED", seed.to_string());
    }
    repository::finish(tests)
}

#[derive(Clone, Debug, Args)]
pub(crate) struct OutputArguments {
    /// How much each of them prints.
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    megabytes: u64,
    #[command(flatten)]
    product: Product,
}

fn flood(arguments: &OutputArguments) -> ExitCode {
    let program = match arguments.product.program() {
        Ok(program) => program,
        Err(code) => return code,
    };
    let mut tests = test("flood");
    tests
        .env("REGREEN_FLOOD_PROGRAM", program)
        .env("REGREEN_FLOOD_MB", arguments.megabytes.to_string());
    repository::finish(tests)
}

#[derive(Clone, Debug, Args)]
pub(crate) struct NightArguments {
    /// How many tasks the plan has.
    #[arg(long, default_value_t = 60, value_name = "N")]
    tasks: u64,
    /// Repeats the night of this number [default: another one each time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    product: Product,
}

fn night(arguments: &NightArguments) -> ExitCode {
    let program = match arguments.product.program() {
        Ok(program) => program,
        Err(code) => return code,
    };
    let mut tests = test("night");
    tests
        .arg("--ignored")
        .env("REGREEN_NIGHT_PROGRAM", program)
        .env("REGREEN_NIGHT_TASKS", arguments.tasks.to_string());
    if let Some(seed) = arguments.seed {
        tests.env("REGREEN_NIGHT_SEED", seed.to_string());
    }
    repository::finish(tests)
}
