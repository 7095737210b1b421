//! Reading and editing task files: `cargo xtask bench documents`.
//!
//! Times are medians. The promises: a file of 10,000 tasks is read and one of them ticked in 30 ms
//! together, which scales linearly to 100,000 tasks; a fix for a file of 1,000 tasks is made and
//! inserted in 5 ms.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "prints a table")]

mod made_up_file;
mod measurement;
mod others;
mod promises;

use std::process::ExitCode;

use made_up_file::Style;
use measurement::Measurement;
use promises::LARGEST;

const SIZES: [usize; 4] = [1_000, 10_000, LARGEST / 2, LARGEST];

fn main() -> ExitCode {
    println!("{}", Measurement::HEADING);
    let mut measurements = Vec::new();
    for style in [Style::SmartRalph, Style::SpecKit] {
        for tasks in SIZES {
            let Some(measurement) = Measurement::of(style, tasks) else {
                eprintln!("an edit of the {style} file with {tasks} tasks was refused");
                return ExitCode::FAILURE;
            };
            println!("{measurement}");
            measurements.push(measurement);
        }
    }
    others::print_comparison();
    match promises::broken(&measurements).as_slice() {
        [] => ExitCode::SUCCESS,
        broken => {
            for promise in broken {
                eprintln!("not kept: {promise}");
            }
            ExitCode::FAILURE
        }
    }
}
