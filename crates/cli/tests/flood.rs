//! However much a program prints, regreen stays small.
//!
//! A little by default. `REGREEN_FLOOD_MB` asks for more, `REGREEN_FLOOD_PROGRAM` for another
//! build; `cargo xtask sweep output` sets them.
#![cfg(target_os = "linux")]
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed, and a sweep says what it saw"
)]

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};

const DEFAULT_MB: u64 = 24;
/// Of regreen, and of everything that it waits for. Promised are 64; whoever kept even the
/// default flood in memory would need more than this.
const MOST_MEMORY_MB: i64 = 32;

/// What prints so many bytes.
#[derive(Clone, Copy, Debug)]
enum Flood {
    Lines,
    OneLine,
    /// Lines that look as if a diagnosis should remember them all.
    Errors,
}

impl Flood {
    fn command(self, bytes: u64) -> String {
        let source = match self {
            Self::Lines => "yes 'compiling the next part of it, as it should be'",
            Self::OneLine => "tr '\\0' x </dev/zero",
            Self::Errors => "yes 'error: cannot find module ./router (password=hunter2hunter2)'",
        };
        format!("{source} | head -c {bytes}")
    }
}

#[test]
fn an_agent_that_prints_without_end_is_logged_whole_in_little_memory() {
    for flood in [Flood::Lines, Flood::OneLine, Flood::Errors] {
        let bytes = megabytes() * 1_000_000;
        let agent = format!(
            "cat >/dev/null\n{}\necho; echo TASK_COMPLETE\n",
            flood.command(bytes)
        );
        let logged = run(&agent, "true", "1.log");
        assert!(
            logged >= bytes,
            "{flood:?}: {logged} of {bytes} bytes are in the log"
        );
        report(&format!("an agent, {flood:?}"));
    }
}

#[test]
fn a_verify_that_prints_without_end_is_logged_whole_in_little_memory() {
    let bytes = megabytes() * 1_000_000;
    let verify = Flood::Errors.command(bytes);
    let logged = run(
        "cat >/dev/null\necho TASK_COMPLETE\n",
        &verify,
        "1.verify.log",
    );
    assert!(logged >= bytes, "{logged} of {bytes} bytes are in the log");
    report("a Verify");
}

fn megabytes() -> u64 {
    let asked = std::env::var("REGREEN_FLOOD_MB").ok();
    asked.map_or(DEFAULT_MB, |asked| asked.parse().unwrap())
}

/// Runs one task to its end; how many bytes this log of it has.
fn run(agent: &str, verify: &str, log: &str) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    fs::write(at("agent.sh"), agent).unwrap();
    fs::create_dir_all(at("project/specs/flood")).unwrap();
    let plan = format!("- [ ] 1.1 Print\n  - **Verify**: `{verify}`\n");
    fs::write(at("project/specs/flood/tasks.md"), plan).unwrap();
    let program = std::env::var("REGREEN_FLOOD_PROGRAM");
    let program = program.unwrap_or_else(|_| env!("CARGO_BIN_EXE_regreen").to_owned());
    let started = Instant::now();
    let output = Command::new(program)
        .args([
            "run",
            "--agent",
            &format!("command:sh {}", at("agent.sh").display()),
        ])
        .current_dir(at("project"))
        .env("HOME", folder.path())
        .env_remove("XDG_CONFIG_HOME")
        .output()
        .unwrap();
    println!(
        "{:.1} s for {} MB",
        started.elapsed().as_secs_f64(),
        megabytes()
    );
    assert!(output.status.success(), "{output:?}");
    let runs = fs::read_dir(at("project/.regreen/runs")).unwrap();
    let run: PathBuf = runs.map(|run| run.unwrap().path()).next().unwrap();
    fs::metadata(run.join("1.1").join(log)).unwrap().len()
}

/// The most memory that any process had which was waited for, by whomever.
fn report(what: &str) {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let most = usage.max_rss() / 1024;
    println!("{what}: at most {most} MB of memory");
    assert!(most <= MOST_MEMORY_MB, "{what}: {most} MB");
}
