//! `cargo xtask bench diagnosis`: a mixed log in which one line in a hundred is relevant.
//!
//! grep and ripgrep count lines of the same file in the same run. Other work on the machine can
//! only add to a time, so the shortest of several rounds counts. Speed is measured in CPU time;
//! wall-clock times are printed as well.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use clap::Args;

use super::promise::{Promise, Report};
use super::run_loop::costs::{Costs, measure as cost_of};
use super::run_loop::{Doing as _, LoopError};
use crate::repository::Product;

/// In MB per second.
const SPEED: f64 = 200.0;
/// In MB, whatever the size of the log.
const MEMORY: f64 = 64.0;
const SMALL_LOG: usize = 100 * 1024;
const SMALL_TIME: Duration = Duration::from_millis(10);
const SMALL_ROUNDS: usize = 15;

const QUIET: [&str; 12] = [
    "2026-01-02T03:04:05.678Z DEBUG pool-3 served GET /items/97b7509 with status 200 in 49 ms",
    "   Compiling itoa v1.0.18",
    "[bundler] transforming 812/9000 ./src/widgets/panel.tsx  (cache hit)",
    "-rw-r--r-- 1 dev dev 18231 Jan  2 03:04 src/components/button.tsx",
    "\u{1b}[32m✓\u{1b}[0m parses nested lists (3 ms)",
    "Downloading https://files.example/packages/a1/b2/numpy-2.1.0-cp312-manylinux.whl (16.3 MB)",
    "{\"level\":\"info\",\"ts\":1735786245.123,\"msg\":\"cache warmed\",\"entries\":18231,\"took_ms\":12}",
    "  adding: assets/img/logo.svg (deflated 61%)",
    "batch 1823111 copied",
    "test parser::tests::keeps_trailing_spaces ... ok",
    "Jan 02 03:04:05 host1 systemd[1]: Started Session 42 of user dev.",
    "                 at ./src/scheduler/queue.rs:118:9",
];
const LOUD: [&str; 5] = [
    "ModuleNotFoundError: No module named 'pandas'",
    "src/a.ts(9,2): error TS2322: Type 'string' is not assignable to type 'number'.",
    "curl: (6) Could not resolve host: registry.example",
    "error[E0425]: cannot find value `total` in this scope",
    "bash: line 5: kubectl: command not found",
];

#[derive(Clone, Debug, Args)]
pub(crate) struct Arguments {
    /// Size of the log.
    #[arg(long, default_value_t = 1000, value_name = "MB")]
    megabytes: usize,
    /// Number of rounds.
    #[arg(long, default_value_t = 3, value_name = "N")]
    rounds: usize,
    #[command(flatten)]
    product: Product,
}

impl Arguments {
    /// Returns what is measured unless told otherwise.
    pub(super) fn usual(program: &Path) -> Self {
        Self {
            megabytes: 1000,
            rounds: 3,
            product: Product::at(program),
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let program = match arguments.product.program() {
        Ok(program) => program,
        Err(code) => return code,
    };
    match measure(arguments, &program) {
        Ok(report) => report.print(),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

pub(super) fn measure(arguments: &Arguments, program: &Path) -> Result<Report, LoopError> {
    let folder = tempfile::tempdir().doing("make a folder")?;
    let (large, small) = (
        folder.path().join("large.log"),
        folder.path().join("small.log"),
    );
    mixed_log(&large, arguments.megabytes * 1_000_000)?;
    mixed_log(&small, SMALL_LOG)?;
    let mut report = Report::default();
    let read = least(&mut explain(program, &large), arguments.rounds)?;
    report.fact("`regreen explain`", speeds(&read, arguments.megabytes));
    for (name, script) in OTHERS {
        let found = match least(&mut other(script, &large), arguments.rounds) {
            Ok(costs) => speeds(&costs, arguments.megabytes),
            Err(_) => "is not there".to_owned(),
        };
        report.fact(format!("`{name}`"), found);
    }
    let answer = least(&mut explain(program, &small), SMALL_ROUNDS)?;
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    report.fact(
        "100 KB",
        format!("{:.1} ms of processor time", millis(answer.cpu)),
    );
    report.promises = vec![
        Promise::at_least("MB per second", speed(&read, arguments.megabytes), SPEED),
        Promise::at_most("MB of memory", read.memory, MEMORY),
        Promise::at_most(
            "ms for a log of 100 KB, by the clock",
            millis(answer.wall),
            millis(SMALL_TIME),
        ),
    ];
    Ok(report)
}

fn speeds(costs: &Costs, megabytes: usize) -> String {
    format!(
        "{:.0} MB/s by processor time, {:.0} by the clock",
        speed(costs, megabytes),
        megabytes as f64 / costs.wall.as_secs_f64(),
    )
}

fn speed(costs: &Costs, megabytes: usize) -> f64 {
    megabytes as f64 / costs.cpu.as_secs_f64()
}

fn least(command: &mut Command, rounds: usize) -> Result<Costs, LoopError> {
    let all: Result<Vec<Costs>, LoopError> = (0..rounds).map(|_| cost_of(command, 1)).collect();
    Ok(Costs::least(all?))
}

pub(super) fn explain(program: &Path, log: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .args(["explain", "--json", "--exit-code", "1"])
        .arg(log);
    command
}

/// The tools people would search with. grep stops at the first match if its output is not read, so
/// it counts into a pipe.
const OTHERS: [(&str, &str); 2] = [
    (
        "grep",
        "command -v grep >/dev/null && grep -cE 'error|failed' \"$1\" | cat",
    ),
    (
        "rg",
        "command -v rg >/dev/null && rg -c 'error|failed' \"$1\" | cat",
    ),
];

fn other(script: &str, log: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh"]).arg(log);
    command
}

pub(super) fn mixed_log(path: &Path, bytes: usize) -> Result<(), LoopError> {
    let mut file = BufWriter::new(File::create(path).doing("make a log")?);
    let mut written = 0;
    for n in 0.. {
        if written >= bytes {
            break;
        }
        let line = line(n);
        writeln!(file, "{line}").doing("write a log")?;
        written += line.len() + 1;
    }
    file.flush().doing("write a log")
}

/// Every hundredth line is relevant.
fn line(n: usize) -> &'static str {
    let lines: &[&str] = if n % 100 == 99 { &LOUD } else { &QUIET };
    let at = if n % 100 == 99 { n / 100 } else { n };
    lines.get(at % lines.len()).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_in_a_hundred_says_something() {
        let loud = (0..10_000).filter(|n| LOUD.contains(&line(*n))).count();
        assert_eq!(loud, 100);
        assert!(LOUD.iter().all(|text| (0..600).any(|n| line(n) == *text)));
    }
}
