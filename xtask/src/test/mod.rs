//! `cargo xtask test`: every check, in order, up to the first that fails.

mod step;
mod steps;
mod tool;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use step::{Outcome, Step};

pub(crate) fn run() -> ExitCode {
    let started = Instant::now();
    let mut closing = Vec::new();
    let steps = steps::all();
    for (at, step) in steps.iter().enumerate() {
        println!("\n── {}/{}  {}", at + 1, steps.len(), step.title);
        let outcome = step.run();
        match report(step, outcome, &mut closing) {
            Ok(()) => {}
            Err(code) => return code,
        }
    }
    print_summary(&closing, steps.len(), started.elapsed());
    ExitCode::SUCCESS
}

/// Says how a step ended; an error is the exit code to stop with.
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
        Outcome::Skipped { reason } => {
            println!("── skipped: {reason}");
            closing.push(format!("{} skipped: {reason}", step.title));
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

/// The test runners' own last lines again, so that they stand at the end, then ours.
fn print_summary(closing: &[String], steps: usize, duration: Duration) {
    println!();
    for line in closing {
        println!("{line}");
    }
    println!(
        "\nAll green: {steps} steps, formatting to dependencies, in {}.",
        seconds(duration)
    );
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}
