//! `cargo xtask simulate`: checks invariants in randomly generated runs.

mod sweep;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use regreen_simulator::Finding;

use self::sweep::{Sweep, Tally};
use crate::repository;

/// Enough to see what is wrong.
const MOST_SHOWN: usize = 10;

#[derive(Clone, Debug, Args)]
pub(crate) struct Arguments {
    /// Number of runs to simulate.
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    runs: u64,
    /// First seed: the same seed gives the same run.
    #[arg(long, default_value_t = 0, value_name = "S")]
    seed: u64,
    /// Number of runs at a time [default: the number of cores].
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let started = Instant::now();
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let sweep = Sweep {
        first: arguments.seed,
        runs: arguments.runs,
        jobs: arguments.jobs.unwrap_or_else(cores).max(1),
    };
    let tally = sweep.go(|done| print_progress(done, arguments.runs, started.elapsed()));
    print_tally(&tally, started.elapsed());
    let is_well = tally.findings.is_empty();
    for finding in tally.findings.into_values().take(MOST_SHOWN) {
        print_finding(&finding.smallest(None));
    }
    match is_well {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn print_progress(done: u64, all: u64, took: Duration) {
    eprintln!("{done} of {all} runs, {:.0} s", took.as_secs_f64());
}

fn print_tally(tally: &Tally, took: Duration) {
    println!(
        "{} runs, {} steps, {:.1} s",
        tally.runs,
        tally.steps,
        took.as_secs_f64()
    );
    let Tally { ends, reached, .. } = tally;
    print_ends(ends);
    println!("  {:>9}  transitions reached", reached.len());
    println!("  {:>9}  findings", tally.found);
    for (kind, seeds) in &tally.seeds {
        let shown: Vec<String> = seeds.iter().take(MOST_SHOWN).map(u64::to_string).collect();
        println!("  {:>9}    {kind}: {}", seeds.len(), shown.join(", "));
    }
}

fn print_ends(ends: &BTreeMap<&str, u64>) {
    for (end, count) in ends {
        println!("  {count:>9}  {end}");
    }
}

fn print_finding(finding: &Finding) {
    eprintln!("\nseed {}: {}", finding.seed, finding.what);
    eprintln!("the task file, as small as it could be made:\n");
    eprintln!("{}\n", finding.tasks);
    let path = repository::root().join(format!("target/simulate/seed-{}.jsonl", finding.seed));
    match write(&path, &finding.journal_text()) {
        Ok(()) => eprintln!("to see the steps: regreen replay {}", path.display()),
        Err(error) => eprintln!("{} cannot be written: {error}", path.display()),
    }
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().map(PathBuf::from).unwrap_or_default();
    std::fs::create_dir_all(folder)?;
    std::fs::write(path, text)
}
