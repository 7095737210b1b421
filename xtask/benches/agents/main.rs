//! Decoding what agents print: `cargo xtask bench agents`.
//!
//! Each agent's recordings are decoded again and again for a second. The promise: a decoder
//! keeps up with 20 MB/s, more than any agent prints.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "prints its table for whoever measures"
)]

use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use regreen_agents::{Agent, Assignment, Known, Options, Stream};
use regreen_model::{Ending, PromptKind, TaskId};
use serde_json::Value;

const FOR: Duration = Duration::from_secs(1);
const PROMISED_MB_PER_S: f64 = 20.0;

fn main() -> ExitCode {
    println!("{:<9} {:>9} {:>12}", "agent", "MB/s", "ns per event");
    let mut is_kept = true;
    for known in Known::ALL {
        let Ok(recordings) = read(known) else {
            eprintln!("the recordings of {} cannot be read", known.name());
            return ExitCode::FAILURE;
        };
        let Some((speed, per_event)) = measure(known, &recordings) else {
            return ExitCode::FAILURE;
        };
        println!("{:<9} {speed:>9.0} {per_event:>12.0}", known.name());
        is_kept &= speed >= PROMISED_MB_PER_S;
    }
    if is_kept {
        return ExitCode::SUCCESS;
    }
    eprintln!("not kept: {PROMISED_MB_PER_S} MB/s");
    ExitCode::FAILURE
}

type Lines = Vec<(Stream, String)>;

fn read(known: Known) -> io::Result<Vec<Lines>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/agents/fixtures/recordings");
    let files = fs::read_dir(root.join(known.name()))?;
    files
        .map(|file| Ok(lines(&fs::read_to_string(file?.path())?)))
        .collect()
}

fn lines(text: &str) -> Lines {
    let values = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    values
        .filter_map(|value| {
            let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
            let out = text("out").map(|line| (Stream::Out, line));
            out.or_else(|| text("err").map(|line| (Stream::Err, line)))
        })
        .collect()
}

/// Megabytes per second, and nanoseconds per event.
#[expect(clippy::cast_precision_loss, reason = "these are figures for people")]
fn measure(known: Known, recordings: &[Lines]) -> Option<(f64, f64)> {
    let id = TaskId::parse("1.1")?;
    let assignment = Assignment {
        task_id: &id,
        title: "",
        attempt: 1,
        spec_dir: "",
        root: "/project",
        session: None,
        prompt: "",
        kind: PromptKind::First,
        steps: &[],
    };
    let agent = Agent::Known(known, Options::default());
    let (mut bytes, mut events) = (0_usize, 0_usize);
    let begun = Instant::now();
    while begun.elapsed() < FOR {
        for recording in recordings {
            let mut decoder = agent.decoder(&assignment);
            for (stream, line) in recording {
                bytes += line.len() + 1;
                events += decoder.on_line(*stream, line.as_bytes()).events.len();
            }
            events += decoder.on_end(&Ending::default()).len();
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    Some((bytes as f64 / 1e6 / seconds, seconds * 1e9 / events as f64))
}
