//! `cargo xtask sweep`: long versions of tests that CI runs in a short form.

use std::process::{Command, ExitCode};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};

use crate::repository::{self, Product};

#[derive(Debug, Subcommand)]
pub(crate) enum Sweep {
    /// Kills runs at random moments, each once with SIGKILL, and resumes them.
    ///
    /// The result must be that of an undisturbed run, no work may be done twice, and no process may
    /// survive. There are two plans, one of which needs healing; each runs in git and outside.
    Kills(KillArguments),
    /// Kills runs and damages their journals: nothing may be lost without being named.
    Journals(JournalArguments),
    /// Lets agents and a Verify print a gigabyte each.
    ///
    /// All of it must be in the log, and regreen must stay below 64 MB of memory.
    Output(OutputArguments),
    /// Lets agents misbehave in every way for a night, with hangups, sleeps and kills.
    ///
    /// In the end everything must be done, once, and all reports about it must be true.
    Night(NightArguments),
    /// Runs the tests of `regreen ci` with the real gh.
    ///
    /// CI runs them with a stand-in. Needs gh: `apt-get install gh`.
    Ci,
}

pub(crate) fn run(sweep: &Sweep) -> ExitCode {
    match sweep {
        Sweep::Kills(arguments) => kill(arguments),
        Sweep::Journals(arguments) => damage(arguments),
        Sweep::Output(arguments) => flood(arguments),
        Sweep::Night(arguments) => night(arguments),
        Sweep::Ci => ci(),
    }
}

/// Returns the call of one of regreen's tests, with its output.
fn test(name: &str) -> Command {
    let mut cargo = repository::cargo(&["test", "--quiet", "--package", "regreen"]);
    cargo.args(["--test", name, "--", "--nocapture", "--test-threads=1"]);
    cargo
}

/// The tests fail if gh is missing.
fn ci() -> ExitCode {
    let mut tests = test("ci");
    tests.env("REGREEN_TEST_GH", "1");
    repository::finish(tests)
}

/// In git, and outside.
const KINDS: u64 = 2;

#[derive(Clone, Debug, Args)]
pub(crate) struct KillArguments {
    /// Number of runs of each plan to kill, half of them in git.
    #[arg(long, default_value_t = 100, value_name = "N")]
    runs: u64,
    /// Repeat the kills of this seed [default: a new one each time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Only tests whose name contains this: `heals`, `in_git`
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
    /// Number of journals to damage.
    #[arg(long, default_value_t = 60, value_name = "N")]
    runs: u64,
    /// Repeat the damage of this seed [default: a new one each time]
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
    /// Number of tasks in the plan.
    #[arg(long, default_value_t = 60, value_name = "N")]
    tasks: u64,
    /// How many seconds the machine sleeps each time [default: less than one]
    #[arg(long, value_name = "SECONDS")]
    suspend: Option<u64>,
    /// Repeat the night of this seed [default: a new one each time]
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
    let now = || SystemTime::now().duration_since(UNIX_EPOCH);
    let another = || now().map_or(1, |now| u64::from(now.subsec_nanos()));
    let seed = arguments.seed.unwrap_or_else(another);
    let mut tests = test("night");
    tests
        .env("REGREEN_NIGHT_PROGRAM", program)
        .env("REGREEN_NIGHT_TASKS", arguments.tasks.to_string())
        .env("REGREEN_NIGHT_SEED", seed.to_string());
    if let Some(suspend) = arguments.suspend {
        tests.env("REGREEN_NIGHT_SUSPEND", suspend.to_string());
    }
    repository::finish(tests)
}
