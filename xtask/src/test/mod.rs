//! `cargo xtask test`: runs every check in order, up to the first failure. None is ever skipped:
//! guards among the tests check spelling, and the licences and sources of dependencies.

mod step;

use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};

use step::{Closing, Outcome, Step, Stream};

use crate::repository;

pub(crate) fn run() -> ExitCode {
    let started = Instant::now();
    let mut closing = Vec::new();
    let steps = steps();
    for (at, step) in steps.iter().enumerate() {
        println!("\n── {}/{}  {}", at + 1, steps.len(), step.title);
        let outcome = step.run();
        if let Err(code) = report(step, outcome, &mut closing) {
            return code;
        }
    }
    print_summary(&closing, steps.len(), started.elapsed());
    ExitCode::SUCCESS
}

/// Reports the end of a step; an error is the exit code to stop with.
fn report(step: &Step, outcome: Outcome, closing: &mut Vec<String>) -> Result<(), ExitCode> {
    match outcome {
        Outcome::Passed {
            duration,
            closing_lines,
        } => {
            println!("── ok  {}  ({})", step.title, seconds(duration));
            closing.extend(closing_lines);
            Ok(())
        }
        Outcome::Failed { duration, code } => {
            eprintln!(
                "── FAILED  {}  (exit code {code}, {})",
                step.title,
                seconds(duration)
            );
            Err(ExitCode::from(code))
        }
    }
}

/// Repeats the last lines of the test runners at the end.
fn print_summary(closing: &[String], steps: usize, duration: Duration) {
    println!();
    for line in closing {
        println!("{line}");
    }
    println!("\nAll {steps} steps passed in {}.", seconds(duration));
    println!("Steps of their own: cargo xtask browser (the dashboard in a real browser),");
    println!("cargo xtask python (the Python package)");
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

fn steps() -> Vec<Step> {
    vec![
        cargo("formatting", &["fmt", "--all", "--check"]),
        cargo("clippy", &CLIPPY),
        tests(),
        Step {
            closing: Some(RESULTS),
            ..cargo("doc tests", &["test", "--doc", "--workspace", "--quiet"])
        },
        Step {
            variables: &[("RUSTDOCFLAGS", "-D warnings")],
            ..cargo("rustdoc", &["doc", "--workspace", "--no-deps", "--quiet"])
        },
    ]
}

const CLIPPY: [&str; 7] = [
    "clippy",
    "--workspace",
    "--all-targets",
    "--all-features",
    "--",
    "-D",
    "warnings",
];

fn cargo(title: &'static str, arguments: &[&'static str]) -> Step {
    Step {
        title,
        arguments: arguments.to_vec(),
        variables: &[],
        closing: None,
    }
}

/// Runs all tests, including the guards, with nextest if it is installed.
fn tests() -> Step {
    let selection = ["--workspace", "--all-features"];
    if has_nextest() {
        let arguments = [&["nextest", "run", "--no-fail-fast"], &selection[..]].concat();
        return Step {
            closing: Some(Closing {
                stream: Stream::Stderr,
                is_closing: |line| line.contains("Summary ["),
            }),
            ..cargo("tests and guards (nextest)", &arguments)
        };
    }
    let targets = ["--lib", "--bins", "--tests"];
    Step {
        closing: Some(RESULTS),
        ..cargo(
            "tests and guards (cargo test; nextest is not installed)",
            &[&["test"], &selection[..], &targets[..]].concat(),
        )
    }
}

fn has_nextest() -> bool {
    repository::cargo(&["nextest", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The last lines of cargo's own runner.
const RESULTS: Closing = Closing {
    stream: Stream::Stdout,
    is_closing: is_result,
};

/// Whether a line is a runner's result for a crate with tests.
fn is_result(line: &str) -> bool {
    line.starts_with("test result:") && !line.contains(" 0 passed; 0 failed; 0 ignored;")
}
