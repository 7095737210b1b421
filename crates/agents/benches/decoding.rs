//! Measures the decoding of agents' output: `cargo xtask bench agents`.
//!
//! Each agent's recordings are decoded repeatedly for a second of processor time. The promise: a
//! decoder keeps up with 20 MB/s, which is more than any agent prints. The cost of an event
//! includes output that is skipped.

#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "reads recordings, looks at the clock, and prints a table"
)]

use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use regreen_agents::{Agent, AgentChoice, AgentOptions, Assignment, CodingAgent, Stream};
use regreen_model::{Ending, PromptKind, TaskId};
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;

const FOR: Duration = Duration::from_secs(1);
const PROMISED_MB_PER_S: f64 = 20.0;

fn main() -> ExitCode {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("load of the machine: {}", load.trim());
    println!(
        "{:<13} {:>7} {:>6} {:>13} {:>12}",
        "agent", "MB/s", "events", "bytes/event", "ns per event"
    );
    let mut is_kept = true;
    for name in AGENTS {
        let Some(measured) = agent(name).and_then(|agent| measure(&agent, &read(name).ok()?))
        else {
            eprintln!("the recordings of {name} cannot be decoded");
            return ExitCode::FAILURE;
        };
        let Measured {
            speed,
            events,
            size,
            nanos,
        } = measured;
        println!("{name:<13} {speed:>7.0} {events:>6} {size:>13.0} {nanos:>12.0}");
        is_kept &= speed >= PROMISED_MB_PER_S;
    }
    if is_kept {
        return ExitCode::SUCCESS;
    }
    eprintln!("not kept: {PROMISED_MB_PER_S} MB/s");
    ExitCode::FAILURE
}

/// Every agent with recordings.
const AGENTS: [&str; 6] = [
    "claude",
    "codex",
    "gemini",
    "opencode",
    "acp_gemini",
    "acp_opencode",
];

fn agent(name: &str) -> Option<Agent> {
    match (CodingAgent::named(name), "acp:agent".parse()) {
        (Some(known), _) => Some(Agent::CodingAgent(known, AgentOptions::default())),
        (None, Ok(AgentChoice::Acp(line))) => Some(Agent::Acp(line, AgentOptions::default())),
        _ => None,
    }
}

struct Measured {
    /// Megabytes per second.
    speed: f64,
    /// The number of events in all recordings.
    events: usize,
    /// Bytes per event.
    size: f64,
    /// Nanoseconds per event.
    nanos: f64,
}

type Lines = Vec<(Stream, String)>;

fn read(name: &str) -> io::Result<Vec<Lines>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recordings");
    let files = fs::read_dir(root.join(name))?;
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

#[expect(clippy::cast_precision_loss, reason = "these are figures for people")]
fn measure(agent: &Agent, recordings: &[Lines]) -> Option<Measured> {
    let (mut bytes, mut events, mut rounds) = (0_usize, 0_usize, 0_usize);
    let begun = processor_time();
    while processor_time() - begun < FOR {
        for recording in recordings {
            let (read, told) = decode(agent, recording)?;
            bytes += read;
            events += told;
        }
        rounds += 1;
    }
    let seconds = (processor_time() - begun).as_secs_f64();
    Some(Measured {
        speed: bytes as f64 / 1e6 / seconds,
        events: events / rounds,
        size: bytes as f64 / events as f64,
        nanos: seconds * 1e9 / events as f64,
    })
}

/// Returns the processor time. Decoding never waits, so other load on the machine isn't part of its
/// cost.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Decodes a recording from start to end. Returns the number of bytes and of events.
fn decode(agent: &Agent, recording: &Lines) -> Option<(usize, usize)> {
    let id = TaskId::parse("1.1")?;
    let mut decoder = agent.decoder(&Assignment {
        task_id: id.as_str(),
        title: "",
        attempt: 1,
        spec_dir: "",
        root: "/project",
        session: None,
        prompt: "",
        kind: PromptKind::First,
        steps: &[],
    });
    let (mut bytes, mut events) = (0, decoder.on_start().events.len());
    for (stream, line) in recording {
        bytes += line.len() + 1;
        events += decoder.on_line(*stream, line.as_bytes()).events.len();
    }
    Some((bytes, events + decoder.on_end(&Ending::default()).len()))
}
