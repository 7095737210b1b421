//! `explain [FILE|-] [--json] [--exit-code N] [--signal N] [--timed-out] [--command C]
//! [--source agent|command] [--report]`: the library's answer for one log.
#![expect(clippy::print_stdout, reason = "an example prints")]
#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_types,
    reason = "an example is an edge"
)]

use std::io::Read;

use clap::Parser;
use regreen_diagnosis::{Explanation, Report, Scanner, evidence_of};
use regreen_model::{Ending, Source};

#[derive(Debug, Parser)]
struct Arguments {
    /// The log; a leading `explain` is skipped, for those who call it as a subcommand.
    files: Vec<String>,
    #[arg(long)]
    json: bool,
    #[arg(long, allow_hyphen_values = true)]
    exit_code: Option<i32>,
    #[arg(long)]
    signal: Option<String>,
    #[arg(long)]
    timed_out: bool,
    #[arg(long)]
    command: Option<String>,
    #[arg(long, default_value = "command", value_parser = ["agent", "command"])]
    source: String,
    /// The input is a report.
    #[arg(long)]
    report: bool,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    let source = if arguments.source == "agent" {
        Source::Agent
    } else {
        Source::Command
    };
    let ending = Ending {
        exit_code: arguments.exit_code,
        signal: arguments
            .signal
            .as_deref()
            .and_then(regreen_diagnosis::signal_number),
        timed_out: arguments.timed_out,
        ..Ending::default()
    };
    let file = arguments.files.iter().rfind(|file| *file != "explain");
    let mut input: Box<dyn Read> = match file.map_or("-", String::as_str) {
        "-" => Box::new(std::io::stdin()),
        path => Box::new(std::fs::File::open(path)?),
    };
    if arguments.report {
        let mut text = String::new();
        input.read_to_string(&mut text)?;
        let failure = Report::parse(&text)?.into_failure();
        println!("{}", serde_json::to_string_pretty(&failure)?);
        return Ok(());
    }
    let mut scanner = Scanner::new(source);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match input.read(&mut buffer)? {
            0 => break,
            n => scanner.feed(&buffer[..n]),
        }
    }
    let evidence = evidence_of(scanner.finish(), source, arguments.command, ending);
    let explanation = Explanation::of(&evidence);
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&explanation.to_json())?);
    } else {
        print!("{}", explanation.to_text());
    }
    Ok(())
}
